"""A small client of `deferred`: one request, one line back."""

from __future__ import annotations

import socket


class Client:
    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), 10)
        self._stream = self._socket.makefile("rwb")

    def ask(self, line: str) -> str:
        self._stream.write(line.encode() + b"\n")
        self._stream.flush()
        answer = self._stream.readline()
        if not answer:
            raise ConnectionError("the server is gone")
        return answer.decode().rstrip("\n")

    def publish(self, body: str, delay_ms: int = 0) -> str:
        return self.ask(f"ADD {delay_ms} {body}").split(" ")[1]

    def reserve(self) -> tuple[str, str] | None:
        answer = self.ask("RESERVE")
        if answer == "nil":
            return None
        _, id, _, body = answer.split(" ", 3)
        return id, body

    def finish(self, id: str) -> bool:
        return self.ask(f"DELETE {id}") == "ok"

    def close(self) -> None:
        self._stream.close()
        self._socket.close()
