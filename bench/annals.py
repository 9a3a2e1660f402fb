"""An archive as large as one likes, quickly: messages that are published, handed out, sometimes given back, and ended.

Written by whole arrays, file after file; what happens after a file's last moment is carried into the next.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from penstock.dialects.table import NAMES
from penstock.history import schema
from penstock.history.files import GROUP_ROWS
from penstock.model import facts
from penstock.model.facts import FACT_NAMES, REASON_NAMES

Ints = NDArray[np.int64]
Columns = dict[str, Ints]

BEGIN_US: Final = 1_767_225_600_000_000
PER_FILE: Final = 150_000  # messages published in one file, at most
STEP_US: Final = 1_000  # from one publish to the next
QUEUES: Final = 20
HOLDERS: Final = 50
WAIT_US: Final = 400_000
WORK_US: Final = 2_000_000
LEASE_US: Final = 30_000_000
AGAIN_SHARE: Final = 0.05  # given back once
DROPPED_SHARE: Final = 0.01
BODY: Final = b"a body of some length, as bodies go; " * 3
DEFERRED: Final = next(code for code, name in NAMES.items() if name == "deferred")
FACTS_PER_MESSAGE: Final = 3 + 2 * AGAIN_SHARE

_CODES: Final = {"fact_code": FACT_NAMES, "dialect_code": NAMES, "reason_code": REASON_NAMES}
_NEVER: Final = -1  # in a column that may be null


def write(archive: Path, count: int, chance: np.random.Generator) -> int:
    """At least so many facts; gives how many."""
    messages = min(PER_FILE, max(QUEUES, round(count / FACTS_PER_MESSAGE)))
    files = max(1, round(count / FACTS_PER_MESSAGE / messages + 0.5))
    carried = _declared()
    first = 1
    for number in range(1, files + 1):
        end_us = BEGIN_US + number * messages * STEP_US
        rows = _joined(carried, _lives(number, messages, chance))
        over = rows["at_us"] < end_us if number < files else np.ones(len(rows["at_us"]), bool)
        carried = {name: column[~over] for name, column in rows.items()}
        first += _write_file(archive, number, first, {name: column[over] for name, column in rows.items()})
    return first - 1


def _joined(*many: Columns) -> Columns:
    names = many[0]
    rows = {name: np.concatenate([columns[name] for columns in many]) for name in names}
    order = np.argsort(rows["at_us"], kind="stable")
    return {name: column[order] for name, column in rows.items()}


def _rows(count: int, code: int, at_us: Ints, **said: Any) -> Columns:
    blank = {
        **dict.fromkeys(("message_seq", "queue_id", "reason_code", "attempt", "failure", "size", "holder"), 0),
        **dict.fromkeys(("due_at_us", "until_us", "lease_us", "priority"), _NEVER),
    }
    columns = {"at_us": at_us, "fact_code": int(code), "dialect_code": DEFERRED} | blank | said
    return {name: np.broadcast_to(np.asarray(value, np.int64), count) for name, value in columns.items()}


def _declared() -> Columns:
    queues = np.arange(1, QUEUES + 1)
    return _rows(QUEUES, facts.DECLARED, np.full(QUEUES, BEGIN_US), queue_id=queues)


def _lives(number: int, count: int, chance: np.random.Generator) -> Columns:
    """Of the messages published in one file, whole."""
    seq = np.arange(count) + (number - 1) * count
    published = BEGIN_US + seq * STEP_US
    who = {"message_seq": seq + (1 << 32), "queue_id": 1 + (seq * 7 + number) % QUEUES}
    leased = published + chance.exponential(WAIT_US, count).astype(np.int64)
    over = leased + 1 + chance.exponential(WORK_US, count).astype(np.int64)
    again = chance.random(count) < AGAIN_SHARE
    made = [_published(who, published), _leased(who, leased, 1), _released(_some(who, again), over[again])]
    retaken = over + 1 + chance.exponential(WAIT_US, count).astype(np.int64)
    made.append(_leased(_some(who, again), retaken[again], 2))
    ended = np.where(again, retaken + WORK_US, over)
    made.append(_ended(who, ended, 1 + again.astype(np.int64), chance.random(count) < DROPPED_SHARE))
    return _joined(*made)


def _some(who: Columns, where: NDArray[np.bool_]) -> Columns:
    return {name: column[where] for name, column in who.items()}


def _published(who: Columns, at_us: Ints) -> Columns:
    return _rows(len(at_us), facts.PUBLISHED, at_us, due_at_us=at_us, priority=0, size=len(BODY), **who)


def _leased(who: Columns, at_us: Ints, attempt: int) -> Columns:
    holder = 1 + who["message_seq"] % HOLDERS
    until = {"until_us": at_us + LEASE_US, "lease_us": LEASE_US}
    return _rows(len(at_us), facts.LEASED, at_us, attempt=attempt, holder=holder, **until, **who)


def _released(who: Columns, at_us: Ints) -> Columns:
    said = {"due_at_us": at_us, "attempt": 1, "reason_code": int(facts.FAILED), "failure": 1}
    return _rows(len(at_us), facts.RELEASED, at_us, **said, **who)


def _ended(who: Columns, at_us: Ints, attempt: Ints, dropped: NDArray[np.bool_]) -> Columns:
    code = np.where(dropped, int(facts.DROPPED), int(facts.FINISHED))
    reason = np.where(dropped, int(facts.FAILED), int(facts.ACKNOWLEDGED))
    rows = _rows(len(at_us), facts.FINISHED, at_us, attempt=attempt, reason_code=reason, failure=dropped, **who)
    return rows | {"fact_code": code}


# -- the file


def _write_file(archive: Path, number: int, first: int, rows: Columns) -> int:
    count = len(rows["at_us"])
    table = pa.Table.from_arrays([_column(field, rows, number, first) for field in schema.SCHEMA], schema=schema.SCHEMA)
    folder = archive / "date=2026-01-01"
    folder.mkdir(parents=True, exist_ok=True)
    said = table.replace_schema_metadata(_metadata(number, first, rows))
    pq.write_table(said, folder / f"{first:020}.parquet", compression="zstd", row_group_size=GROUP_ROWS)
    return count


def _column(field: pa.Field, rows: Columns, number: int, first: int) -> pa.Array:
    count = len(rows["at_us"])
    made: dict[str, Callable[[], Any]] = {
        "seq": lambda: np.arange(first, first + count),
        "segment": lambda: np.full(count, number),
        "journal_bytes": lambda: 64 + rows["size"],
        "queue": lambda: _called(rows["queue_id"], {code: f"queue-{code}" for code in range(QUEUES + 1)}),
        "body": lambda: _bodies(rows["fact_code"] == int(facts.PUBLISHED)),
    }
    if field.name in made:
        return _typed(made[field.name](), field)
    if f"{field.name}_code" in _CODES:
        return _called(rows[f"{field.name}_code"], _CODES[f"{field.name}_code"])
    if field.name in rows:
        column = rows[field.name]
        return pa.array(column, mask=column == _NEVER if field.nullable else None).cast(field.type)
    if pa.types.is_boolean(field.type):
        return pa.array(np.zeros(count, bool))
    return pa.nulls(count, field.type)


def _typed(values: Any, field: pa.Field) -> pa.Array:
    return values if isinstance(values, pa.Array) else pa.array(values, field.type)


def _called(codes: Ints, names: dict[int, str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(
        pa.array(codes.astype(np.int32)), [names.get(code, str(code)) for code in range(max(names) + 1)]
    )


def _bodies(published: NDArray[np.bool_]) -> pa.Array:
    places = pa.array(np.zeros(len(published), np.int32), mask=~published)
    return pa.DictionaryArray.from_arrays(places, pa.array([BODY], pa.binary())).cast(pa.binary())


def _metadata(number: int, first: int, rows: Columns) -> dict[bytes, bytes]:
    codes, counts = np.unique(rows["fact_code"], return_counts=True)
    by_kind = {str(code): int(count) for code, count in zip(codes, counts, strict=True)}
    return {
        schema.VERSION_KEY: b"%d" % schema.VERSION,
        schema.STORE_KEY: b"00" * 16,
        schema.SEGMENT_KEY: b"%d" % number,
        schema.FIRST_KEY: b"%d" % first,
        schema.LAST_KEY: b"%d" % (first + len(rows["at_us"]) - 1),
        schema.FIRST_AT_KEY: b"%d" % rows["at_us"][0],
        schema.LAST_AT_KEY: b"%d" % rows["at_us"][-1],
        schema.COUNTS_KEY: msgspec.json.encode(by_kind),
        schema.QUEUES_KEY: b"{}",
    }
