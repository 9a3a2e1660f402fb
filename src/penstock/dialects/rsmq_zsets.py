"""RSMQ's sorted set of a queue, `rsmq:<queue>`: message ids by when they can be seen, in milliseconds."""

from __future__ import annotations

import math
from typing import Final

from librt.strings import BytesWriter
from mypy_extensions import i64

from penstock.codecs import resp
from penstock.codecs.rsmq_keys import NEVER_MS, NO_KEY, ZSET, number, score_ms
from penstock.dialects.rsmq_hashes import ATTRIBUTES, parted
from penstock.dialects.rsmq_plan import (
    NO_QUEUE,
    TOO_MANY,
    WRONG_TYPE,
    Length,
    Nothing,
    Number,
    Plan,
    Refused,
    Speech,
    Step,
    Words,
    everything,
    message_call,
)
from penstock.dialects.rsmq_setting import BAD_KEY, finishing, moving
from penstock.model import codes
from penstock.model.contract import COUNT, FIND, PUBLISH, Call
from penstock.model.limits import LISTED_MAX, MILLISECOND_US, NEVER_US
from penstock.model.message import LEASED, PARKED
from penstock.model.views import MessageView

_ZERO: Final = b":0\r\n"
_SYNTAX: Final = b"ERR syntax error"
_NOT_A_RANGE: Final = b"ERR min or max is not a float"
_NOT_AN_INTEGER: Final = b"ERR value is not an integer or out of range"
NO_OPTIONS: Final = b"ERR ZADD takes scores and ids here, and no options"
BAD_ID: Final = b"ERR this cannot be the id of a message"
ID_MAX: Final = 255


def seen_ms(view: MessageView) -> i64:
    """The score of a message."""
    if view.place == LEASED:
        return score_ms(view.until_us)
    return NEVER_MS if view.place == PARKED else score_ms(view.ready_us)


def _zset(speech: Speech, words: list[bytes]) -> bytes | None:
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
    queue = _zset(speech, words)
    if queue is None:
        raise Refused(BAD_KEY)
    if len(words) % 2:
        raise Refused(_SYNTAX)
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
    queue = _zset(speech, words)
    if queue is None:
        return Words(_ZERO)
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


class Scores(Step):
    def __init__(self, scores: list[Step]) -> None:
        self._scores: list[Step] = scores

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        resp.write_array(out, len(self._scores))
        for score in self._scores:
            score.write(out, speech, plan)


def _score(speech: Speech, plan: Plan, queue: bytes | None, name: bytes) -> Step:
    return Nothing() if queue is None else Score(plan.look(message_call(FIND, queue, name, speech)))


