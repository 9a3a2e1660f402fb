"""RSMQ's set of queues, `rsmq:QUEUES`, and what can be asked of keys whatever they are."""

from __future__ import annotations

from fnmatch import translate
from re import DOTALL, compile
from typing import Final

from librt.strings import BytesWriter
from mypy_extensions import i64

from penstock.codecs import resp
from penstock.codecs.rsmq_keys import HASH, NO_KEY, QUEUES, TYPES, ZSET, has_keys
from penstock.dialects.rsmq_plan import SYNTAX, WRONG_TYPE, Plan, Refused, Speech, Step, Words
from penstock.dialects.rsmq_setting import BAD_KEY
from penstock.model import codes
from penstock.model.contract import CLEAR, NAMES, REMOVE, Call

STAYS: Final = b"ERR a queue is removed by DEL of its hash, rsmq:<queue>:Q"
MADE_FIRST: Final = b"ERR a queue is made by HSETNX of its attributes, then added"


class Everywhere(Step):
    """All queues that have keys."""

    def __init__(self, at: i64) -> None:
        self._at: i64 = at

    def queues(self, plan: Plan) -> list[tuple[bytes, int]]:
        seen = plan.calls[self._at].seen
        assert isinstance(seen, list)
        return [(name, length) for name, length in seen if has_keys(name)]

    def keys(self, plan: Plan, speech: Speech) -> list[bytes]:
        queues = self.queues(plan)
        found = [speech.keys.queues()] if queues else []
        for name, length in queues:
            found.append(speech.keys.hash(name))
            if length:
                found.append(speech.keys.zset(name))
        return found


def _names(plan: Plan) -> i64:
    return plan.look(Call(NAMES, b""))


# -- the set


class Members(Everywhere):
    """SMEMBERS."""

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        queues = self.queues(plan)
        speech.members(out, len(queues))
        for name, _ in queues:
            resp.write_bulk(out, name)


class Cardinality(Everywhere):
    """SCARD."""

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        resp.write_number(out, len(self.queues(plan)))


class ScannedMembers(Everywhere):
    """SSCAN: all of it at once."""

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        queues = self.queues(plan)
        out.write(b"*2\r\n$1\r\n0\r\n")
        resp.write_array(out, len(queues))
        for name, _ in queues:
            resp.write_bulk(out, name)


def _is_set(speech: Speech, words: list[bytes]) -> bool:
    """It is the set; False: it is no key at all."""
    kind = speech.keys.read(words[1]).kind
    if kind in (ZSET, HASH):
        raise Refused(WRONG_TYPE)
    return kind == QUEUES


class NoMembers(Step):
    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        speech.members(out, 0)


