"""A client of `glovebox` on a real socket, for tests: requests as dictionaries, answers as they come."""

from __future__ import annotations

import json
import socket
from typing import Any

from tests.dialects.gloves import opening, request
from tests.dialects.websocket_model import CLOSE, TEXT, WELCOME, frame

FIN = 0x80


class Gloves:
    """Open and greeted: `id` is what `hello` said."""

    def __init__(self, port: int, **headers: object) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stream = self.socket.makefile("rb")
        self.socket.sendall(opening(**headers))
        assert self._stream.read(len(WELCOME)) == WELCOME
        self.id: int = self.hear()["id"]

    def __enter__(self) -> Gloves:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def send(self, type: str, **members: object) -> None:
        self.socket.sendall(request(type, **members))

    def ask(self, type: str, **members: object) -> dict[str, Any]:
        self.send(type, **members)
        return self.hear()

    def hear(self) -> dict[str, Any]:
        first, payload = self.frame()
        if first == FIN | TEXT:
            found: dict[str, Any] = json.loads(payload)
            return found
        if first == FIN | CLOSE:
            raise EOFError(f"closed with {int.from_bytes(payload, 'big')}")
        return {"bytes": payload}

    def frame(self) -> tuple[int, bytes]:
        head = self._stream.read(2)
        if len(head) < 2:
            raise EOFError("the connection has ended")
        size = {126: 2, 127: 8}.get(head[1], 0)
        length = int.from_bytes(self._stream.read(size), "big") if size else head[1]
        return head[0], self._stream.read(length)

    def say_goodbye(self, code: int = 1_000) -> None:
        self.socket.sendall(frame(FIN | CLOSE, code.to_bytes(2, "big")))

    def close(self) -> None:
        self._stream.close()
        self.socket.close()
