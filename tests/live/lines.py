"""A client of `deferred` on a real socket, for tests: requests as bytes, answers as lines."""

from __future__ import annotations

import socket


class Lines:
    def __init__(self, port: int, receive_buffer: int = 0) -> None:
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(20)
        try:
            self.socket.connect(("127.0.0.1", port))
        except OSError:
            self.socket.close()
            raise
        self._stream = self.socket.makefile("rb")

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def line(self) -> bytes:
        """The next answer without its end; empty when the server has closed."""
        return self._stream.readline().rstrip(b"\n")

    def lines(self, count: int) -> list[bytes]:
        return [self.line() for _ in range(count)]

    def ask(self, request: bytes) -> bytes:
        self.send(request + b"\n")
        return self.line()

    def publish(self, body: bytes, delay_ms: int = 0) -> bytes:
        return self.ask(b"ADD %d %s" % (delay_ms, body)).split(b" ")[1]

    def half_close(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._stream.close()
        self.socket.close()