def smembers(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    return Members(_names(plan)) if _is_set(speech, words) else NoMembers()


def scard(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    return Cardinality(_names(plan)) if _is_set(speech, words) else Words(b":0\r\n")


def sscan(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    return ScannedMembers(_names(plan)) if _is_set(speech, words) else Words(b"*2\r\n$1\r\n0\r\n*0\r\n")


class There(Step):
    """How many of these glances find a queue; for SMISMEMBER, each."""

    def __init__(self, places: list[int], each: bool) -> None:
        self._places: list[int] = places
        self._each: bool = each

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        there = [1 if at >= 0 and plan.seen(at).there else 0 for at in self._places]
        if not self._each:
            resp.write_number(out, sum(there))
            return
        resp.write_array(out, len(there))
        for one in there:
            resp.write_number(out, one)


def _glances(speech: Speech, plan: Plan, words: list[bytes]) -> list[int]:
    """At the queues that are named; -1: it has no keys."""
    is_set = _is_set(speech, words)
    return [int(plan.glance(name)) if is_set and has_keys(name) else -1 for name in words[2:]]


def sismember(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    return There(_glances(speech, plan, words), False)


def smismember(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    return There(_glances(speech, plan, words), True)


class Joined(Step):
    """SADD. A queue is in the set once it is made: who has just asked to make it hears that it came in by this."""

    def __init__(self, places: list[int], new: int) -> None:
        self._places: list[int] = places
        self._new: int = new

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        if all(plan.seen(at).there for at in self._places):
            resp.write_number(out, self._new)
        else:
            resp.write_error(out, MADE_FIRST)


def sadd(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    if not _is_set(speech, words):
        raise Refused(BAD_KEY)
    new = 0
    for name in words[2:]:
        if speech.making == name:
            speech.making = b""
            new += 1
    if any(not has_keys(name) for name in words[2:]):
        raise Refused(MADE_FIRST)
    return Joined(_glances(speech, plan, words), new)


class Left(Step):
    """SREM of a queue that this plan removes, or that is not there."""

    def __init__(self, removed: list[int], others: list[int]) -> None:
        self._removed: list[int] = removed
        self._others: list[int] = others

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        if any(at >= 0 and plan.seen(at).there for at in self._others):
            resp.write_error(out, STAYS)
        else:
            resp.write_number(out, sum([plan.code(at) == codes.OK for at in self._removed]))


def srem(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    if not _is_set(speech, words):
        return Words(b":0\r\n")
    removed = [int(plan.find(REMOVE, name)) for name in words[2:]]
    others = [name for name, at in zip(words[2:], removed, strict=True) if at < 0 and has_keys(name)]
    return Left([at for at in removed if at >= 0], [int(plan.glance(name)) for name in others])


# -- any key


class Gone(Step):
    """DEL: how many keys there were."""

    def __init__(self, hashes: list[int], zsets: list[int]) -> None:
        self._hashes: list[int] = hashes
        self._zsets: list[int] = zsets

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        gone = sum([1 for at in self._hashes if plan.code(at) == codes.OK])
        resp.write_number(out, gone + sum([1 for at in self._zsets if plan.number(at) > 0]))


def delete(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    """Without its hash a queue is removed, without its sorted set it is empty."""
    hashes: list[int] = []
    zsets: list[int] = []
    for name in words[1:]:
        key = speech.keys.read(name)
        if key.kind == QUEUES:
            raise Refused(STAYS)
        if key.kind == HASH:
            hashes.append(int(plan.change(Call(REMOVE, key.queue))))
        elif key.kind == ZSET:
            removed = plan.find(REMOVE, key.queue)
            zsets.append(int(removed if removed >= 0 else plan.change(Call(CLEAR, key.queue))))
    return Gone(hashes, zsets)


class Present(Step):
    """Whether keys are there: how many, or the type of one, or how long it lives (for ever)."""

    def __init__(self, kinds: list[int], places: list[int]) -> None:
        self._kinds: list[int] = kinds
        self._places: list[int] = places

    def count(self, plan: Plan) -> int:
        return sum([1 for kind, at in zip(self._kinds, self._places, strict=True) if _is_there(plan, kind, at)])

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        resp.write_number(out, self.count(plan))


class Type(Present):
    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        out.write(b"+" + (TYPES[self._kinds[0]] if self.count(plan) else b"none") + b"\r\n")


class Lifetime(Present):
    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        resp.write_number(out, -1 if self.count(plan) else -2)


class Plain(Present):
    """GET: no key here holds a string."""

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        if self.count(plan):
            resp.write_error(out, WRONG_TYPE)
        else:
            speech.null(out)


def _is_there(plan: Plan, kind: int, at: int) -> bool:
    if kind == NO_KEY:
        return False
    if kind == QUEUES:
        return Cardinality(at).queues(plan) != []
    seen = plan.seen(at)
    return seen.there and (kind == HASH or seen.length > 0)


def _look(speech: Speech, plan: Plan, names: list[bytes]) -> tuple[list[int], list[int]]:
    keys = [speech.keys.read(name) for name in names]
    places = [int(_names(plan) if key.kind == QUEUES else plan.glance(key.queue)) for key in keys]
    return [int(key.kind) for key in keys], places


def exists(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    kinds, places = _look(speech, plan, words[1:])
    return Present(kinds, places)


def type_of(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    kinds, places = _look(speech, plan, words[1:2])
    return Type(kinds, places)


def ttl(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    kinds, places = _look(speech, plan, words[1:2])
    return Lifetime(kinds, places)


def get(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    kinds, places = _look(speech, plan, words[1:2])
    return Plain(kinds, places)


class Matching(Everywhere):
    """KEYS and SCAN."""

    def __init__(self, at: i64, pattern: bytes, type_name: bytes, scanned: bool) -> None:
        super().__init__(at)
        self._pattern: bytes = pattern
        self._type: bytes = type_name
        self._scanned: bool = scanned

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        keys = [name for name in self.keys(plan, speech) if self._matches(name, speech)]
        if self._scanned:
            out.write(b"*2\r\n$1\r\n0\r\n")
        resp.write_array(out, len(keys))
        for name in keys:
            resp.write_bulk(out, name)

    def _matches(self, name: bytes, speech: Speech) -> bool:
        if self._type and TYPES.get(speech.keys.read(name).kind) != self._type:
            return False
        return self._pattern == b"*" or matches(self._pattern, name)


def matches(pattern: bytes, name: bytes) -> bool:
    """A glob, as Redis has them."""
    text = pattern.decode("latin-1").replace("[^", "[!")
    return compile(translate(text), DOTALL).match(name.decode("latin-1")) is not None


def keys(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    return Matching(_names(plan), words[1], b"", False)


def scan(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    pattern, type_name = b"*", b""
    for at in range(2, len(words) - 1, 2):
        option = words[at].upper()
        if option == b"MATCH":
            pattern = words[at + 1]
        elif option == b"TYPE":
            type_name = words[at + 1].lower()
        elif option != b"COUNT":
            raise Refused(SYNTAX)
    if len(words) % 2 or not words[1].isdigit():
        raise Refused(b"ERR invalid cursor" if not words[1].isdigit() else SYNTAX)
    return Matching(_names(plan), pattern, type_name, True)


class Size(Everywhere):
    """DBSIZE."""

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        resp.write_number(out, len(self.keys(plan, speech)))


def dbsize(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    return Size(_names(plan))
