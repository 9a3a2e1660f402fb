"""Looking at a journal from outside, be its server running or not: what is there, and whether it is sound.

This module must not change anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from penstock.codecs.facts import BadFact, Fact
from penstock.codecs.segments import Batch
from penstock.journal.disk import Disk
from penstock.journal.recovery import Restore, apply_segment, restore_snapshot
from penstock.journal.segment import (
    Damage,
    JournalDamaged,
    SegmentReader,
    facts_of,
    segment_numbers,
    segment_readers,
)
from penstock.journal.snapshot import SnapshotReader, foundation, newest_whole, reach, snapshot_numbers
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


class SnapshotInfo:
    """One snapshot in a list for people. It holds what lived after `last`, the last fact of segment `number`."""

    __slots__ = ("bytes", "last", "last_at_us", "messages", "name", "number", "queues", "state")

    def __init__(self, reader: SnapshotReader) -> None:
        """Of one that was read to its end."""
        footer = reader.footer
        self.number: int = reader.number
        self.name: str = reader.name
        self.state: str = "damaged" if footer is None else "whole"
        self.bytes: int = reader.bytes
        self.messages: int = 0 if footer is None else footer.messages
        self.queues: int = 0 if footer is None else footer.queues
        self.last: int = max(0, reader.next_fact - 1)
        self.last_at_us: int = reader.at_us


def info(disk: Disk) -> list[SegmentInfo]:
    """The segments that are there, without a look into the facts."""
    found: list[SegmentInfo] = []
    for reader in _readers(disk, _base(disk)):
        first_at_us = 0
        for batch in reader.batches():
            first_at_us = first_at_us or batch.at_us
        found.append(SegmentInfo(reader, first_at_us))
    return found


def snapshots(disk: Disk) -> list[SnapshotInfo]:
    """Those that are there, every byte checked."""
    return [SnapshotInfo(reader) for reader in _snapshot_readers(disk)]


def verify(disk: Disk) -> list[Damage]:
    """What is wrong, the first of each file, with every byte checked. A torn tail is marked as such."""
    problems = [reader.damage for reader in _snapshot_readers(disk) if reader.damage is not None]
    for reader in _readers(disk, _base(disk)):
        reader.check()
        if reader.damage is not None:
            problems.append(reader.damage)
        elif reader.cut_bytes:
            reason = f"a torn tail of {reader.cut_bytes} bytes, to be cut at the next start"
            problems.append(Damage(reader.name, reader.at, reader.next_fact, reason, True))
    return problems


def read(disk: Disk, first: int = 1) -> Iterator[Fact]:
    """The facts that are there, from a number on: what a snapshot has replaced may be gone.

    A torn tail is just the end; raises JournalDamaged where damage is reached.
    """
    for reader in _readers(disk, _base(disk)):
        for batch in reader.batches():
            if batch.first + batch.count > first:
                yield from _facts_from(reader, batch, first)
        if reader.damage is not None:
            raise JournalDamaged(reader.damage)


def queue_names(disk: Disk) -> dict[int, bytes]:
    """Of queues that facts which are gone have declared, by their numbers."""
    try:
        found = newest_whole(disk, b"").snapshot
        return {} if found is None else found.queue_names()
    except (FileNotFoundError, JournalDamaged):
        return {}


def replay(disk: Disk, restore: Restore, apply: Callable[[Fact], None]) -> None:
    """What lives, beside a server that goes on: the newest snapshot, and the facts after it that were committed.

    Raises JournalDamaged, also where what was being read has gone into a newer snapshot.
    """
    base = foundation(disk, b"")
    if base.snapshot is not None:
        restore_snapshot(base.snapshot, restore)
    readers = segment_readers(disk, b"", shared=True, after=base.number, first=base.next_fact)
    _apply_in_a_row(readers, base.next_fact, apply)


def review(disk: Disk, restore: Restore, apply: Callable[[Fact], None]) -> None:
    """The same, and before it all older facts that are still there: what lives may be told twice."""
    base = foundation(disk, b"")
    if base.snapshot is not None:
        restore_snapshot(base.snapshot, restore)
    _apply_in_a_row(_readers(disk, base.number), 0, apply)


def _apply_in_a_row(readers: Iterator[SegmentReader], wanted: int, apply: Callable[[Fact], None]) -> None:
    for reader in readers:
        if reader.header is not None and wanted not in (0, reader.header.first):
            raise reader.damaged("what should stand before it has gone into a newer snapshot; try again")
        apply_segment(reader, apply)
        wanted = reader.next_fact


def _base(disk: Disk) -> int:
    """The last segment that nobody needs any more; those up to it may be there or not."""
    try:
        return reach(disk)
    except JournalDamaged:
        return snapshot_numbers(disk)[-1]


def _readers(disk: Disk, base: int) -> Iterator[SegmentReader]:
    """What is left of the segments up to the base, as far as they are in a row; then all that must be there."""
    there = segment_numbers(disk)
    after = base
    while after in there:
        after -= 1
    return segment_readers(disk, b"", shared=True, after=after, first=0 if after else 1)


def _snapshot_readers(disk: Disk) -> Iterator[SnapshotReader]:
    for number in snapshot_numbers(disk):
        try:
            reader = SnapshotReader(disk, number, b"")
            reader.check()
        except FileNotFoundError:
            continue  # a newer one has taken its place
        yield reader


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
