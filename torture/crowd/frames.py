"""Clients over WebSocket: frames out, and whole messages out of what arrives, whatever the dialect."""

from __future__ import annotations

import struct

from tests.dialects.websocket_model import BINARY, OPENING, TEXT, WELCOME
from torture.crowd.talk import Talk

_FIN = 0x80
_MASK = bytes(4)  # one of zeros leaves the payload as it is
_LENGTHS = {126: 2, 127: 8}


def framed(payload: bytes, binary: bool = False) -> bytes:
    """Of at most 65,535 bytes."""
    first, length = _FIN | (BINARY if binary else TEXT), len(payload)
    head = struct.pack(">BB", first, 0x80 | length) if length < 126 else struct.pack(">BBH", first, 0xFE, length)
    return head + _MASK + payload


def opening(headers: bytes = b"") -> bytes:
    return OPENING.removesuffix(b"\r\n") + headers + b"\r\n"


class Framed(Talk):
    """A message of the server is one frame."""

    def hear(self, now_s: float) -> None:
        self.data = self.data.removeprefix(WELCOME)
        while not WELCOME.startswith(self.data) and (payload := self._frame()) is not None:
            self.said(payload, now_s)

    def _frame(self) -> bytes | None:
        """None: it is not all there."""
        data = self.data
        if len(data) < 2:
            return None
        begin = 2 + _LENGTHS.get(data[1], 0)
        end = begin + (int.from_bytes(data[2:begin], "big") if begin > 2 else data[1])
        if len(data) < max(begin, end):
            return None
        self.data = data[end:]
        return data[begin:end]

    def said(self, payload: bytes, now_s: float) -> None:
        raise NotImplementedError