def zscore(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    return _score(speech, plan, _zset(speech, words), words[2])


def zmscore(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    queue = _zset(speech, words)
    return Scores([_score(speech, plan, queue, name) for name in words[2:]])


def zcard(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    queue = _zset(speech, words)
    return Words(_ZERO) if queue is None else Length(plan.glance(queue))


def zcount(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    queue = _zset(speech, words)
    low, high = _lowest(words[2]), _highest(words[3])
    if queue is None:
        return Words(_ZERO)
    call = Call(COUNT, queue)
    call.due_us, call.until_us = low, high
    return Number(plan.look(call))


def _bound(text: bytes) -> tuple[float, bool]:
    """A score, and whether it is itself left out."""
    is_open = text.startswith(b"(")
    value = number(text[1:] if is_open else text)
    if math.isnan(value):
        raise Refused(_NOT_A_RANGE)
    return value, is_open


def _lowest(text: bytes) -> int:
    """The first time whose score is not below. Scores are whole, rounded up."""
    value, is_open = _bound(text)
    if value > int(NEVER_MS) or (is_open and value == int(NEVER_MS)):
        return int(NEVER_US) + 1
    if value < 0:
        return 0
    low = math.floor(value) + 1 if is_open else math.ceil(value)
    return 0 if low <= 0 else (low - 1) * int(MILLISECOND_US) + 1


def _highest(text: bytes) -> int:
    value, is_open = _bound(text)
    if value >= int(NEVER_MS) and not (is_open and value == int(NEVER_MS)):
        return int(NEVER_US)
    if value < 0:
        return -1
    high = math.ceil(value) - 1 if is_open else math.floor(value)
    return high * int(MILLISECOND_US)


class Range:
    """What of a sorted set is asked for."""

    def __init__(self) -> None:
        self.by_score: bool = False
        self.backwards: bool = False
        self.with_scores: bool = False
        self.start: int = 0
        self.stop: int = -1
        self.offset: int = 0
        self.count: int = -1

    def of(self, entries: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        if self.backwards:
            entries.reverse()
        if not self.by_score:
            return _slice(entries, self.start, self.stop)
        entries = entries[self.offset :]
        return entries if self.count < 0 else entries[: self.count]

    def limit(self) -> int:
        """How many messages, from the first, have to be looked at."""
        if self.backwards:
            return LISTED_MAX
        if self.by_score:
            return LISTED_MAX if self.count < 0 else self.offset + self.count
        return LISTED_MAX if self.start < 0 or self.stop < 0 else self.stop + 1


def _slice(entries: list[tuple[int, bytes]], start: int, stop: int) -> list[tuple[int, bytes]]:
    """From one place to another, that included; places below zero count from the end."""
    start = max(start + len(entries), 0) if start < 0 else start
    stop = stop + len(entries) if stop < 0 else stop
    return entries[start : stop + 1] if stop >= start else []


class Ranged(Step):
    """ZRANGE and its kin. A place of -1: of nothing."""

    def __init__(self, glance: i64, listed: i64, range: Range) -> None:
        self._glance: i64 = glance
        self._listed: i64 = listed
        self._range: Range = range

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        wanted = self._range
        entries: list[tuple[int, bytes]] = []
        if self._glance >= 0:
            if plan.seen(self._glance).length > LISTED_MAX and wanted.limit() >= LISTED_MAX:
                resp.write_error(out, TOO_MANY)
                return
            entries = wanted.of(in_order(plan.listed(self._listed), speech))
        with_scores = wanted.with_scores
        resp.write_array(out, len(entries) * (2 if with_scores and not speech.modern else 1))
        for score, name in entries:
            if with_scores and speech.modern:
                resp.write_array(out, 2)
            resp.write_bulk(out, name)
            if with_scores:
                speech.score(out, score)


def in_order(views: list[MessageView], speech: Speech) -> list[tuple[int, bytes]]:
    return sorted([(int(seen_ms(view)), speech.id_of(view)) for view in views])


def _integer(text: bytes) -> int:
    try:
        return int(text)
    except ValueError:
        raise Refused(_NOT_AN_INTEGER) from None


def _options(words: list[bytes], wanted: Range, known: tuple[bytes, ...]) -> None:
    """What stands behind the two bounds."""
    at = 4
    while at < len(words):
        option = words[at].upper()
        if option not in known:
            raise Refused(_SYNTAX)
        if option == b"LIMIT":
            if len(words) < at + 3:
                raise Refused(_SYNTAX)
            wanted.offset, wanted.count = max(_integer(words[at + 1]), 0), _integer(words[at + 2])
            at += 2
        wanted.with_scores |= option == b"WITHSCORES"
        wanted.by_score |= option == b"BYSCORE"
        wanted.backwards |= option == b"REV"
        at += 1


def _ranged(speech: Speech, plan: Plan, words: list[bytes], wanted: Range) -> Step:
    queue = _zset(speech, words)
    low, high = 0, int(NEVER_US)
    if wanted.by_score:
        first, last = (words[3], words[2]) if wanted.backwards else (words[2], words[3])
        low, high = _lowest(first), _highest(last)
    else:
        wanted.start, wanted.stop = _integer(words[2]), _integer(words[3])
    if queue is None:
        return Ranged(-1, -1, wanted)
    call = everything(queue, max(wanted.limit(), 0))
    call.due_us, call.until_us = low, high
    at = plan.glance(queue)
    return Ranged(at, plan.look(call), wanted)


def zrange(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    wanted = Range()
    _options(words, wanted, (b"WITHSCORES", b"BYSCORE", b"REV", b"LIMIT"))
    if not wanted.by_score and b"LIMIT" in [word.upper() for word in words[4:]]:
        raise Refused(_SYNTAX)
    return _ranged(speech, plan, words, wanted)


def zrevrange(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    wanted = Range()
    wanted.backwards = True
    _options(words, wanted, (b"WITHSCORES",))
    return _ranged(speech, plan, words, wanted)


def zrangebyscore(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    wanted = Range()
    wanted.by_score = True
    _options(words, wanted, (b"WITHSCORES", b"LIMIT"))
    return _ranged(speech, plan, words, wanted)


def zrevrangebyscore(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    wanted = Range()
    wanted.by_score = wanted.backwards = True
    _options(words, wanted, (b"WITHSCORES", b"LIMIT"))
    return _ranged(speech, plan, words, wanted)


class Ranking(Step):
    """ZRANK."""

    def __init__(self, glance: i64, listed: i64, name: bytes) -> None:
        self._glance: i64 = glance
        self._listed: i64 = listed
        self._name: bytes = name

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        if plan.seen(self._glance).length > LISTED_MAX:
            resp.write_error(out, TOO_MANY)
            return
        names = [name for _, name in in_order(plan.listed(self._listed), speech)]
        if self._name in names:
            resp.write_number(out, names.index(self._name))
        else:
            speech.null(out)


def zrank(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    queue = _zset(speech, words)
    if queue is None:
        return Nothing()
    at = plan.glance(queue)
    return Ranking(at, plan.look(everything(queue)), words[2])


class Scanned(Step):
    """ZSCAN: all of it at once."""

    def __init__(self, glance: i64, listed: i64) -> None:
        self._glance: i64 = glance
        self._listed: i64 = listed

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        if self._glance >= 0 and plan.seen(self._glance).length > LISTED_MAX:
            resp.write_error(out, TOO_MANY)
            return
        entries = in_order(plan.listed(self._listed), speech) if self._glance >= 0 else []
        out.write(b"*2\r\n$1\r\n0\r\n")
        resp.write_array(out, 2 * len(entries))
        for score, name in entries:
            resp.write_bulk(out, name)
            resp.write_decimal(out, score)


def zscan(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    queue = _zset(speech, words)
    if queue is None:
        return Scanned(-1, -1)
    at = plan.glance(queue)
    return Scanned(at, plan.look(everything(queue)))
