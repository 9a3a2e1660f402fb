"""Folding: what sealed segments say, taken into the next snapshot of what lives; then what it replaces may go.

Through the same `apply` as a restart. One fold at a time; killed at any moment it has changed nothing that counts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final, NamedTuple

from penstock.codecs.segments import Header
from penstock.engine.replay import Silence, apply
from penstock.engine.rules import PolicyBook
from penstock.engine.snapshots import blocks_of, restore
from penstock.engine.state import State
from penstock.history.saying import Say
from penstock.journal.disk import Disk
from penstock.journal.recovery import apply_segment, restore_snapshot
from penstock.journal.segment import segment_name, segment_numbers, segment_readers
from penstock.journal.snapshot import (
    SnapshotReader,
    foundation,
    newest_whole,
    remove_leftovers,
    snapshot_name,
    snapshot_numbers,
    write_snapshot,
)
from penstock.model.limits import SNAPSHOT_BYTES

SEGMENTS_MAX: Final = 1_024  # however small: each is a file to open at the next start
_PAGE: Final = 4_096  # what the smallest file takes


class Keeping(NamedTuple):
    """When there is a new snapshot, and how much of what it replaces stays all the same."""

    snapshot_bytes: int = SNAPSHOT_BYTES
    keep_bytes: int = 0


class Last(NamedTuple):
    """The newest snapshot. `beside`: what it takes for all but the messages and their bodies."""

    number: int
    bytes: int
    beside: int


class Folder:
    """`say` is told what happened: an event and its fields."""

    def __init__(self, journal: Disk, book: PolicyBook, keeping: Keeping, pid: int, say: Say) -> None:
        """Raises JournalDamaged for a snapshot of a later version."""
        self._journal = journal
        self._book = book
        self._keeping = keeping
        self._pid = pid
        self._say = say
        remove_leftovers(journal)
        self._last = _last(newest_whole(journal, b"").snapshot)

    def tell_kept(self) -> None:
        """What there is, so that the server knows."""
        sealed = self._last.bytes + sum(self._sizes(segment_numbers(self._journal)[:-1]))
        self._say("journal kept", {"snapshot": self._last.number, "snapshot_bytes": self._last.bytes, "bytes": sealed})

    def is_due(self, sealed_below: int, live_bytes: int, ahead_bytes: int = 0, pressed: bool = False) -> bool:
        """Law: the journal takes no more than three times what lives and `snapshot_bytes`.

        `live_bytes`: the rows and bodies of what lives now; `ahead_bytes`: what is taken beside what is sealed, once
        one more segment is; `pressed`: room is wanted, if any can be had.
        """
        since = self._since(sealed_below)
        sealed_bytes = sum(self._sizes(since))
        kept_bytes = self._last.bytes + sealed_bytes
        live_bytes += self._last.beside
        most_bytes = 3 * live_bytes + self._keeping.snapshot_bytes
        return bool(since) and (
            (pressed and kept_bytes > live_bytes + live_bytes // 8)
            or sealed_bytes >= max(live_bytes, self._keeping.snapshot_bytes - ahead_bytes)
            or len(since) >= SEGMENTS_MAX
            or (kept_bytes > 2 * live_bytes and kept_bytes + ahead_bytes > most_bytes)
        )

    def fold(self, sealed_below: int) -> Iterator[None]:
        """Everything below that number into a snapshot, in steps. Raises JournalDamaged, OSError."""
        began, worked = time.monotonic(), time.process_time()
        state = State(self._book, Silence())
        base = foundation(self._journal, b"")
        if base.number >= sealed_below - 1:
            return
        if base.snapshot is not None:
            restore_snapshot(base.snapshot, lambda kind, rows, payload: restore(state, kind, rows, payload))
        store_id, next_fact = b"", base.next_fact
        for reader in segment_readers(self._journal, b"", shared=False, after=base.number, first=base.next_fact):
            if reader.number >= sealed_below:
                break
            apply_segment(reader, lambda fact: apply(state, fact))
            if reader.footer is None or reader.header is None:
                raise reader.damaged("the segment is not sealed")
            store_id, next_fact = reader.header.store_id, reader.next_fact
            yield
        header = Header(0, 0, sealed_below - 1, next_fact, int(state.now_us), store_id)
        self._last = _last(write_snapshot(self._journal, header, self._pid, blocks_of(state)))
        self._say(
            "snapshot written",
            {
                "segment": header.number,
                "last": next_fact - 1,
                "messages": len(state.messages),
                "bytes": self._last.bytes,
                "seconds": round(time.monotonic() - began, 3),
                "cpu_seconds": round(time.process_time() - worked, 3),
            },
        )

    def sweep(self, archived_below: int) -> None:
        """Removes what both the newest snapshot and the archive have, the oldest first, but for what is to be kept."""
        spent = [number for number in segment_numbers(self._journal) if number <= self._last.number]
        spent = [number for number in spent if number < archived_below]
        sizes = self._sizes(spent)
        excess = sum(sizes) - self._keeping.keep_bytes
        gone: list[str] = []
        for number, size in zip(spent, sizes, strict=True):
            if excess > 0:
                gone.append(segment_name(number))
                excess -= size
        gone += self._spent_snapshots(gone)
        for name in gone:
            self._journal.remove(name)
        if gone:
            self._journal.sync_names()

    def _spent_snapshots(self, gone: list[str]) -> list[str]:
        """Of the older ones the newest stays, as long as the segments after it do: one could start from there."""
        *older, newest = [0, *[number for number in snapshot_numbers(self._journal) if number < self._last.number]]
        there = {*map(segment_name, segment_numbers(self._journal)), *gone} - set(gone)
        needed = map(segment_name, range(newest + 1, self._last.number + 1))
        kept = newest if there.issuperset(needed) else 0
        return [snapshot_name(number) for number in [*older, newest] if number not in (0, kept)]

    def _since(self, sealed_below: int) -> list[int]:
        """Sealed segments that no snapshot has taken in."""
        return [number for number in segment_numbers(self._journal) if self._last.number < number < sealed_below]

    def _sizes(self, numbers: list[int]) -> list[int]:
        return [-(-self._journal.size(segment_name(number)) // _PAGE) * _PAGE for number in numbers]


def _last(reader: SnapshotReader | None) -> Last:
    """Of one that was read to its end."""
    if reader is None or reader.footer is None:
        return Last(0, 0, 0)
    return Last(reader.number, reader.bytes, reader.bytes - reader.footer.live_bytes)
