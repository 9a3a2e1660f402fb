"""Reading the journal back after a stop of any kind: a snapshot, every fact after it, then a journal that goes on.

It must not guess: a torn tail is cut and counted, anything else that is not as it was written is refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from penstock.codecs.facts import BadFact, Fact
from penstock.codecs.snapshots import BadBlock
from penstock.journal.disk import Disk, put_in_place
from penstock.journal.journal import Journal, JournalDead
from penstock.journal.segment import (
    FRESH_NAME,
    TEMPORARY_NAMES,
    JournalDamaged,
    SegmentReader,
    facts_of,
    segment_readers,
)
from penstock.journal.snapshot import SnapshotReader, foundation, remove_leftovers
from penstock.model.limits import SEGMENT_BYTES


class Recovery:
    """What a start found."""

    __slots__ = (
        "clean",
        "cut_bytes",
        "facts",
        "given_up_facts",
        "last_at_us",
        "next_fact",
        "next_segment",
        "passed_over",
        "seconds",
        "segments",
        "snapshot",
    )

    def __init__(self) -> None:
        self.snapshot: int = 0  # the last segment in it; 0: there is none
        self.passed_over: list[str] = []  # newer snapshots that are damaged, and why
        self.segments: int = 0  # read after it
        self.facts: int = 0  # in them
        self.next_segment: int = 1
        self.next_fact: int = 1
        self.last_at_us: int = 0
        self.clean: bool = True  # the last stop sealed the journal, or there is none yet
        self.cut_bytes: int = 0  # of a torn tail: written, never known to be synced
        self.given_up_facts: int = 0  # that could be read in it behind what could not
        self.seconds: float = 0.0


# kind of block, rows, payload
Restore = Callable[[int, int, bytes], None]


def refuse(kind: int, rows: int, payload: bytes) -> None:
    """For those who have no use for snapshots."""
    raise BadBlock("there is a snapshot, and nobody to restore it")


def recover(
    disk: Disk,
    store_id: bytes,
    apply: Callable[[Fact], None],
    now_us: int,
    segment_bytes: int = SEGMENT_BYTES,
    restore: Restore = refuse,
    syncs_often: bool = True,
) -> tuple[Journal, Recovery]:
    """Restores the newest snapshot, applies every fact after it, then begins a new segment.

    Raises JournalDamaged where what is there may not be built upon, JournalDead where the disk fails.
    """
    began = time.perf_counter()
    found = Recovery()
    try:
        _remove_leftovers(disk)
        base = foundation(disk, store_id)
        found.passed_over = [str(damage) for damage in base.damages]
        if base.snapshot is not None:
            restore_snapshot(base.snapshot, restore)
            _note_snapshot(base.snapshot, found)
        for reader in segment_readers(disk, store_id, shared=False, after=base.number, first=base.next_fact):
            apply_segment(reader, apply)
            _note(reader, found)
            _tidy(disk, reader, max(now_us, found.last_at_us))
    except OSError as error:
        raise JournalDead(f"could not read the journal back: {error}") from error
    opened_us = max(now_us, found.last_at_us)
    journal = Journal(disk, store_id, found.next_segment, found.next_fact, opened_us, segment_bytes, syncs_often)
    found.seconds = time.perf_counter() - began
    return journal, found


def _remove_leftovers(disk: Disk) -> None:
    there = disk.names()
    for name in TEMPORARY_NAMES:
        if name in there:
            disk.remove(name)
    remove_leftovers(disk)


def restore_snapshot(reader: SnapshotReader, restore: Restore) -> None:
    """Raises JournalDamaged."""
    try:
        for block, payload in reader.blocks():
            restore(block.kind, block.rows, payload)
    except (BadBlock, BadFact) as error:
        raise reader.damaged(str(error)) from error
    if reader.damage is not None:
        raise JournalDamaged(reader.damage)


def apply_segment(reader: SegmentReader, apply: Callable[[Fact], None]) -> None:
    """Raises JournalDamaged."""
    try:
        for batch in reader.batches():
            for fact in facts_of(reader.data, batch):
                apply(fact)
    except BadFact as error:
        raise reader.damaged(str(error)) from error
    if reader.damage is not None:
        raise JournalDamaged(reader.damage)


def _note_snapshot(reader: SnapshotReader, found: Recovery) -> None:
    found.snapshot = reader.number
    found.next_segment = reader.number + 1
    found.next_fact = reader.next_fact
    found.last_at_us = reader.at_us


def _note(reader: SegmentReader, found: Recovery) -> None:
    found.cut_bytes += reader.cut_bytes
    found.given_up_facts += reader.given_up_facts
    found.clean = reader.footer is not None
    if reader.header is not None:
        found.segments += 1
        found.next_segment = reader.number + 1
        found.facts += reader.next_fact - found.next_fact
        found.next_fact = reader.next_fact
        found.last_at_us = max(found.last_at_us, reader.last_at_us)


def _tidy(disk: Disk, reader: SegmentReader, sealed_us: int) -> None:
    """The last segment becomes one like the others. What was read of it may be in memory only: it is written anew."""
    if reader.last and not reader.unused and not reader.whole:
        put_in_place(disk, FRESH_NAME, reader.name, reader.sealed_copy(sealed_us))
