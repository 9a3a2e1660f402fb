"""penstock's `pinpriq`: a push, which has no answer, and the pop behind it are one turn."""

from __future__ import annotations

import struct
from typing import Final

from mypy_extensions import i64

from bench.tongues.tongue import BODY, Tongue, UnexpectedAnswer

_PUSH: Final = struct.Struct(">BHHBHHq")
_POP: Final = struct.Struct(">BH")
_ANSWER_BYTES: Final[i64] = 2 + 4 + 8 + len(BODY)
_ANSWER: Final = bytes.fromhex("0001 0008 0100")


class Pinpriq(Tongue):
    """Every message has a key of its own, so that a pop takes one. Messages go round `queues` queues."""

    def __init__(self, number: i64, in_flight: i64, queues: i64 = 1) -> None:
        super().__init__(number, in_flight)
        self.message_operations = 2
        self._key: i64 = number << 40
        self._names: list[bytes] = [queue_name(queue) for queue in range(queues)]
        self._pops: list[bytes] = [_POP.pack(0x50, len(name)) + name for name in self._names]
        self._seen: i64 = 0

    def say(self) -> bytes:
        self._seen = 0
        said: list[bytes] = []
        pops: list[bytes] = []
        for _ in range(self.in_flight):
            self._key += 1
            queue = self._key % len(self._names)
            said += _push(self._names[queue], self._key)
            pops.append(self._pops[queue])
        return b"".join(said + pops)

    def operations(self) -> i64:
        return 2

    def hear(self, data: bytes) -> i64:
        if self._seen == 0 and not data.startswith(_ANSWER):
            raise UnexpectedAnswer(data[:200])
        before = self._seen // _ANSWER_BYTES
        self._seen += len(data)
        return self._seen // _ANSWER_BYTES - before


def queue_name(number: i64) -> bytes:
    return b"q%06d" % number


def push(number: i64) -> bytes:
    """A message for the queue of this number, with a key that no load uses."""
    return b"".join(_push(queue_name(number), -1 - number))


def _push(name: bytes, key: i64) -> list[bytes]:
    return [_PUSH.pack(0x70, len(name), 0, 1, 8, len(BODY), key), BODY, name]
