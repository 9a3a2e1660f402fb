"""Facts as people and programs read them: the admin API's shape, more of it for a dump, and one line of details.

The names of queues are learnt on the way, so a dump is given every fact there is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from penstock.cli import durations
from penstock.cli.output import bytes_fields, field_cell, printable, shortened, with_iso
from penstock.codecs import names
from penstock.codecs.facts import Fact, decode_origin
from penstock.codecs.ids import Ids
from penstock.dialects import table
from penstock.model import facts
from penstock.model.message import Origin
from penstock.server.shapes import fact_shape

TIMES: Final = ("at_us", "ready_us", "expires_us", "until_us", "due_us", "first_leased_us")

# How the kinds look on a terminal.
STYLES: Final = {"finished": "green", "released": "yellow", "dropped": "red", "expired": "red", "deleted": "red"}

_OF_SERVER: Final = (facts.STARTED, facts.WOKEN)
_OF_QUEUE: Final = (facts.DECLARED, facts.SET, facts.REMOVED, facts.PAUSED, facts.RESUMED)


class FactShapes:
    """Facts of a whole journal as JSON. Without `ids`, messages have only their numbers."""

    def __init__(self, ids: Ids | None, queues: Mapping[int, bytes] | None = None) -> None:
        """`queues`: names of those that were declared before the first fact."""
        self._ids = ids
        self._queues: dict[int, bytes] = dict(queues or {})

    def shape(self, fact: Fact) -> dict[str, Any]:
        if fact.kind in _OF_SERVER:
            shape = self._of_server(fact)
        elif fact.kind in _OF_QUEUE:
            shape = self._of_queue(fact)
        else:
            shape = self._of_message(fact)
        return with_iso(shape, *TIMES)

    def learn(self, fact: Fact) -> None:
        if fact.kind == facts.DECLARED:
            self._queues[fact.queue_id] = fact.key or b""

    def _of_server(self, fact: Fact) -> dict[str, Any]:
        return {**_head(fact), "next_message_number": fact.message, "note": json.loads(fact.body or b"null")}

    def _of_queue(self, fact: Fact) -> dict[str, Any]:
        policy = json.loads(fact.body or b"{}")
        return {**_head(fact), "queue": names.show(fact.key or b""), "policy": policy}

    def _of_message(self, fact: Fact) -> dict[str, Any]:
        shape: dict[str, Any] = fact_shape(fact, self._queues.get(fact.queue_id, b""))
        shape |= {"message": self._id(fact.message), "message_number": fact.message, "lease_us": _said(fact.lease_us)}
        return shape | self._published(fact) if fact.kind == facts.PUBLISHED else shape

    def _published(self, fact: Fact) -> dict[str, Any]:
        key = {} if fact.key is None else bytes_fields("key", fact.key)
        parked = bool(fact.flags & facts.PARKED_FLAG)
        return {"parked": parked, **key, **bytes_fields("body", fact.body), **self._origin(decode_origin(fact.extra))}

    def _origin(self, origin: Origin | None) -> dict[str, Any]:
        if origin is None:
            return {}
        texts = {field: getattr(origin, field) for field in ("dedup_id", "foreign_id", "trace", "principal", "mark")}
        found: dict[str, Any] = {}
        for field, value in texts.items():
            found |= bytes_fields(field, value) if value else {}
        if origin.dead_of:
            found["dead_of"] = self._id(origin.dead_of) or str(origin.dead_of)
        if origin.dead_from is not None:
            found["dead_from"] = names.show(origin.dead_from)
        if origin.deliveries:
            found |= {"deliveries": origin.deliveries, "first_leased_us": origin.first_leased_us or None}
        if origin.row:
            found["row"] = origin.row
        return found

    def _id(self, seq: int) -> str | None:
        return None if self._ids is None else self._ids.show(seq).decode()


def _head(fact: Fact) -> dict[str, Any]:
    dialect = table.NAMES.get(fact.dialect, str(fact.dialect))
    return {"fact": fact.seq, "at_us": fact.at_us, "kind": facts.FACT_NAMES[fact.kind], "dialect": dialect}


def _said(us: int) -> int | None:
    return us if us >= 0 else None


# -- one line of details, from the shape

# field -> its word
_DISTANCES: Final = {
    "ready_us": "ready after",
    "until_us": "for",
    "due_us": "due after",
    "expires_us": "expires after",
}
_PLAIN: Final = {"priority": "priority", "deliveries": "delivery", "holder": "holder", "row": "row"}
_MARKS: Final = {"parked": "parked", "failure": "counted as a failure"}
_BYTES: Final = {
    "key": "key",
    "dedup_id": "dedup id",
    "foreign_id": "foreign id",
    "principal": "principal",
    "mark": "of",
    "dead_of": "dead of",
    "dead_from": "dropped from",
    "body": "body",
}


def details(shape: Mapping[str, Any]) -> str:
    """What is worth knowing of a fact beside its kind, times as distances from the fact."""
    return ", ".join(_details(shape))


def _details(shape: Mapping[str, Any]) -> Iterator[str]:
    for name, words in _DISTANCES.items():
        yield from _distance(shape, name, words)
    yield from [f"{words} {shape[name]}" for name, words in _PLAIN.items() if shape.get(name)]
    yield from [words for name, words in _MARKS.items() if shape.get(name)]
    for name, words in _BYTES.items():
        if name in shape or f"{name}64" in shape:
            yield f"{words} {shortened(field_cell(shape, name))}"
    for name in ("policy", "note"):
        if shape.get(name):
            yield printable(json.dumps(shape[name], ensure_ascii=False))


def _distance(shape: Mapping[str, Any], name: str, words: str) -> Iterator[str]:
    us = shape.get(name)
    if us is not None and us > shape["at_us"]:
        yield f"{words} {durations.show(us - shape['at_us'])}"
