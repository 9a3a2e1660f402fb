"""The archive: partitions by date, in them one file for each segment that holds facts, named by its first fact.

A file gets its name when all of it is on the disk, so one that has a name is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Final

from penstock.history.files import Told, Unreadable, decode
from penstock.history.shelves import Shelves
from penstock.model.limits import DAY_US

_PARTITION: Final = "date="
_SUFFIX: Final = ".parquet"
_DIGITS: Final = 20
_UNFINISHED: Final = "_"  # readers of Parquet pass over such names


class Archive:
    """`report` is told of each file that cannot be read: its name and why."""

    def __init__(self, shelves: Shelves, pid: int, report: Callable[[str, str], None]) -> None:
        self._shelves = shelves
        self._pid = pid
        self._report = report

    def last(self) -> Told | None:
        """What the newest file says; one that cannot be read counts for nothing. Raises OtherVersion."""
        for partition, name in self._newest_first():
            try:
                return decode(self._shelves.disk(partition).read(name))
            except Unreadable as error:
                self._report(f"{partition}/{name}", str(error))
        return None

    def files(self) -> list[str]:
        """As partition/name, the newest first."""
        return [f"{partition}/{name}" for partition, name in self._newest_first()]

    def put(self, told: Told, content: bytes) -> str:
        """Its name. In the place of a file of that name; whole or not at all, whatever happens on the way."""
        partition, name = partition_of(told.first_at_us), file_name(told.first)
        disk = self._shelves.disk(partition)
        temporary = f"{_UNFINISHED}{name}.{self._pid}"
        handle = disk.create(temporary, 0)
        try:
            disk.write(handle, 0, content)
            disk.sync(handle)
        finally:
            disk.close(handle)
        disk.rename(temporary, name)
        disk.sync_names()
        return f"{partition}/{name}"

    def tidy(self) -> None:
        """Removes what was left unfinished. Nobody else may be at work."""
        for partition in self._partitions():
            disk = self._shelves.disk(partition)
            for name in disk.names():
                if name.startswith(_UNFINISHED):
                    disk.remove(name)

    def sweep(self, now_us: int, keep_days: int) -> list[str]:
        """Removes whole partitions that are older than so many days, oldest first, and never the newest: the next file
        goes on from what its last one says."""
        oldest = _date(now_us) - timedelta(days=keep_days)
        gone = [partition for partition in self._partitions()[:-1] if _date_of(partition) < oldest]
        for partition in gone:
            disk = self._shelves.disk(partition)
            for name in sorted(disk.names()):
                disk.remove(name)
            self._shelves.remove(partition)
        return gone

    def _partitions(self) -> list[str]:
        return [name for name in self._shelves.partitions() if name.startswith(_PARTITION)]

    def _newest_first(self) -> Iterator[tuple[str, str]]:
        for partition in reversed(self._partitions()):
            for name in sorted(self._shelves.disk(partition).names(), reverse=True):
                if is_file_name(name):
                    yield partition, name


def partition_of(at_us: int) -> str:
    return f"{_PARTITION}{_date(at_us).isoformat()}"


def file_name(first: int) -> str:
    return f"{first:0{_DIGITS}}{_SUFFIX}"


def is_file_name(name: str) -> bool:
    stem = name.removesuffix(_SUFFIX)
    return stem != name and len(stem) == _DIGITS and stem.isdecimal()


def _date(at_us: int) -> date:
    """In UTC."""
    return date.fromordinal(date(1970, 1, 1).toordinal() + at_us // int(DAY_US))


def _date_of(partition: str) -> date:
    return date.fromisoformat(partition.removeprefix(_PARTITION))
