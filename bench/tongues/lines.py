"""penstock's `deferred`, and beanstalkd: lines that name what they do."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from bench.tongues.tongue import BODY, LineTongue, UnexpectedAnswer, slices

_ADD: Final = b"ADD 0 " + BODY + b"\n"
_PUT: Final = b"put 0 0 600 256\r\n" + BODY + b"\r\n"


class Deferred(LineTongue):
    """`TASK <id> BODY <body>`, the id of ten characters."""

    def __init__(self, number: i64, in_flight: i64) -> None:
        super().__init__(number, in_flight, [1, 1, 1], [b"TASK ", b"TASK ", b"ok\n"])

    def publish(self) -> bytes:
        return _ADD * self.in_flight

    def reserve(self) -> bytes:
        return b"RESERVE\n" * self.in_flight

    def finish(self, given: bytes) -> bytes:
        ids = slices(given, self.in_flight, 5, 15)
        return b"DELETE " + b"\nDELETE ".join(ids) + b"\n"


class Beanstalkd(LineTongue):
    """`RESERVED <id> <bytes>`, then a line with the body."""

    def __init__(self, number: i64, in_flight: i64) -> None:
        super().__init__(number, in_flight, [1, 2, 1], [b"INSERTED ", b"RESERVED ", b"DELETED\r\n"])

    def publish(self) -> bytes:
        return _PUT * self.in_flight

    def reserve(self) -> bytes:
        return b"reserve\r\n" * self.in_flight

    def finish(self, given: bytes) -> bytes:
        heads = given.split(b"\r\n")[:-1:2]
        if len(heads) != self.in_flight:
            raise UnexpectedAnswer(given[:200])
        return b"delete " + b"\r\ndelete ".join([head[9:-4] for head in heads]) + b"\r\n"
