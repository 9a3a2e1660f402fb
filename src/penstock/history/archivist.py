"""The archivist: sealed segments into files of the archive, in order, each once, however often it is killed on the way.

Its whole memory is the newest file of the archive. It must not pass over a segment that is damaged or missing, but for
those that went into a snapshot while there was no archive: then it begins behind that, and says so.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from penstock.history.archive import Archive
from penstock.history.columns import Words
from penstock.history.files import Told, encode
from penstock.history.records import BadRow, Segment
from penstock.history.saying import Say
from penstock.journal.disk import Disk
from penstock.journal.segment import Damage, JournalDamaged, SegmentReader, segment_name, segment_numbers
from penstock.journal.snapshot import SnapshotReader, newest_whole

_NOTHING: Final = Told(b"", 0, 0, 0, 0, 0, {}, {})


class Archivist:
    """`say` is told what happened: an event and its fields."""

    def __init__(self, journal: Disk, archive: Archive, words: Words, say: Say) -> None:
        """Raises OtherVersion."""
        self._journal = journal
        self._archive = archive
        self._words = words
        self._say = say
        archive.tidy()
        self.last: Told = archive.last() or _NOTHING
        self.next_segment = self.last.segment + 1

    def upto(self, sealed_below: int) -> Iterator[None]:
        """Archives the segments with numbers below that, one at each step. Raises JournalDamaged."""
        if self.last.segment >= sealed_below:
            raise JournalDamaged(self._ahead(sealed_below))
        if self.next_segment not in segment_numbers(self._journal):
            self._begin_behind(newest_whole(self._journal, self.last.store_id).snapshot)
        while self.next_segment < sealed_below:
            self._archive_segment(self.next_segment)
            self.next_segment += 1
            yield

    def _begin_behind(self, snapshot: SnapshotReader | None) -> None:
        if snapshot is None or snapshot.header is None or snapshot.number < self.next_segment:
            return
        store_id, last, at_us = snapshot.header.store_id, snapshot.next_fact - 1, snapshot.at_us
        missing: dict[str, object] = {"first": self.last.last + 1, "last": last, "segment": snapshot.number}
        self.last = Told(store_id, snapshot.number, last, last, at_us, at_us, {}, snapshot.queue_names())
        self.next_segment = snapshot.number + 1
        self._say("facts never archived", missing)

    def _archive_segment(self, number: int) -> None:
        began, worked = time.monotonic(), time.process_time()
        reader = SegmentReader(self._read(number), number, self.last.last + 1, self.last.store_id, last=False)
        segment = Segment(reader)
        if len(segment) == 0 or reader.header is None:
            return
        try:
            content, told = encode(segment, reader.header.store_id, self.last.queues, self._words)
        except BadRow as bad:
            raise segment.damaged(bad) from None
        file = self._archive.put(told, content)
        self.last = told
        self._say(
            "segment archived",
            {
                "segment": number,
                "file": file,
                "first": told.first,
                "last": told.last,
                "last_at_us": told.last_at_us,
                "bytes": len(content),
                "seconds": round(time.monotonic() - began, 3),
                "cpu_seconds": round(time.process_time() - worked, 3),
            },
        )

    def _read(self, number: int) -> bytes:
        name = segment_name(number)
        try:
            return self._journal.read(name)
        except FileNotFoundError:
            raise JournalDamaged(Damage(name, 0, self.last.last + 1, "the segment is missing", False)) from None

    def _ahead(self, sealed_below: int) -> Damage:
        reason = (
            f"the archive holds facts up to {self.last.last} from segment {self.last.segment}, and it is not sealed"
        )
        return Damage(segment_name(sealed_below), 0, self.last.last + 1, reason, False)
