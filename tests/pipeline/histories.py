"""Histories that could have happened: facts as plain dictionaries, written as an archive the way the archivist does."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.dialects.table import NAMES
from penstock.history import schema
from penstock.model import facts
from penstock.model.facts import FACT_NAMES, REASON_NAMES

Fact = dict[str, Any]

STORE: Final = "00112233445566778899aabbccddeeff"
# A quarter of an hour before midnight: histories cross a day.
BEGIN_US: Final = int(datetime(2026, 1, 1, 23, 45, tzinfo=UTC).timestamp()) * 1_000_000
SECOND: Final = 1_000_000
ADMIN: Final = 100
GLOVEBOX: Final = 4


class Live:
    """A message on its way."""

    def __init__(self, seq: int, queue: int, due_us: int, parked: bool, expires_us: int | None) -> None:
        self.seq, self.queue, self.due_us, self.parked, self.expires_us = seq, queue, due_us, parked, expires_us
        self.attempt = 0
        self.holder: int | None = None
        self.leased = False


class History:
    """Something happens at each call; `facts` is what the journal would say of it."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.now_us = BEGIN_US
        self.queues: dict[int, str] = {}
        self.live: dict[int, Live] = {}
        self.next_message = 1 << 32
        self.note(facts.STARTED, note='{"version": 1}')

    def note(self, code: int, **columns: Any) -> Fact:
        """One fact. What is not said is as the archivist leaves it."""
        fact: Fact = {
            "seq": len(self.facts) + 1,
            "at_us": self.now_us,
            "fact_code": int(code),
            "message_seq": 0,
            "queue_id": 0,
            "dialect_code": 0,
            "reason_code": 0,
            "attempt": 0,
            "parked": False,
            "failure": False,
            "old_place": False,
            "size": 0,
            "holder": 0,
        } | columns
        fact["queue"] = self.queues.get(fact["queue_id"])
        fact["fact"] = FACT_NAMES[fact["fact_code"]]
        fact["dialect"] = NAMES[fact["dialect_code"]]
        fact["reason"] = REASON_NAMES[fact["reason_code"]]
        fact["journal_bytes"] = 64 + fact["size"] + len(fact.get("key") or b"")
        self.facts.append(fact)
        return fact

    def pass_(self, us: int) -> None:
        self.now_us += us

    def declare(self, name: str) -> int:
        number = max(self.queues, default=0) + 1
        self.queues[number] = name
        self.note(facts.DECLARED, queue_id=number, dialect_code=ADMIN, note="{}")
        return number

    def remove(self, queue: int) -> None:
        for message in [message for message in self.live.values() if message.queue == queue]:
            self.delete(message, facts.QUEUE_REMOVED)
        self.note(facts.REMOVED, queue_id=queue, dialect_code=ADMIN)

    def publish(
        self,
        queue: int,
        body: bytes = b"",
        delay_us: int = 0,
        ttl_us: int | None = None,
        parked: bool = False,
        dialect: int = 3,
        **columns: Any,
    ) -> Live:
        expires_us = None if ttl_us is None else self.now_us + ttl_us
        message = Live(self.next_message, queue, self.now_us + delay_us, parked, expires_us)
        self.next_message += 1
        self.live[message.seq] = message
        self.note(
            facts.PUBLISHED,
            message_seq=message.seq,
            queue_id=queue,
            dialect_code=dialect,
            due_at_us=message.due_us,
            expires_at_us=expires_us,
            parked=parked,
            body=body,
            size=len(body),
            **{"priority": 0} | columns,
        )
        return message

    def _moved(self, code: int, message: Live, reason: int = 0, dialect: int = 3, **columns: Any) -> Fact:
        return self.note(
            code,
            message_seq=message.seq,
            queue_id=message.queue,
            attempt=message.attempt,
            reason_code=int(reason),
            dialect_code=dialect,
            **columns,
        )

    def lease(self, message: Live, lease_us: int | None = 30 * SECOND, holder: int = 0, dialect: int = 3) -> None:
        message.attempt += 1
        message.leased = True
        until_us = None if lease_us is None else self.now_us + lease_us
        self._moved(facts.LEASED, message, 0, dialect, until_us=until_us, lease_us=lease_us, holder=holder)

    def take(self, message: Live) -> None:
        message.attempt += 1
        self._end(facts.FINISHED, message, facts.TAKEN)

    def finish(self, message: Live) -> None:
        self._end(facts.FINISHED, message, facts.ACKNOWLEDGED)

    def release(self, message: Live, reason: int = facts.RETURNED, delay_us: int = 0) -> None:
        message.leased = False
        message.due_us = self.now_us + delay_us
        failure = reason != facts.RETURNED
        dialect = 0 if reason == facts.TIMED_OUT else 3
        self._moved(facts.RELEASED, message, reason, dialect, due_at_us=message.due_us, failure=failure)

    def extend(self, message: Live, us: int) -> None:
        due_us = self.now_us + us
        if message.leased:
            self._moved(facts.EXTENDED, message, until_us=due_us, lease_us=us)
        else:
            message.due_us = due_us
            self._moved(facts.EXTENDED, message, due_at_us=due_us)

    def drop(self, message: Live, dead: int | None = None) -> Live | None:
        self._end(facts.DROPPED, message, facts.TIMED_OUT, 0, failure=True)
        if dead is None:
            return None
        return self.publish(dead, b"dead", dead_of=message.seq, dead_from=self.queues[message.queue])

    def expire(self, message: Live) -> None:
        self._end(facts.EXPIRED, message, 0, 0)

    def delete(self, message: Live, reason: int = facts.DELETED_ONE) -> None:
        self._end(facts.DELETED, message, reason, ADMIN)

    def _end(self, code: int, message: Live, reason: int, dialect: int = 3, **columns: Any) -> None:
        del self.live[message.seq]
        self._moved(code, message, reason, dialect, **columns)


