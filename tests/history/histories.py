"""Journals for the archivist, and what the archive must say of them: a plain reading, fact by fact."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import pyarrow.parquet as pq
from hypothesis import strategies as st

from penstock.codecs import names
from penstock.codecs.facts import Fact, FactBatch, decode_origin
from penstock.history.columns import Words
from penstock.history.schema import SCHEMA
from penstock.journal import check
from penstock.journal.disk import Disk
from penstock.journal.journal import Journal
from penstock.model import facts
from penstock.model.limits import DAY_US, NEVER_US, PRIORITY_MAX, PRIORITY_MIN
from penstock.model.message import Message, Origin
from tests.history.simshelves import SimShelves
from tests.journal.simdisk import SimDisk

STORE_ID = b"the archive's id"
START_US = 1_700_000_000_000_000
SEGMENT_BYTES = 4_096
LENGTHS = (0, 1, 30_000_000)
DIALECTS = {0: "server", 1: "etzel", 4: "deferred", 100: "admin"}
WORDS = Words(DIALECTS)

KINDS = list(facts.FACT_NAMES)


def batches() -> st.SearchStrategy[list[FactBatch]]:
    """Histories by chance: drawing each number of each fact from hypothesis would take all the time there is."""
    return st.builds(history, st.randoms(use_true_random=True), st.integers(1, 60))


def history(chance: Random, size: int) -> list[FactBatch]:
    """So many facts of every kind in any order, as long as a queue is there when it is spoken of."""
    made = [FactBatch()]
    queues: list[int] = []
    for number in range(1, size + 1):
        kind = chance.choice(KINDS) if queues else facts.DECLARED
        if kind == facts.DECLARED:
            queues.append(number)
        queue_id = number if kind == facts.DECLARED else chance.choice(queues)
        if kind == facts.REMOVED:
            queues.remove(queue_id)
        add(chance, made[-1], kind, queue_id)
        if chance.random() < 0.4:
            made.append(FactBatch())
    return made if made[-1].count else made[:-1]


def add(chance: Random, batch: FactBatch, kind: int, queue_id: int) -> None:
    if kind in (facts.STARTED, facts.WOKEN):
        batch.server_changed(kind, chance.getrandbits(60), chance.choice([b"", b'{"clean":true}']))
    elif kind < facts.PUBLISHED:
        batch.queue_changed(kind, queue_id, 4, some_bytes(chance), chance.choice([b"", b"{}"]))
    elif kind == facts.PUBLISHED:
        batch.published(message(chance, queue_id))
    else:
        dialect, reason, flags = chance.choice([*DIALECTS]), chance.randint(0, 8), chance.randint(0, 12)
        due_us, lease_us = chance.choice([some_time(chance), int(NEVER_US)]), chance.choice(LENGTHS)
        batch.moved(kind, message(chance, queue_id), dialect, reason, flags, due_us, lease_us, some_number(chance))


def message(chance: Random, queue_id: int) -> Message:
    made = Message(chance.getrandbits(60), queue_id, some_bytes(chance), START_US, some_time(chance))
    made.key = chance.choice([None, some_bytes(chance)])
    made.priority = chance.choice([0, PRIORITY_MIN, PRIORITY_MAX, 7])
    made.parked = chance.random() < 0.5
    made.expires_us = chance.choice([some_time(chance), int(NEVER_US)])
    made.lease_us = chance.choice([-1, *LENGTHS])
    made.dialect = chance.choice([*DIALECTS, 77])
    made.deliveries = chance.getrandbits(31)
    made.origin = chance.choice([None, origin(chance)])
    return made


def origin(chance: Random) -> Origin:
    made = Origin()
    made.dedup_id, made.foreign_id, made.trace = (some_bytes(chance) for _ in range(3))
    made.principal = chance.choice([b"", "anna é".encode(), b"\xff"])
    made.poster = some_number(chance)
    made.label = chance.choice([0, 1, (1 << 64) - 1, chance.getrandbits(64)])
    made.notify = chance.randint(0, 127)
    made.dead_of = chance.choice([0, chance.getrandbits(60)])
    made.dead_from = chance.choice([None, b"", some_bytes(chance)])
    made.deliveries = chance.randint(0, 9)
    return made


def some_bytes(chance: Random) -> bytes:
    return chance.choice([b"", b"plain", "100 % é".encode(), chance.randbytes(chance.randint(1, 300))])


def some_number(chance: Random) -> int:
    return chance.choice([0, 1, -1, (1 << 63) - 1, -(1 << 63), chance.getrandbits(40)])


def some_time(chance: Random) -> int:
    return START_US + chance.randint(0, 10 * int(DAY_US))


def journal_of(made: Iterable[FactBatch], segment_bytes: int = SEGMENT_BYTES, step_us: int = 1_000) -> SimDisk:
    """A journal that holds these and was closed."""
    disk = SimDisk()
    journal = Journal(disk, STORE_ID, 1, 1, START_US, segment_bytes)
    at_us = START_US
    for batch in made:
        journal.append(batch, at_us)
        at_us += step_us
    journal.close(at_us)
    return disk


def lives(count: int, first: int = 1, body: bytes = b"hello") -> list[FactBatch]:
    """Messages that were published, leased and finished, one a batch; the first batch declares their queue."""
    made = [FactBatch()]
    made[0].queue_changed(facts.DECLARED, 1, 4, b"orders", b"{}")
    for number in range(first, first + count):
        message = Message(number, 1, body, START_US, START_US)
        message.dialect = 4
        batch = FactBatch()
        batch.published(message)
        message.deliveries = 1
        batch.moved(facts.LEASED, message, 4, 0, 0, START_US + 1_000_000, 1_000_000, 7)
        batch.moved(facts.FINISHED, message, 4, facts.ACKNOWLEDGED, 0, 0, 0, 7)
        made.append(batch)
    return made


# -- what the archive must say


def rows_of(shelves: SimShelves) -> list[dict[str, Any]]:
    """Every row of an archive, in the order of its files' names."""
    files = sorted(shelves.files().items(), key=lambda file: file[0].partition("/")[2])
    return [row for _, content in files for row in read(content)]


