"""RSMQ's hash of a queue, `rsmq:<queue>:Q`: attributes, totals, and the bodies and counters of its messages.

Fields are made from what the engine knows when they are asked for; none is kept.
"""

from __future__ import annotations

from typing import Final

from librt.strings import BytesWriter
from mypy_extensions import i64

from penstock.codecs import resp
from penstock.codecs.rsmq_keys import HASH, NO_KEY
from penstock.dialects.rsmq_plan import (
    TOO_MANY,
    WRONG_TYPE,
    Nothing,
    Nothings,
    Plan,
    Refused,
    Several,
    Speech,
    Step,
    Words,
    everything,
    message_call,
)
from penstock.model.contract import FIND
from penstock.model.limits import COMMAND_MAX, LISTED_MAX, NEVER_US, SECOND_US
from penstock.model.views import Glance, MessageView

# Attributes, in the order in which the hash shows them.
VT: Final[i64] = 1
DELAY: Final[i64] = 2
MAXSIZE: Final[i64] = 3
CREATED: Final[i64] = 4
MODIFIED: Final[i64] = 5
TOTALSENT: Final[i64] = 6
TOTALRECV: Final[i64] = 7
ATTRIBUTES: Final = {
    b"vt": VT,
    b"delay": DELAY,
    b"maxsize": MAXSIZE,
    b"created": CREATED,
    b"modified": MODIFIED,
    b"totalsent": TOTALSENT,
    b"totalrecv": TOTALRECV,
}

VT_S: Final[i64] = 30  # where nobody says how long
VT_MAX_S: Final[i64] = 9_999_999
_ENDING_BYTES: Final = 3
COUNTED: Final = b":rc"
FIRST: Final = b":fr"


def attribute(seen: Glance, which: i64) -> i64:
    """-1: it has none; but of a maximum, that there is none."""
    if which == VT:
        if seen.lease_us < 0:
            return VT_S
        return VT_MAX_S if seen.lease_us >= NEVER_US else seen.lease_us // SECOND_US
    if which == DELAY:
        return seen.delay_us // SECOND_US
    if which == MAXSIZE:
        return seen.max_body if seen.max_body > 0 else -1
    if which == CREATED:
        return seen.created_us // SECOND_US
    if which == MODIFIED:
        return seen.modified_us // SECOND_US
    total = seen.published if which == TOTALSENT else seen.delivered
    return total if total > 0 else -1


def _has(seen: Glance, which: i64) -> bool:
    return seen.there and (which <= MODIFIED or attribute(seen, which) > 0)


