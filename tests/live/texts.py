"""A client of `etzel` on a real socket, for tests: requests as members, answers as what they say."""

from __future__ import annotations

import json
import socket
from typing import Any

from tests.dialects.websocket_model import CLOSE, OPENING, TEXT, WELCOME, frame, text

FIN = 0x80


class Texts:
    """Open once it is made."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stream = self.socket.makefile("rb")
        self.send(OPENING)
        assert self._stream.read(len(WELCOME)) == WELCOME

    def __enter__(self) -> Texts:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def say(self, cmd: str, qname: str = "q", **members: object) -> None:
        self.send(text(json.dumps({"cmd": cmd, "qname": qname, **members}).encode()))

    def frame(self) -> tuple[int, bytes]:
        """The next one; (0, b"") when the server has closed."""
        head = self._stream.read(2)
        if not head:
            return 0, b""
        size = {126: 2, 127: 8}.get(head[1], 0)
        length = int.from_bytes(self._stream.read(size), "big") if size else head[1]
        return head[0], self._stream.read(length)

    def heard(self) -> dict[str, Any]:
        first, payload = self.frame()
        assert first == FIN | TEXT, (first, payload)
        said: dict[str, Any] = json.loads(payload)
        return said

    def ask(self, cmd: str, qname: str = "q", **members: object) -> dict[str, Any]:
        self.say(cmd, qname, **members)
        return self.heard()

    def say_goodbye(self, code: int = 1_000) -> None:
        self.send(frame(FIN | CLOSE, code.to_bytes(2, "big")))

    def is_closed(self, code: int) -> bool:
        """With this code, and then for good."""
        return self.frame() == (FIN | CLOSE, code.to_bytes(2, "big")) and self.frame() == (0, b"")

    def close(self) -> None:
        self._stream.close()
        self.socket.close()
