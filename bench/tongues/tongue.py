"""What every tongue is: a conversation in turns. A tongue makes bytes and counts answers; it never waits.

Operations without an answer on the wire stand in one turn with the next that has one, and count when that is answered.
"""

from __future__ import annotations

import socket
from typing import Final

from mypy_extensions import i64

BODY: Final = b"x" * 256

PUBLISH: Final[i64] = 0
RESERVE: Final[i64] = 1
FINISH: Final[i64] = 2


class UnexpectedAnswer(Exception):
    """The server said what a benchmark must not count."""


class Tongue:
    """One connection's side: `in_flight` requests of each operation of a turn are sent at once, then answered."""

    def __init__(self, number: i64, in_flight: i64) -> None:
        self.number: i64 = number  # of the connection, from 0
        self.in_flight: i64 = in_flight
        self.message_operations: i64 = 3  # publish, reserve, finish

    def greet(self, sock: socket.socket) -> None:
        """What is said before the load begins, waiting for the answers; said again it must change nothing."""

    def say(self) -> bytes:
        """The next turn's requests."""
        raise NotImplementedError

    def operations(self) -> i64:
        """How many operations each answer of this turn stands for; 0: only what comes before one."""
        return 1

    def hear(self, data: bytes) -> i64:
        """How many answers of this turn these bytes complete."""
        raise NotImplementedError


class StepTongue(Tongue):
    """Publish, reserve and finish by turns, where each operation's answer has a fixed size and a known beginning."""

    def __init__(self, number: i64, in_flight: i64, sizes: list[int], starts: list[bytes]) -> None:
        super().__init__(number, in_flight)
        self._sizes: list[int] = sizes
        self._starts: list[bytes] = starts
        self._step: i64 = FINISH
        self._each: i64 = 1  # size of one answer in this turn
        self._seen: i64 = 0
        self._fresh: bool = True  # nothing of this turn's answers has come
        self._chunks: list[bytes] = []

    def say(self) -> bytes:
        if self._step == PUBLISH:
            self._begin(RESERVE)
            return self.reserve()
        if self._step == RESERVE:
            given = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
            self._begin(FINISH)
            return self.finish(given)
        self._begin(PUBLISH)
        return self.publish()

    def _begin(self, step: i64) -> None:
        self._step = step
        self._each = self._sizes[step]
        self._seen = 0
        self._fresh = True
        self._chunks = []

    def hear(self, data: bytes) -> i64:
        if self._fresh and not data.startswith(self._starts[self._step]):
            raise UnexpectedAnswer(data[:200])
        self._fresh = False
        before = self._seen // self._each
        self._seen += self.size(data)
        if self._step == RESERVE:
            self._chunks.append(data)
        return self._seen // self._each - before

    def size(self, data: bytes) -> i64:
        """In bytes, or in what a protocol counts instead."""
        return len(data)

    def publish(self) -> bytes:
        raise NotImplementedError

    def reserve(self) -> bytes:
        raise NotImplementedError

    def finish(self, given: bytes) -> bytes:
        """The finishes of what these answers to the reserves hold."""
        raise NotImplementedError


class LineTongue(StepTongue):
    """A protocol of lines: an answer's size is how many it has."""

    def size(self, data: bytes) -> i64:
        return data.count(b"\n")


def slices(given: bytes, count: i64, start: i64, end: i64) -> list[bytes]:
    """The same stretch of each of `count` answers, which are all of one length."""
    stride: i64 = len(given) // count
    if stride * count != len(given):
        raise UnexpectedAnswer(given[:200])
    return [given[at + start : at + end] for at in range(0, stride * count, stride)]


def ask(sock: socket.socket, request: bytes, lines: int) -> bytes:
    """One request outside the load, answered in so many lines."""
    sock.sendall(request)
    answer = b""
    while answer.count(b"\n") < lines:
        data = sock.recv(1 << 16)
        if not data:
            raise ConnectionError(f"closed after {answer!r}")
        answer += data
    return answer