def read(content: bytes) -> list[dict[str, Any]]:
    table = pq.read_table(io.BytesIO(content))
    assert table.schema.equals(SCHEMA)
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def told_by(journal: Disk, dialects: dict[int, str] = DIALECTS, silent: Sequence[bytes] = ()) -> list[dict[str, Any]]:
    """The rows that a journal's facts must become."""
    queues: dict[int, bytes] = {}
    segments = {info.number: range(info.first, info.last + 1) for info in check.info(journal)}
    rows = []
    for fact in check.read(journal):
        if fact.kind == facts.DECLARED:
            queues[fact.queue_id] = fact.key or b""
        segment = next(number for number, seqs in segments.items() if fact.seq in seqs)
        rows.append(row_of(fact, segment, queues.get(fact.queue_id), dialects, silent))
    return rows


def row_of(
    fact: Fact, segment: int, queue: bytes | None, dialects: dict[int, str], silent: Sequence[bytes]
) -> dict[str, Any]:
    kind = fact.kind
    published = kind == facts.PUBLISHED
    of_message = facts.PUBLISHED <= kind <= facts.DELETED
    leased = kind == facts.LEASED or (kind == facts.EXTENDED and fact.lease_us != 0)
    waits = kind in (facts.PUBLISHED, facts.RELEASED) or (kind == facts.EXTENDED and not leased)
    ends = leased and fact.due_us < NEVER_US
    noted = kind in (facts.STARTED, facts.WOKEN, facts.DECLARED, facts.SET) and fact.body
    heap_bytes = len(fact.body) + len(fact.key or b"") + len(fact.extra)
    origin = decode_origin(fact.extra) or Origin()
    row = {
        "seq": fact.seq,
        "at_us": fact.at_us,
        "fact_code": kind,
        "fact": facts.FACT_NAMES[kind],
        "message_seq": fact.message if of_message else 0,
        "queue_id": fact.queue_id,
        "queue": None if queue is None else names.show(queue),
        "dialect_code": fact.dialect,
        "dialect": dialects.get(fact.dialect, str(fact.dialect)),
        "reason_code": fact.reason,
        "reason": facts.REASON_NAMES[fact.reason],
        "attempt": origin.deliveries if published else fact.number if of_message else 0,
        "due_at_us": fact.due_us if waits else None,
        "until_us": fact.due_us if ends else None,
        "expires_at_us": fact.expires_us if published and fact.expires_us < NEVER_US else None,
        "lease_us": fact.lease_us if ends or (published and fact.lease_us >= 0) else None,
        "priority": fact.number if published else None,
        "parked": fact.flags & facts.PARKED_FLAG != 0,
        "failure": fact.flags & facts.FAILURE_FLAG != 0,
        "old_place": fact.flags & facts.OLD_PLACE_FLAG != 0,
        "key": fact.key if published else None,
        "body": fact.body if published and queue not in silent else None,
        "size": len(fact.body) if published else 0,
        "holder": fact.holder,
        "note": fact.body.decode() if noted else None,
        "journal_bytes": 64 + heap_bytes,
        "segment": segment,
    }
    return row | origin_row(origin)


def origin_row(origin: Origin) -> dict[str, Any]:
    label = origin.label - (1 << 64) if origin.label >= 1 << 63 else origin.label
    return {
        "principal": shown(origin.principal),
        "poster": origin.poster or None,
        "label": label or None,
        "notify": origin.notify or None,
        "dedup_id": shown(origin.dedup_id),
        "foreign_id": shown(origin.foreign_id),
        "trace": shown(origin.trace),
        "dead_of": origin.dead_of or None,
        "dead_from": None if origin.dead_from is None else names.show(origin.dead_from),
    }


def shown(value: bytes) -> str | None:
    if not value:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return names.show(value)
