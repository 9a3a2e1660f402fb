"""Looking at a journal from outside, be its server running or not: what is there, and whether it is sound.

This module must not change anything.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.codecs.facts import BadFact, Fact
from penstock.codecs.segments import Batch
from penstock.journal.disk import Disk
from penstock.journal.segment import (
    Damage,
    JournalDamaged,
    SegmentReader,
    facts_of,
    segment_readers,
)
from penstock.model.facts import FACT_NAMES, REASON_NAMES


class SegmentInfo:
    """One segment in a list for people. Times are 0 where there are no facts."""

    __slots__ = ("bytes", "facts", "first", "first_at_us", "last", "last_at_us", "name", "number", "sealed", "state")

    def __init__(self, reader: SegmentReader, first_at_us: int) -> None:
        self.number: int = reader.number
        self.name: str = reader.name
        self.bytes: int = len(reader.data)
        self.facts: int = reader.next_fact - reader.first
        self.first: int = reader.first
        self.last: int = reader.next_fact - 1
        self.first_at_us = first_at_us
        self.last_at_us: int = reader.last_at_us
        self.sealed: bool = reader.footer is not None
        self.state: str = _state(reader)


def info(disk: Disk) -> list[SegmentInfo]:
    """What is there, without a look into the facts."""
    found: list[SegmentInfo] = []
    for reader in segment_readers(disk, b"", shared=True):
        first_at_us = 0
        for batch in reader.batches():
            first_at_us = first_at_us or batch.at_us
        found.append(SegmentInfo(reader, first_at_us))
    return found


def verify(disk: Disk) -> list[Damage]:
    """What is wrong, the first of each segment, with every byte checked. A torn tail is marked as such."""
    problems: list[Damage] = []
    for reader in segment_readers(disk, b"", shared=True):
        reader.check()
        if reader.damage is not None:
            problems.append(reader.damage)
        elif reader.cut_bytes:
            reason = f"a torn tail of {reader.cut_bytes} bytes, to be cut at the next start"
            problems.append(Damage(reader.name, reader.at, reader.next_fact, reason, True))
    return problems


def read(disk: Disk, first: int = 1) -> Iterator[Fact]:
    """The facts from a number on. A torn tail is just the end; raises JournalDamaged where damage is reached."""
    for reader in segment_readers(disk, b"", shared=True):
        for batch in reader.batches():
            if batch.first + batch.count > first:
                yield from _facts_from(reader, batch, first)
        if reader.damage is not None:
            raise JournalDamaged(reader.damage)


def fact_row(fact: Fact) -> dict[str, object]:
    """A fact for people and JSON: names in the place of numbers, where there are some."""
    return {
        "fact": fact.seq,
        "at_us": fact.at_us,
        "kind": FACT_NAMES.get(fact.kind, str(fact.kind)),
        "flags": fact.flags,
        "dialect": fact.dialect,
        "reason": REASON_NAMES.get(fact.reason, str(fact.reason)),
        "queue": fact.queue_id,
        "message": fact.message,
        "due_us": fact.due_us,
        "expires_us": fact.expires_us,
        "lease_us": fact.lease_us,
        "number": fact.number,
        "holder": fact.holder,
        "key": fact.key,
        "body": fact.body,
        "extra": fact.extra,
    }


def _facts_from(reader: SegmentReader, batch: Batch, first: int) -> Iterator[Fact]:
    try:
        facts = facts_of(reader.data, batch)
    except BadFact as error:
        raise reader.damaged(str(error)) from error
    for fact in facts:
        if fact.seq >= first:
            yield fact


def _state(reader: SegmentReader) -> str:
    for holds, state in (
        (reader.missing, "missing"),
        (reader.damage is not None, "damaged"),
        (reader.unused, "unused"),
        (reader.cut_bytes > 0, "torn"),
        (reader.footer is not None, "sealed"),
    ):
        if holds:
            return state
    return "in use"
