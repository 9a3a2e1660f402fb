"""NATS JetStream: a stream kept in a file as a work queue, and one pull consumer that must be told of each message.

Each operation is a request with an answer: the publish's receipt, one message pulled, the confirmation of the finish.
"""

from __future__ import annotations

import json
import socket
from typing import Final

from mypy_extensions import i64

from bench.tongues.tongue import BODY, LineTongue, UnexpectedAnswer, ask

_CONNECT: Final = b'CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true}\r\n'
_PING: Final = b"PING\r\n"
_STREAM: Final = {"name": "S", "subjects": ["work"], "retention": "workqueue", "storage": "file", "num_replicas": 1}
_CONSUMER: Final = {
    "durable_name": "C",
    "ack_policy": "explicit",
    "ack_wait": 600_000_000_000,
    "max_ack_pending": 100_000,
}


class Nats(LineTongue):
    """Answers come to an inbox of the connection: a line that names it, and a line of what is in it."""

    def __init__(self, number: i64, in_flight: i64) -> None:
        super().__init__(number, in_flight, [2, 2, 2], [b"MSG ", b"MSG work ", b"MSG "])
        inbox = b"in.%d" % number
        self._inbox: bytes = inbox
        self._publish: bytes = b"PUB work %s 256\r\n%s\r\n" % (inbox, BODY)
        self._next: bytes = b"PUB $JS.API.CONSUMER.MSG.NEXT.S.C %s 0\r\n\r\n" % inbox
        self._ack: bytes = b" %s 4\r\n+ACK\r\n" % inbox

    def greet(self, sock: socket.socket) -> None:
        ask(sock, _CONNECT + b"PING\r\n", 2)
        sock.sendall(b"SUB %s 1\r\n" % self._inbox)
        self._call(sock, b"$JS.API.STREAM.CREATE.S", _STREAM)
        self._call(sock, b"$JS.API.CONSUMER.DURABLE.CREATE.S.C", {"stream_name": "S", "config": _CONSUMER})

    def _call(self, sock: socket.socket, subject: bytes, asked: dict[str, object]) -> None:
        text = json.dumps(asked).encode()
        answer = ask(sock, b"PUB %s %s %d\r\n%s\r\n" % (subject, self._inbox, len(text), text), 2)
        if b'"error"' in answer:
            raise UnexpectedAnswer(answer)

    def hear(self, data: bytes) -> i64:
        """The server asks once, two seconds in, whether anybody is there; it waits long for an answer."""
        if _PING in data:
            data = data.replace(_PING, b"")
        return super().hear(data) if data else 0

    def publish(self) -> bytes:
        return self._publish * self.in_flight

    def reserve(self) -> bytes:
        return self._next * self.in_flight

    def finish(self, given: bytes) -> bytes:
        heads = given.split(b"\r\n")[:-1:2]
        if len(heads) != self.in_flight:
            raise UnexpectedAnswer(given[:200])
        return b"".join([b"PUB " + head.split(b" ")[3] + self._ack for head in heads])
