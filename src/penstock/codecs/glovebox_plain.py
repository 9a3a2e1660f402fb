"""The requests of the dialect `glovebox` that clients send over and over, in plain JSON: post, pop, fetch and finish.

Whatever is not plain is left to the typed structs of `glovebox_shapes`; what both can read, both read alike.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from penstock.codecs.bincode import U32_MAX
from penstock.codecs.plain import PlainObject, word_of
from penstock.model import stages
from penstock.model.limits import PRIORITY_MAX, SECOND_US

# What was asked.
NONE: Final[i64] = 0  # it is not plain
POST: Final[i64] = 1
POP: Final[i64] = 2
FETCH: Final[i64] = 3
FINISH: Final[i64] = 4

# A bit for each member.
TYPE: Final[i64] = 1 << 0
QUEUE: Final[i64] = 1 << 1
MESSAGE: Final[i64] = 1 << 2
LABEL: Final[i64] = 1 << 3
PRIORITY: Final[i64] = 1 << 4
SHARD: Final[i64] = 1 << 5
SEQUENCE: Final[i64] = 1 << 6
NOTIFY: Final[i64] = 1 << 7
SYNC: Final[i64] = 1 << 8
RESPONSE: Final[i64] = 1 << 9
TIMEOUT: Final[i64] = 1 << 10
WORK_TIMEOUT: Final[i64] = 1 << 11
BLOCK_TIMEOUT: Final[i64] = 1 << 12

_TEXTS: Final[i64] = QUEUE | MESSAGE
_NUMBERS: Final[i64] = LABEL | PRIORITY | SHARD | SEQUENCE
_STAGES: Final[i64] = SYNC | RESPONSE
_DURATIONS: Final[i64] = TIMEOUT | WORK_TIMEOUT | BLOCK_TIMEOUT

# Those that a request must have, and those that it may have.
_POST_MUST: Final[i64] = TYPE | QUEUE | MESSAGE
_POST_MAY: Final[i64] = _POST_MUST | LABEL | PRIORITY | NOTIFY
_POP_MUST: Final[i64] = TYPE | QUEUE
_POP_MAY: Final[i64] = _POP_MUST | LABEL | SYNC | TIMEOUT
_FETCH_MUST: Final[i64] = TYPE | QUEUE | WORK_TIMEOUT
_FETCH_MAY: Final[i64] = _FETCH_MUST | LABEL | SYNC | BLOCK_TIMEOUT
_FINISH_MUST: Final[i64] = TYPE | QUEUE | SHARD | SEQUENCE
_FINISH_MAY: Final[i64] = _FINISH_MUST | LABEL | RESPONSE

# Names as numbers: to compare two of them needs no object.
_TYPE: Final[i64] = word_of(b"type")
_QUEUE: Final[i64] = word_of(b"queue")
_MESSAGE: Final[i64] = word_of(b"message")
_LABEL: Final[i64] = word_of(b"label")
_PRIORITY: Final[i64] = word_of(b"priority")
_SHARD: Final[i64] = word_of(b"shard")
_SEQUENCE: Final[i64] = word_of(b"sequence")
_NOTIFY: Final[i64] = word_of(b"notify")
_SYNC: Final[i64] = word_of(b"sync")
_RESPONSE: Final[i64] = word_of(b"response")
_TIMEOUT: Final[i64] = word_of(b"timeout")
_WORK_TIMEOUT: Final[i64] = word_of(b"work_timeout")
_BLOCK_TIMEOUT: Final[i64] = word_of(b"block_timeout")
_POST: Final[i64] = word_of(b"post")
_POP: Final[i64] = word_of(b"pop")
_FETCH: Final[i64] = word_of(b"fetch")
_FINISH: Final[i64] = word_of(b"finish")
_READY: Final[i64] = word_of(b"ready")
_WRITE: Final[i64] = word_of(b"write")
_ASSIGN: Final[i64] = word_of(b"assign")
_RETRY: Final[i64] = word_of(b"retry")
_DROP: Final[i64] = word_of(b"drop")

_COMMA: Final[i64] = 0x2C
_OPENING: Final[i64] = 0x5B
_CLOSING: Final[i64] = 0x5D
_NO_STAGE: Final[i64] = -1
_SECONDS_MAX: Final[i64] = 1_000_000_000  # in microseconds a float still tells them exactly


class PlainRequest(PlainObject):
    """One request at a time, in its fields; those that it does not say are as if they had been left out."""

    __slots__ = (
        "kind",
        "label",
        "message",
        "notify",
        "priority",
        "queue",
        "sequence",
        "shard",
        "stage",
        "wait_us",
        "work_us",
    )

    def __init__(self) -> None:
        super().__init__()
        self.kind: i64 = NONE
        self.queue: bytes = b""
        self.message: bytes = b""
        self.label: i64 = 0
        self.priority: i64 = 0
        self.shard: i64 = 0
        self.sequence: i64 = 0
        self.notify: i64 = 0  # a bit for each stage
        self.stage: i64 = stages.READY
        self.wait_us: i64 = 0
        self.work_us: i64 = 0

    def kind_of(self, payload: bytes) -> i64:
        """What was asked, or NONE: all that must be said is, and nothing that such a request does not know."""
        if not self.reads(payload):
            return NONE
        must, may = _POP_MUST, _POP_MAY
        if self.kind == POST:
            must, may = _POST_MUST, _POST_MAY
        elif self.kind == FETCH:
            must, may = _FETCH_MUST, _FETCH_MAY
        elif self.kind == FINISH:
            must, may = _FINISH_MUST, _FINISH_MAY
        return self.kind if self.said & must == must and self.said | may == may else NONE

    def forget(self) -> None:
        self.label = self.priority = self.notify = self.wait_us = 0
        self.stage = stages.READY

    def member(self) -> i64:
        name = self.word
        member: i64 = 0
        if name == _QUEUE:
            member = QUEUE
        elif name == _LABEL:
            member = LABEL
        elif name == _TYPE:
            member = TYPE
        elif name == _MESSAGE:
            member = MESSAGE
        elif name == _PRIORITY:
            member = PRIORITY
        elif name == _NOTIFY:
            member = NOTIFY
        elif name == _SHARD:
            member = SHARD
        elif name == _SEQUENCE:
            member = SEQUENCE
        elif name == _RESPONSE:
            member = RESPONSE
        elif name == _SYNC:
            member = SYNC
        elif name == _WORK_TIMEOUT:
            member = WORK_TIMEOUT
        elif name == _BLOCK_TIMEOUT:
            member = BLOCK_TIMEOUT
        elif name == _TIMEOUT:
            member = TIMEOUT
        return member

    def value(self, member: i64) -> bool:
        if member & _TEXTS != 0:
            return self._is_text(member)
        if member & _NUMBERS != 0:
            return self._is_number(member)
        if member & _STAGES != 0:
            return self._is_stage()
        if member & _DURATIONS != 0:
            return self._is_duration(member)
        return self._is_kind() if member == TYPE else self._are_notices()

    def _is_kind(self) -> bool:
        self.kind = NONE
        if self.says():
            if self.word == _POST:
                self.kind = POST
            elif self.word == _FETCH:
                self.kind = FETCH
            elif self.word == _FINISH:
                self.kind = FINISH
            elif self.word == _POP:
                self.kind = POP
        return self.kind != NONE

    def _is_text(self, member: i64) -> bool:
        if not self.tells():
            return False
        if member == QUEUE:
            self.queue = self.text()
        else:
            self.message = self.text()
        return True

    def _is_number(self, member: i64) -> bool:
        """One that such a member may be."""
        if not self.counts():
            return False
        number = self.number
        if member == LABEL:
            self.label = number
        elif member == SEQUENCE:
            self.sequence = number
        elif member == SHARD:
            self.shard = number
            return number <= U32_MAX
        else:
            self.priority = number
            return number <= PRIORITY_MAX
        return True

    def _is_stage(self) -> bool:
        if not self.says():
            return False
        self.stage = _stage(self.word)
        return stages.READY <= self.stage <= stages.SYNC

    def _is_duration(self, member: i64) -> bool:
        if not self.measures() or self.number > _SECONDS_MAX:
            return False
        if member == WORK_TIMEOUT:
            self.work_us = self.number * SECOND_US
        else:
            self.wait_us = self.number * SECOND_US
        return True

    def _are_notices(self) -> bool:
        """A list of stages; an empty one is not plain."""
        if not self.passes(_OPENING):
            return False
        while self.says():
            stage = _stage(self.word)
            if stage == _NO_STAGE:
                return False
            self.notify |= 1 << stage
            if not self.passes(_COMMA):
                return self.passes(_CLOSING)
        return False


def _stage(name: i64) -> i64:
    """A stage by its name, or _NO_STAGE."""
    stage: i64 = _NO_STAGE
    if name == _READY:
        stage = stages.READY
    elif name == _WRITE:
        stage = stages.WRITE
    elif name == _SYNC:
        stage = stages.SYNC
    elif name == _FINISH:
        stage = stages.FINISH
    elif name == _RETRY:
        stage = stages.RETRY
    elif name == _DROP:
        stage = stages.DROP
    elif name == _ASSIGN:
        stage = stages.ASSIGN
    return stage
