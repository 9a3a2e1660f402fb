"""Rows of a segment as a table of the archive, by whole arrays. Only what is rare is looked at one by one: facts of
queues and of the server, and what came with a publish beyond the ordinary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.codecs import names
from penstock.codecs.facts import RECORD_BYTES
from penstock.history.extras import origin_columns, text
from penstock.history.queues import QueueNames, matches
from penstock.history.records import CODES, BadRow
from penstock.history.rows import Mask, Rows
from penstock.history.schema import SCHEMA
from penstock.model import facts
from penstock.model.limits import NEVER_US

Columns = dict[str, Any]

_QUEUE_FACTS: Final = tuple(int(kind) for kind in range(facts.DECLARED, facts.RESUMED + 1))
_MESSAGE_FACTS: Final = tuple(int(kind) for kind in range(facts.PUBLISHED, facts.DELETED + 1))
_LATER_FACTS: Final = _MESSAGE_FACTS[1:]
_NOTED_FACTS: Final = (facts.STARTED, facts.WOKEN, facts.DECLARED, facts.SET)


class Words:
    """What numbers are called, and the queues (names, or prefixes with a `*`) whose bodies are left out."""

    def __init__(self, dialects: Mapping[int, str], without_bodies: tuple[bytes, ...] = ()) -> None:
        self.facts = _by_code(facts.FACT_NAMES)
        self.reasons = _by_code(facts.REASON_NAMES)
        self.dialects = _by_code(dialects)
        self.without_bodies = without_bodies


def _by_code(known: Mapping[int, str]) -> pa.Array:
    return pa.array([known.get(code, str(code)) for code in range(CODES)])


def table_of(rows: Rows, queues: QueueNames, words: Words) -> pa.Table:
    """Tells `queues` of the queues that come and go in these rows. Raises BadRow."""
    for row in np.flatnonzero(rows.among(*_QUEUE_FACTS)):
        queues.tell(int(rows["kind"][row]), int(rows["queue"][row]), rows.key(int(row)))
    columns = _numbers(rows) | _times(rows) | _flags(rows) | _named(rows, words)
    columns |= _queue_columns(rows, queues, words.without_bodies) | {"note": _notes(rows)}
    origins = origin_columns(rows)
    columns |= origins | {"attempt": pc.coalesce(origins["attempt"], pa.array(columns["attempt"]))}
    return pa.Table.from_arrays([_array(columns[field.name], field) for field in SCHEMA], schema=SCHEMA)


def _array(values: Any, field: pa.Field) -> pa.Array:
    return values if isinstance(values, pa.Array) else pa.array(values, field.type)


def _numbers(rows: Rows) -> Columns:
    published = rows.among(facts.PUBLISHED)
    return {
        "seq": np.arange(rows.first, rows.first + len(rows)),
        "at_us": rows.at_us,
        "message_seq": np.where(rows.among(*_MESSAGE_FACTS), rows["message"], 0),
        "queue_id": rows["queue"].astype(np.int64),
        "attempt": np.where(rows.among(*_LATER_FACTS), rows["number"], 0).astype(np.int32),
        "priority": pa.array(rows["number"], mask=~published),
        "size": np.where(published, rows["body"], 0).astype(np.int32),
        "holder": rows["holder"],
        "journal_bytes": (RECORD_BYTES + rows.heap_bytes).astype(np.int32),
        "segment": np.full(len(rows), rows.segment),
    }


def _times(rows: Rows) -> Columns:
    """Of an extended message the length of the lease tells whether it was leased. What never comes is null."""
    published, extended = rows.among(facts.PUBLISHED), rows.among(facts.EXTENDED)
    leased = rows.among(facts.LEASED) | (extended & (rows["lease_us"] != 0))
    ready = published | rows.among(facts.RELEASED) | (extended & ~leased)
    ends = rows["due_us"] < NEVER_US
    return {
        "due_at_us": pa.array(rows["due_us"], mask=~ready),
        "until_us": pa.array(rows["due_us"], mask=~(leased & ends)),
        "expires_at_us": pa.array(rows["expires_us"], mask=~(published & (rows["expires_us"] < NEVER_US))),
        "lease_us": pa.array(rows["lease_us"], mask=~((leased & ends) | (published & (rows["lease_us"] >= 0)))),
    }


def _flags(rows: Rows) -> Columns:
    flags = rows["flags"]
    return {
        "parked": (flags & facts.PARKED_FLAG) != 0,
        "failure": (flags & facts.FAILURE_FLAG) != 0,
        "old_place": (flags & facts.OLD_PLACE_FLAG) != 0,
    }


def _named(rows: Rows, words: Words) -> Columns:
    return {
        "fact_code": rows["kind"].astype(np.int8),
        "fact": _called(rows["kind"], words.facts),
        "dialect_code": rows["dialect"].astype(np.int16),
        "dialect": _called(rows["dialect"], words.dialects),
        "reason_code": rows["reason"].astype(np.int8),
        "reason": _called(rows["reason"], words.reasons),
    }


def _called(codes: Any, words: pa.Array) -> pa.Array:
    """Only the words that occur, in the order of their codes."""
    there = np.bincount(codes, minlength=CODES) > 0
    places = (np.cumsum(there) - 1).astype(np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(places[codes]), words.filter(pa.array(there)))


def _queue_columns(rows: Rows, queues: QueueNames, without_bodies: tuple[bytes, ...]) -> Columns:
    ids = pa.array(rows["queue"]).dictionary_encode()
    found = [_name(rows, queues, queue_id) for queue_id in ids.dictionary.to_pylist()]
    silent = np.array([name is not None and matches(name, without_bodies) for name in found])
    places = ids.indices.to_numpy()
    nowhere = rows["queue"] == 0
    published = rows.among(facts.PUBLISHED)
    keyed = (rows["key"] > 0) | ((rows["flags"] & facts.KEYED_FLAG) != 0)
    shown = pa.array(["" if name is None else names.show(name) for name in found], pa.string())
    return {
        "queue": pa.DictionaryArray.from_arrays(pa.array(places, mask=nowhere), shown),
        "key": rows.keys(published & keyed),
        "body": rows.bodies(published & ~silent[places]),
    }


def _name(rows: Rows, queues: QueueNames, queue_id: int) -> bytes | None:
    if queue_id == 0:
        return None
    if queue_id not in queues.known:
        row = int(np.flatnonzero(rows["queue"] == queue_id)[0])
        raise BadRow(rows.first + row, f"speaks of queue {queue_id}, which is not there")
    return queues.known[queue_id]


def _notes(rows: Rows) -> pa.Array:
    where: Mask = rows.among(*_NOTED_FACTS) & (rows["body"] > 0)
    if not where.any():
        return pa.nulls(len(rows), pa.string())
    told = [text(rows.body(int(row))) for row in np.flatnonzero(where)]
    return pa.array(told).take(pa.array(np.cumsum(where) - 1, mask=~where))
