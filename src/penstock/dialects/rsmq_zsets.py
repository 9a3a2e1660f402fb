"""RSMQ's sorted set of a queue, `rsmq:<queue>`: message ids by when they can be seen, in milliseconds."""

from __future__ import annotations

from typing import Final

from librt.strings import BytesWriter
from mypy_extensions import i64

from penstock.codecs import resp
from penstock.codecs.rsmq_keys import NEVER_MS, NO_KEY, ZSET, score_ms
from penstock.dialects.rsmq_hashes import ATTRIBUTES, parted
from penstock.dialects.rsmq_plan import (
    NO_QUEUE,
    SYNTAX,
    WRONG_TYPE,
    Length,
    Nothing,
    Plan,
    Refused,
    Several,
    Speech,
    Step,
    Words,
    message_call,
)
from penstock.dialects.rsmq_setting import BAD_KEY, finishing, moving
from penstock.model import codes
from penstock.model.contract import FIND, PUBLISH
from penstock.model.message import LEASED, PARKED
from penstock.model.views import MessageView

ZERO: Final = b":0\r\n"
NO_OPTIONS: Final = b"ERR ZADD takes scores and ids here, and no options"
BAD_ID: Final = b"ERR this cannot be the id of a message"
ID_MAX: Final = 255


def seen_ms(view: MessageView) -> i64:
    """The score of a message."""
    if view.place == LEASED:
        return score_ms(view.until_us)
    return NEVER_MS if view.place == PARKED else score_ms(view.ready_us)


def in_order(views: list[MessageView], speech: Speech) -> list[tuple[int, bytes]]:
    return sorted([(int(seen_ms(view)), speech.id_of(view)) for view in views])


def zset_of(speech: Speech, words: list[bytes]) -> bytes | None:
    key = speech.keys.read(words[1])
    if key.kind not in (ZSET, NO_KEY):
        raise Refused(WRONG_TYPE)
    return key.queue if key.kind == ZSET else None


# -- writing


class Added(Step):
    """ZADD: how many ids are new. One that is new and has no body yet is not a message yet."""

    def __init__(self, places: list[int], glance: i64) -> None:
        self._places: list[int] = places
        self._glance: i64 = glance

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        if not plan.seen(self._glance).there:
            resp.write_error(out, NO_QUEUE)
            return
        new = 0
        for at in self._places:
            code = plan.code(at)
            new += code == (codes.OK if plan.calls[at].verb == PUBLISH else codes.NO_MESSAGE)
        resp.write_number(out, new)


class AddedOne(Step):
    """The ZADD of a send: its queue is there, or the send is refused."""

    def __init__(self, at: i64) -> None:
        self._at: i64 = at

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        code = plan.code(self._at)
        new = codes.OK if plan.calls[self._at].verb == PUBLISH else codes.NO_MESSAGE
        resp.write_number(out, 1 if code == new else 0)


def zadd(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    queue = zset_of(speech, words)
    if queue is None:
        raise Refused(BAD_KEY)
    if len(words) % 2:
        raise Refused(SYNTAX)
    places: list[int] = []
    for at in range(2, len(words), 2):
        name = words[at + 1]
        if words[at].isalpha() and words[at].upper() in (b"NX", b"XX", b"GT", b"LT", b"CH", b"INCR"):
            raise Refused(NO_OPTIONS)
        if name in ATTRIBUTES or not 0 < len(name) <= ID_MAX or parted(name)[1]:
            raise Refused(BAD_ID)
        places.append(int(moving(speech, plan, queue, words[at], name)))
    if plan.is_multi and len(places) == 1:
        return AddedOne(places[0])
    return Added(places, plan.glance(queue))


class Removed(Step):
    """ZREM."""

    def __init__(self, places: list[int]) -> None:
        self._places: list[int] = places

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        removed: i64 = 0
        for at in self._places:
            if plan.code(at) == codes.OK:
                removed += 1
        resp.write_number(out, removed)


def zrem(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    queue = zset_of(speech, words)
    if queue is None:
        return Words(ZERO)
    return Removed([int(finishing(speech, plan, queue, words[at])) for at in range(2, len(words))])


# -- reading


class Score(Step):
    def __init__(self, at: i64) -> None:
        self._at: i64 = at

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        view = plan.found(self._at)
        if view is None:
            speech.null(out)
        else:
            speech.score(out, seen_ms(view))


def _score(speech: Speech, plan: Plan, queue: bytes | None, name: bytes) -> Step:
    return Nothing() if queue is None else Score(plan.look(message_call(FIND, queue, name, speech)))


def zscore(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    return _score(speech, plan, zset_of(speech, words), words[2])


def zmscore(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    queue = zset_of(speech, words)
    return Several([_score(speech, plan, queue, name) for name in words[2:]])


def zcard(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    queue = zset_of(speech, words)
    return Words(ZERO) if queue is None else Length(plan.glance(queue))
