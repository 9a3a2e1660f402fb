"""A data directory looked at from outside: its journal's files and the ids of its messages. Nothing is made in it."""

from __future__ import annotations

import os
from collections.abc import Callable

from penstock.cli.program import Failure
from penstock.codecs.ids import Ids
from penstock.journal.disk import Disk, OsDisk
from penstock.journal.segment import segment_numbers
from penstock.server.identity import BadIdentity, open_identity
from penstock.server.store import JOURNAL_NAME


class WatchedDisk(Disk):
    """Only reads, and tells of each segment as it is read: how many so far, of how many."""

    def __init__(self, path: str, tell: Callable[[int, int], None]) -> None:
        self._disk = OsDisk(path)
        self._tell = tell
        self._seen: set[str] = set()
        self.bytes_read = 0

    def names(self) -> list[str]:
        return self._disk.names()

    def read(self, name: str) -> bytes:
        data = self._disk.read(name)
        if name not in self._seen:
            self._seen.add(name)
            self.bytes_read += len(data)
            self._tell(len(self._seen), len(segment_numbers(self)))
        return data

    def read_part(self, name: str, at: int, size: int) -> bytes:
        data = self._disk.read_part(name, at, size)
        self.bytes_read += len(data)
        return data

    def size(self, name: str) -> int:
        return self._disk.size(name)


def journal_path(data: str) -> str:
    """Raises Failure where there is no journal."""
    path = os.path.join(data, JOURNAL_NAME)
    if not os.path.isdir(path):
        raise Failure(
            f"there is no journal in {data}.",
            f"`penstock serve --data {data}` makes one; or say where it is with --data or PENSTOCK_DATA.",
        )
    return path


def journal_disk(data: str) -> OsDisk:
    return OsDisk(journal_path(data))


def ids_of(data: str) -> Ids | None:
    """None where the directory has no identity, or it cannot be read."""
    try:
        return Ids(open_identity(OsDisk(data), journal_exists=True).secret_bytes)
    except (BadIdentity, OSError):
        return None


def known_ids(data: str) -> Ids:
    """Raises Failure where messages have no ids, or there is no journal at all."""
    journal_path(data)
    ids = ids_of(data)
    if ids is None:
        raise Failure(f"{data} has no identity file that can be read; without it message ids have no meaning.")
    return ids
