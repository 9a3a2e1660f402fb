"""The archive's directories: the only code of this room that touches files. It must not know what is in them."""

from __future__ import annotations

import os

from penstock.journal.disk import Disk, OsDisk, make_directory, sync_directory


class Shelves:
    """One directory of files for each partition."""

    def partitions(self) -> list[str]:
        """The names of those that are there, in order."""
        raise NotImplementedError

    def disk(self, partition: str) -> Disk:
        """Made if it is missing."""
        raise NotImplementedError

    def remove(self, partition: str) -> None:
        """An empty one."""
        raise NotImplementedError


class OsShelves(Shelves):
    """A directory of the operating system, made if it is missing."""

    def __init__(self, path: str) -> None:
        self._path = path

    def partitions(self) -> list[str]:
        if not os.path.isdir(self._path):
            return []
        with os.scandir(self._path) as entries:
            return sorted([entry.name for entry in entries if entry.is_dir()])

    def disk(self, partition: str) -> Disk:
        path = os.path.join(self._path, partition)
        make_directory(path)
        return OsDisk(path)

    def remove(self, partition: str) -> None:
        os.rmdir(os.path.join(self._path, partition))
        sync_directory(self._path)
