"""Clients over WebSocket: the opening, and frames. It shares no code with the sessions."""

from __future__ import annotations

import json
from typing import Any

from tests.simulation.clients.client import Client
from tests.simulation.network import Mark

HEAD = (
    b"GET /connect HTTP/1.1\r\nHost: simulated\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
TEXT, BINARY = 0x81, 0x82


def framed(first: int, payload: bytes) -> bytes:
    """Masked with zeros, which is a mask like others."""
    length = len(payload)
    size = bytes((0x80 | length,)) if length < 126 else b"\xfe" + length.to_bytes(2, "big")
    return bytes((first,)) + size + b"\0\0\0\0" + payload


class FramesClient(Client):
    """What a dialect adds: `told`, one answer in JSON."""

    def greet(self) -> None:
        self._open = False
        self.say(HEAD + self.headers() + b"\r\n")

    def headers(self) -> bytes:
        return b""

    def told(self, answer: dict[str, Any], mark: Mark) -> None:
        raise NotImplementedError

    def request(self, **members: object) -> bytes:
        return framed(TEXT, json.dumps(members).encode())

    def understood(self, first: int, payload: bytes) -> dict[str, Any]:
        """A frame, as the members of its JSON."""
        if first != TEXT:
            raise self.broken(payload)
        answer: dict[str, Any] = json.loads(payload)
        return answer

    def read(self, mark: Mark) -> bool:
        if not self._open:
            return self._welcomed()
        frame = self._frame()
        if frame is None:
            return False
        self.told(self.understood(*frame), mark)
        return True

    def _welcomed(self) -> bool:
        head, end, rest = self.data.partition(b"\r\n\r\n")
        if not end:
            return False
        if not head.startswith(b"HTTP/1.1 101 ") or b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" not in head:
            raise self.broken(head)
        self._open, self.data = True, rest
        return True

    def _frame(self) -> tuple[int, bytes] | None:
        data = self.data
        if len(data) < 2:
            return None
        size = {126: 2, 127: 8}.get(data[1], 0)
        begin = 2 + size
        end = begin + (int.from_bytes(data[2:begin], "big") if size else data[1])
        if len(data) < end:
            return None
        self.data = data[end:]
        return data[0], data[begin:end]


def shown_body(said: object) -> bytes:
    """A text, or the values of bytes that are none."""
    return said.encode() if isinstance(said, str) else bytes(said)  # type: ignore[call-overload]


def said_body(body: bytes) -> object:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return list(body)
