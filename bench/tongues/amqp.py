"""AMQP 0-9-1 as RabbitMQ speaks it: persistent messages in a durable queue, confirmed; got one by one, acknowledged.

An acknowledgement has no answer. It goes out with the next publish, whose confirmation comes after it was worked off.
`basic.get` rather than a subscription, so that the three operations stand one to one against the other peers'.
"""

from __future__ import annotations

import socket
import struct
from typing import Final

from mypy_extensions import i64

from bench.tongues.tongue import BODY, Tongue, UnexpectedAnswer

_METHOD: Final[i64] = 1
_BODY: Final[i64] = 3
_HEAD_BYTES: Final[i64] = 7  # of a frame: type, channel, size; one byte ends it
_FRAME_MAX: Final = 131_072
_QUEUE: Final = b"\x05bench"
_GET_OK: Final = b"\x00\x3c\x00\x47"
_CONFIRMED: Final = b"\x00\x3c\x00\x50"


def frame(kind: int, channel: int, payload: bytes) -> bytes:
    return struct.pack(">BHI", kind, channel, len(payload)) + payload + b"\xce"


def method(channel: int, group: int, number: int, arguments: bytes) -> bytes:
    return frame(1, channel, struct.pack(">HH", group, number) + arguments)


_START_OK: Final = method(0, 10, 11, b"\0\0\0\0\x05PLAIN\0\0\0\x0c\0guest\0guest\x05en_US")
_TUNE_OK: Final = method(0, 10, 31, struct.pack(">HIH", 1, _FRAME_MAX, 0))  # one channel, no heartbeats
# Each is answered by one method: open, one channel, confirmations, the queue deleted if there is one, and made.
_GREETING: Final = (
    b"AMQP\0\0\x09\x01",
    _START_OK,
    _TUNE_OK + method(0, 10, 40, b"\x01/\0\0"),
    method(1, 20, 10, b"\0"),
    method(1, 85, 10, b"\0"),
    method(1, 50, 40, b"\0\0" + _QUEUE + b"\0"),
    method(1, 50, 10, b"\0\0" + _QUEUE + b"\x02\0\0\0\0"),
)
_PUBLISH: Final = (
    method(1, 60, 40, b"\0\0\0" + _QUEUE + b"\0")
    + frame(2, 1, struct.pack(">HHQHB", 60, 0, len(BODY), 0x1000, 2))
    + frame(3, 1, BODY)
)
_GET: Final = method(1, 60, 70, b"\0\0" + _QUEUE + b"\0")


class Amqp(Tongue):
    """Two turns a message: finish the last one and publish the next; get it."""

    def __init__(self, number: i64, in_flight: i64) -> None:
        super().__init__(number, in_flight)
        self._rest: bytes = b""  # of what came, an unfinished frame
        self._getting: bool = True
        self._finishing: bool = False
        self._published: i64 = 0
        self._unconfirmed: set[int] = set()
        self._tags: list[bytes] = []

    def greet(self, sock: socket.socket) -> None:
        for said in _GREETING:
            sock.sendall(said)
            self._one_frame(sock)

    def _one_frame(self, sock: socket.socket) -> None:
        data = b""
        while len(data) < _HEAD_BYTES or len(data) < int.from_bytes(data[3:7], "big") + _HEAD_BYTES + 1:
            more = sock.recv(4096)
            if not more:
                raise ConnectionError("the server closed the connection")
            data += more

    def say(self) -> bytes:
        self._getting = not self._getting
        if self._getting:
            self._tags = []
            return _GET * self.in_flight
        acks = [method(1, 60, 80, tag + b"\0") for tag in self._tags]
        self._finishing = len(acks) > 0
        first = self._published + 1
        self._published += self.in_flight
        self._unconfirmed = set(range(first, self._published + 1))
        return b"".join(acks) + _PUBLISH * self.in_flight

    def operations(self) -> i64:
        return 2 if self._finishing and not self._getting else 1

    def hear(self, data: bytes) -> i64:
        if self._rest:
            data = self._rest + data
        answers: i64 = 0
        at: i64 = 0
        while len(data) - at > _HEAD_BYTES:
            end = at + _HEAD_BYTES + int.from_bytes(data[at + 3 : at + 7], "big") + 1
            if end > len(data):
                break
            answers += self._frame(data[at], data[at + _HEAD_BYTES : end])
            at = end
        self._rest = data[at:]
        return answers

    def _frame(self, kind: i64, payload: bytes) -> i64:
        """How many answers it completes: a body does, and a confirmation for one or all before it."""
        if kind == _BODY:
            return 1
        if kind != _METHOD:
            return 0
        word = payload[:4]
        if word == _GET_OK:
            self._tags.append(payload[4:12])
            return 0
        if word == _CONFIRMED:
            return self._confirm(int.from_bytes(payload[4:12], "big"), payload[12] != 0)
        raise UnexpectedAnswer(payload)

    def _confirm(self, tag: int, multiple: bool) -> i64:
        if not multiple:
            self._unconfirmed.remove(tag)
            return 1
        told = [one for one in self._unconfirmed if one <= tag]
        self._unconfirmed.difference_update(told)
        return len(told)
