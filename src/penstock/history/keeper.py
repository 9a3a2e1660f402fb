"""The archive of a data directory, as the process keeps it: opened, written segment by segment, swept by age."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Final

import pyarrow as pa

from penstock.history.archive import Archive
from penstock.history.archivist import Archivist
from penstock.history.columns import Words
from penstock.history.saying import say, tell
from penstock.history.shelves import OsShelves
from penstock.journal.disk import Disk, make_directory

ARCHIVE_NAME: Final = "archive"


class Keeper:
    """Raises OtherVersion where the archive is of another."""

    def __init__(
        self, data: str, journal: Disk, dialects: Mapping[int, str], without_bodies: tuple[bytes, ...], keep_days: int
    ) -> None:
        pa.set_cpu_count(1)
        pa.set_io_thread_count(1)
        path = os.path.join(data, ARCHIVE_NAME)
        make_directory(path)
        self._keep_days = keep_days
        self._archive = Archive(OsShelves(path), os.getpid(), _report)
        self._archivist = Archivist(journal, self._archive, Words(dialects, without_bodies), tell)
        last = self._archivist.last
        say("info", "archive opened", {"segment": last.segment, "last": last.last, "last_at_us": last.last_at_us})

    @property
    def archived_below(self) -> int:
        return self._archivist.next_segment

    def upto(self, sealed_below: int) -> Iterator[None]:
        """One segment a step. Raises JournalDamaged."""
        return self._archivist.upto(sealed_below)

    def sweep(self, now_us: int) -> None:
        if self._keep_days:
            for partition in self._archive.sweep(now_us, self._keep_days):
                say("info", "archive partition removed", {"partition": partition})


def _report(file: str, why: str) -> None:
    say("warning", "archive file unreadable", {"file": file, "why": why})
