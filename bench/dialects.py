"""How the load generator speaks to each server: bytes for n requests, lines an answer has, ids in the answers."""

from __future__ import annotations

from typing import ClassVar, Protocol

BODY = b"x" * 256


class Speech(Protocol):
    """One server's protocol, as far as a benchmark needs it. Cheap, so that the generator is not what is measured."""

    reserved_lines: int  # lines in the answer to a reserve; every other answer has one

    def publish(self, count: int) -> bytes: ...
    def reserve(self, count: int) -> bytes: ...
    def finish(self, ids: list[bytes]) -> bytes: ...
    def ids(self, data: bytes) -> list[bytes]: ...


class Deferred:
    """penstock's dialect `deferred`: `TASK <id> BODY <body>`."""

    reserved_lines = 1
    _publish: ClassVar[bytes] = b"ADD 0 " + BODY + b"\n"

    def publish(self, count: int) -> bytes:
        return self._publish * count

    def reserve(self, count: int) -> bytes:
        return b"RESERVE\n" * count

    def finish(self, ids: list[bytes]) -> bytes:
        return b"DELETE " + b"\nDELETE ".join(ids) + b"\n"

    def ids(self, data: bytes) -> list[bytes]:
        return [line[5:15] for line in data.split(b"\n")[:-1]]


class Beanstalkd:
    """beanstalkd: `RESERVED <id> <bytes>`, then a line with the body."""

    reserved_lines = 2
    _publish: ClassVar[bytes] = b"put 0 0 600 256\r\n" + BODY + b"\r\n"

    def publish(self, count: int) -> bytes:
        return self._publish * count

    def reserve(self, count: int) -> bytes:
        return b"reserve\r\n" * count

    def finish(self, ids: list[bytes]) -> bytes:
        return b"delete " + b"\r\ndelete ".join(ids) + b"\r\n"

    def ids(self, data: bytes) -> list[bytes]:
        return [line[9:-4] for line in data.split(b"\r\n")[:-1:2]]
