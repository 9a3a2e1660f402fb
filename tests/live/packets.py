"""A client of `pinpriq` on a real socket, for tests: requests as bytes, answers as lists of packets."""

from __future__ import annotations

import socket

from tests.dialects.fuzz_pinpriq import pop, push

Packet = tuple[bytes, bytes]  # key, payload


class Packets:
    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 20)
        self._stream = self.socket.makefile("rb")

    def __enter__(self) -> Packets:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def push(self, payload: bytes, queue: bytes = b"q", *, key: bytes = b"k", priority: int = 1) -> None:
        self.send(push(queue, 0, priority, key, payload))

    def pop(self, queue: bytes = b"q") -> list[Packet]:
        self.send(pop(queue))
        return self.answer()

    def answer(self) -> list[Packet]:
        return [self._packet() for _ in range(self._number())]

    def _packet(self) -> Packet:
        key, payload = self._number(), self._number()
        return self._stream.read(key), self._stream.read(payload)

    def _number(self) -> int:
        data = self._stream.read(2)
        if len(data) < 2:
            raise EOFError("the server has closed")
        return int.from_bytes(data, "big")

    def is_closed(self) -> bool:
        """Waits for the server's end."""
        return self._stream.read(1) == b""

    def half_close(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._stream.close()
        self.socket.close()
