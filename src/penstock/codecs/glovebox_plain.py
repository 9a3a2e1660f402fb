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


class PlainReader:
    """One request at a time, in its fields; those that it does not say are as if they had been left out."""

    __slots__ = (
        "_object",
        "_payload",
        "label",
        "message",
        "notify",
        "priority",
        "queue",
        "said",
        "sequence",
        "shard",
        "stage",
        "wait_us",
        "work_us",
    )

    def __init__(self) -> None:
        self._object: PlainObject = PlainObject()
        self._payload: bytes = b""
        self.said: i64 = 0  # a bit for each member
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

    def read(self, payload: bytes) -> i64:
        """What was asked, or NONE."""
        members = self._object
        if not members.opens(payload):
            return NONE
        self._payload = payload
        self.said = self.label = self.priority = self.notify = self.wait_us = 0
        self.stage = stages.READY
        kind: i64 = NONE
        while members.named():
            member = self._named()
            if member == 0 or self.said & member != 0:
                return NONE
            self.said |= member
            if member == TYPE:
                kind = self._kind()
            elif not self._value(member):
                return NONE
            if not members.goes_on():
                break
        return kind if members.ended and self._is_whole(kind) else NONE

    def _named(self) -> i64:
        """The member of that name; 0: none that we know."""
        name = self._object.word
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

    def _kind(self) -> i64:
        if not self._object.says():
            return NONE
        said = self._object.word
        if said == _POST:
            return POST
        if said == _FETCH:
            return FETCH
        if said == _FINISH:
            return FINISH
        return POP if said == _POP else NONE

    def _value(self, member: i64) -> bool:
        """Whether it is plain, and what such a member may be."""
        members = self._object
        if member in (QUEUE, MESSAGE):
            return members.text() and self._keep_text(member)
        if member == NOTIFY:
            return self._notices()
        if member in (SYNC, RESPONSE):
            return members.says() and self._keep_stage()
        if member <= SEQUENCE:
            return members.whole() and self._keep_number(member)
        return members.seconds() and self._keep_seconds(member)

    def _keep_text(self, member: i64) -> bool:
        text = self._payload[self._object.start : self._object.stop]
        if member == QUEUE:
            self.queue = text
        else:
            self.message = text
        return True

    def _keep_number(self, member: i64) -> bool:
        number = self._object.number
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

    def _keep_stage(self) -> bool:
        self.stage = _stage(self._object.word)
        return stages.READY <= self.stage <= stages.SYNC

    def _keep_seconds(self, member: i64) -> bool:
        seconds = self._object.number
        if member == WORK_TIMEOUT:
            self.work_us = seconds * SECOND_US
        else:
            self.wait_us = seconds * SECOND_US
        return seconds <= _SECONDS_MAX

    def _notices(self) -> bool:
        """A list of stages, none of them left out between commas; an empty one is not plain."""
        members = self._object
        if not members.passes(_OPENING):
            return False
        while members.says():
            stage = _stage(self._object.word)
            if stage == _NO_STAGE:
                return False
            self.notify |= 1 << stage
            if not members.passes(_COMMA):
                return members.passes(_CLOSING)
        return False

    def _is_whole(self, kind: i64) -> bool:
        """All that must be said is, and nothing that such a request does not know."""
        said = self.said
        if kind == POST:
            return said & _POST_MUST == _POST_MUST and said | _POST_MAY == _POST_MAY
        if kind == FETCH:
            return said & _FETCH_MUST == _FETCH_MUST and said | _FETCH_MAY == _FETCH_MAY
        if kind == FINISH:
            return said & _FINISH_MUST == _FINISH_MUST and said | _FINISH_MAY == _FINISH_MAY
        return kind == POP and said & _POP_MUST == _POP_MUST and said | _POP_MAY == _POP_MAY


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