def _field_of(view: MessageView, ending: bytes) -> bytes | None:
    """The value of a message's field; None: it has none yet."""
    if ending == COUNTED:
        return b"%d" % view.deliveries if view.deliveries else None
    if ending == FIRST:
        return b"%d" % (view.first_leased_us // 1_000) if view.first_leased_us else None
    return view.body


def parted(field: bytes) -> tuple[bytes, bytes]:
    """A message's id, and which of its fields."""
    ending = field[-_ENDING_BYTES:]
    if ending in (COUNTED, FIRST):
        return field[:-_ENDING_BYTES], ending
    return field, b""


# -- reading


class Attributes(Step):
    """HMGET of attributes alone, as every client asks before whatever it does."""

    def __init__(self, at: i64, names: list[bytes]) -> None:
        self._at: i64 = at
        self._names: list[bytes] = names

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        seen = plan.seen(self._at)
        names = self._names
        resp.write_array(out, len(names) - 2)
        for at in range(2, len(names)):
            which = ATTRIBUTES[names[at]]
            if _has(seen, which):
                resp.write_decimal(out, attribute(seen, which))
            else:
                speech.null(out)


class Field(Step):
    """HGET: one field, be it an attribute's or a message's."""

    def __init__(self, at: i64, which: i64, ending: bytes) -> None:
        self.at: i64 = at
        self.which: i64 = which  # 0: a message's
        self.ending: bytes = ending

    def value(self, plan: Plan) -> bytes | None:
        if self.which == 0:
            view = plan.found(self.at)
            return None if view is None else _field_of(view, self.ending)
        seen = plan.seen(self.at)
        return b"%d" % attribute(seen, self.which) if _has(seen, self.which) else None

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        value = self.value(plan)
        if value is None:
            speech.null(out)
        else:
            resp.write_bulk(out, value)


class Exists(Step):
    """HEXISTS."""

    def __init__(self, field: Field) -> None:
        self._field: Field = field

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        resp.write_number(out, 0 if self._field.value(plan) is None else 1)


class Size(Step):
    """HSTRLEN."""

    def __init__(self, field: Field) -> None:
        self._field: Field = field

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        resp.write_number(out, len(self._field.value(plan) or b""))


# What of a whole hash is asked for.
ALL: Final[i64] = 0
NAMES_ONLY: Final[i64] = 1
VALUES_ONLY: Final[i64] = 2
HOW_MANY: Final[i64] = 3
SCANNED: Final[i64] = 4


class Whole(Step):
    """HGETALL and what is like it. A place of -1: of nothing."""

    def __init__(self, at: i64, listed: i64, part: i64) -> None:
        self._at: i64 = at
        self._listed: i64 = listed
        self._part: i64 = part

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        fields: list[tuple[bytes, bytes]] = []
        if self._at >= 0:
            seen = plan.seen(self._at)
            views = plan.listed(self._listed)
            if seen.length > LISTED_MAX or sum([len(view.body) for view in views]) > COMMAND_MAX:
                resp.write_error(out, TOO_MANY)
                return
            fields = _all_fields(seen, views, speech)
        part = self._part
        if part == HOW_MANY:
            resp.write_number(out, len(fields))
            return
        if part == ALL:
            speech.pairs(out, len(fields))
        elif part == SCANNED:
            out.write(b"*2\r\n$1\r\n0\r\n")
            resp.write_array(out, 2 * len(fields))
        else:
            resp.write_array(out, len(fields))
        for name, value in fields:
            if part != VALUES_ONLY:
                resp.write_bulk(out, name)
            if part != NAMES_ONLY:
                resp.write_bulk(out, value)


def _all_fields(seen: Glance, views: list[MessageView], speech: Speech) -> list[tuple[bytes, bytes]]:
    """In the order in which they come to be in a queue with one message."""
    bodies = [(speech.id_of(view), view.body) for view in views]
    shown = [(name, b"%d" % attribute(seen, which)) for name, which in ATTRIBUTES.items() if _has(seen, which)]
    fields = shown[: int(MODIFIED)] + bodies + shown[int(MODIFIED) :]
    for (name, _), view in zip(bodies, views, strict=True):
        for ending in (COUNTED, FIRST):
            value = _field_of(view, ending)
            if value is not None:
                fields.append((name + ending, value))
    return fields


def hmget(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    key = speech.keys.read(words[1])
    if key.kind == NO_KEY:
        return Nothings(len(words) - 2)
    if key.kind != HASH:
        raise Refused(WRONG_TYPE)
    for at in range(2, len(words)):
        if words[at] not in ATTRIBUTES:
            return Several([_field(speech, plan, key.queue, field) for field in words[2:]])
    return Attributes(plan.glance(key.queue), words)


def hget(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    queue = hash_of(speech, words)
    return Nothing() if queue is None else _field(speech, plan, queue, words[2])


def hexists(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    queue = hash_of(speech, words)
    return Words(b":0\r\n") if queue is None else Exists(_field(speech, plan, queue, words[2]))


def hstrlen(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    queue = hash_of(speech, words)
    return Words(b":0\r\n") if queue is None else Size(_field(speech, plan, queue, words[2]))


def _field(speech: Speech, plan: Plan, queue: bytes, field: bytes) -> Field:
    which = ATTRIBUTES.get(field, 0)
    if which != 0:
        return Field(plan.glance(queue), which, b"")
    name, ending = parted(field)
    return Field(plan.look(message_call(FIND, queue, name, speech)), 0, ending)


def hash_of(speech: Speech, words: list[bytes]) -> bytes | None:
    """The queue whose hash that is; None: nobody's."""
    key = speech.keys.read(words[1])
    if key.kind not in (HASH, NO_KEY):
        raise Refused(WRONG_TYPE)
    return key.queue if key.kind == HASH else None


def _whole(speech: Speech, plan: Plan, words: list[bytes], part: i64) -> Step:
    queue = hash_of(speech, words)
    if queue is None:
        return Whole(-1, -1, part)
    at = plan.glance(queue)
    return Whole(at, plan.look(everything(queue)), part)


def hgetall(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    return _whole(speech, plan, words, ALL)


def hkeys(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    return _whole(speech, plan, words, NAMES_ONLY)


def hvals(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    return _whole(speech, plan, words, VALUES_ONLY)


def hlen(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    return _whole(speech, plan, words, HOW_MANY)


def hscan(speech: Speech, plan: Plan, words: list[bytes]) -> Step:
    return _whole(speech, plan, words, SCANNED)