def random_history(seed: int, steps: int) -> History:
    """Everything that can happen, in any order that can be."""
    rng = random.Random(seed)
    history = History()
    queues = [history.declare(name) for name in ("orders", "mails", "orders.dead")]
    for _ in range(steps):
        history.pass_(rng.choice((0, 0, 1, 250, 40_000, 3 * SECOND, 20 * SECOND)))
        _step(rng, history, queues)
    return history


def _step(rng: random.Random, history: History, queues: Sequence[int]) -> None:
    waiting = [message for message in history.live.values() if not message.leased]
    leased = [message for message in history.live.values() if message.leased]
    ready = [message for message in waiting if message.due_us <= history.now_us]
    move = rng.random()
    if move < 0.35 or not history.live:
        _publish(rng, history, queues)
    elif move < 0.60 and any(not message.parked for message in ready):
        chosen = rng.choice([message for message in ready if not message.parked])
        holder = rng.choice((0, 7, 8, 9))
        history.lease(chosen, rng.choice((None, SECOND, 30 * SECOND)), holder, GLOVEBOX if holder else 3)
    elif move < 0.90 and leased:
        _work(rng, history, rng.choice(leased), queues)
    elif waiting:
        _disturb(rng, history, rng.choice(waiting))


def _publish(rng: random.Random, history: History, queues: Sequence[int]) -> None:
    body = rng.randbytes(rng.choice((0, 1, 20, 300)))
    history.publish(
        rng.choice(queues[:2]),
        body,
        rng.choice((0, 0, 0, 5 * SECOND, 90 * SECOND)),
        rng.choice((None, None, 600 * SECOND)),
        rng.random() < 0.05,
        rng.choice((1, 2, 3, 4)),
        priority=rng.choice((0, 0, 5)),
        principal=rng.choice((None, None, "ada", "grace")),
        key=rng.choice((None, b"", b"k\x00\xff")),
    )


def _work(rng: random.Random, history: History, message: Live, queues: Sequence[int]) -> None:
    move = rng.random()
    if move < 0.55:
        history.finish(message)
    elif move < 0.65:
        history.release(message, facts.RETURNED, rng.choice((0, 5 * SECOND)))
    elif move < 0.80:
        history.release(message, rng.choice((facts.TIMED_OUT, facts.FAILED)), rng.choice((0, 30 * SECOND)))
    elif move < 0.88:
        history.extend(message, rng.choice((1, 10 * SECOND)))
    elif move < 0.94 and message.queue != queues[2]:
        history.drop(message, queues[2])
    else:
        rng.choice((history.expire, history.delete))(message)


def _disturb(rng: random.Random, history: History, message: Live) -> None:
    move = rng.random()
    if move < 0.3 and not message.parked:
        history.extend(message, rng.choice((0, 5 * SECOND, 70 * SECOND)))
    elif move < 0.5 and message.due_us <= history.now_us:
        history.take(message)
    elif move < 0.7:
        history.expire(message)
    elif move < 0.85:
        history.delete(message, rng.choice((facts.DELETED_ONE, facts.PURGED)))
    else:
        history.finish(message)


def cut(rows: Sequence[Fact], *sizes: int) -> list[Sequence[Fact]]:
    """Facts as segments: so many in each, the rest in the last."""
    pieces, at = [], 0
    for size in sizes:
        pieces.append(rows[at : at + size])
        at += size
    return [piece for piece in (*pieces, rows[at:]) if piece]


def write_archive(archive: Path, segments: Iterable[Sequence[Fact]], first_number: int = 1) -> list[Path]:
    return [write_segment(archive, number, rows) for number, rows in enumerate(segments, first_number)]


def write_segment(archive: Path, number: int, rows: Sequence[Fact], store: str = STORE) -> Path:
    first = rows[0]
    date = datetime.fromtimestamp(first["at_us"] / 1e6, UTC).date().isoformat()
    path = archive / f"date={date}" / f"{first['seq']:020}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = [[number if name == "segment" else row.get(name) for row in rows] for name in schema.SCHEMA.names]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema.SCHEMA, strict=True)]
    counts: dict[str, int] = {}
    for row in rows:
        counts[str(row["fact_code"])] = counts.get(str(row["fact_code"]), 0) + 1
    said = {
        schema.VERSION_KEY: b"%d" % schema.VERSION,
        schema.STORE_KEY: store.encode(),
        schema.SEGMENT_KEY: b"%d" % number,
        schema.FIRST_KEY: b"%d" % first["seq"],
        schema.LAST_KEY: b"%d" % rows[-1]["seq"],
        schema.FIRST_AT_KEY: b"%d" % first["at_us"],
        schema.LAST_AT_KEY: b"%d" % rows[-1]["at_us"],
        schema.COUNTS_KEY: msgspec.json.encode(counts),
        schema.QUEUES_KEY: b"{}",
    }
    table = pa.Table.from_arrays(arrays, schema=schema.SCHEMA.with_metadata(said))
    pq.write_table(table, path, row_group_size=1_000)
    return path
