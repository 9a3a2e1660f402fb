"""How far the archive reaches, and how far the journal does: looked at from outside, be a server running or not.

This module must not change anything.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from penstock.history.archive import Archive
from penstock.history.files import Told
from penstock.history.keeper import ARCHIVE_NAME
from penstock.history.process import JOURNAL_NAME
from penstock.history.shelves import OsShelves
from penstock.journal.disk import Disk, OsDisk
from penstock.journal.segment import SegmentReader, segment_name, segment_numbers
from penstock.journal.snapshot import newest_whole


class Survey(NamedTuple):
    """Zero where there is nothing. `sealed_segment`: all up to it are sealed."""

    days: int
    files: int
    bytes: int
    segment: int
    last_fact: int
    last_at_us: int
    sealed_segment: int
    journal_fact: int
    unreadable: tuple[str, ...]


def survey(data: str) -> Survey:
    """Raises OtherVersion."""
    unreadable: list[str] = []
    path = os.path.join(data, ARCHIVE_NAME)
    archive = Archive(OsShelves(path), os.getpid(), lambda file, why: unreadable.append(f"{file}: {why}"))
    last = archive.last()
    sealed_segment, journal_fact = _journal(OsDisk(os.path.join(data, JOURNAL_NAME)), last)
    found = [os.path.getsize(os.path.join(path, file)) for file in archive.files()]
    return Survey(
        days=len({file.partition("/")[0] for file in archive.files()}),
        files=len(found),
        bytes=sum(found),
        segment=last.segment if last else 0,
        last_fact=last.last if last else 0,
        last_at_us=last.last_at_us if last else 0,
        sealed_segment=sealed_segment,
        journal_fact=journal_fact,
        unreadable=tuple(unreadable),
    )


def _journal(disk: Disk, last: Told | None) -> tuple[int, int]:
    """The last sealed segment, and the last fact. Only the newest segment is read, or the snapshot it went into."""
    numbers = segment_numbers(disk)
    if not numbers:
        base = newest_whole(disk, b"")
        return base.number, base.next_fact - 1
    reader = SegmentReader(disk.read(segment_name(numbers[-1])), numbers[-1], 0, b"", last=True)
    for _ in reader.batches():
        pass
    known = max(reader.next_fact - 1, last.last if last else 0)
    return numbers[-1] if reader.whole else numbers[-1] - 1, known
