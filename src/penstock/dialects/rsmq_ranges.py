"""Stretches of RSMQ's sorted set of a queue: by place and by score, counted, ranked and scanned."""

from __future__ import annotations

import math
from typing import Final

from librt.strings import BytesWriter
from mypy_extensions import i64

from penstock.codecs import resp
from penstock.codecs.rsmq_keys import NEVER_MS, number
from penstock.dialects.rsmq_plan import (
    SYNTAX,
    TOO_MANY,
    Nothing,
    Number,
    Plan,
    Refused,
    Speech,
    Step,
    Words,
    everything,
)
from penstock.dialects.rsmq_zsets import ZERO, in_order, zset_of
from penstock.model.contract import COUNT, Call
from penstock.model.limits import LISTED_MAX, MILLISECOND_US, NEVER_US

_NOT_A_RANGE: Final = b"ERR min or max is not a float"
_NOT_AN_INTEGER: Final = b"ERR value is not an integer or out of range"


def zcount(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    queue = zset_of(speech, words)
    low, high = _lowest(words[2]), _highest(words[3])
    if queue is None:
        return Words(ZERO)
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
            raise Refused(SYNTAX)
        if option == b"LIMIT":
            if len(words) < at + 3:
                raise Refused(SYNTAX)
            wanted.offset, wanted.count = max(_integer(words[at + 1]), 0), _integer(words[at + 2])
            at += 2
        wanted.with_scores |= option == b"WITHSCORES"
        wanted.by_score |= option == b"BYSCORE"
        wanted.backwards |= option == b"REV"
        at += 1


def _ranged(speech: Speech, plan: Plan, words: list[bytes], wanted: Range) -> Step:
    queue = zset_of(speech, words)
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
        raise Refused(SYNTAX)
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
    queue = zset_of(speech, words)
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
    queue = zset_of(speech, words)
    if queue is None:
        return Scanned(-1, -1)
    at = plan.glance(queue)
    return Scanned(at, plan.look(everything(queue)))
