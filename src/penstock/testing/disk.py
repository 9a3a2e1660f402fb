"""A disk in memory: as durable as the test that uses it."""

from __future__ import annotations

import itertools

from penstock.journal.disk import Disk


class MemoryDisk(Disk):
    """Files by name; a handle leads to the same bytes, whatever the name is by then."""

    def __init__(self) -> None:
        self._files: dict[str, bytearray] = {}
        self._handles: dict[int, bytearray] = {}
        self._numbers = itertools.count(1)

    def names(self) -> list[str]:
        return list(self._files)

    def read(self, name: str) -> bytes:
        return bytes(self._file(name))

    def read_part(self, name: str, at: int, size: int) -> bytes:
        return bytes(self._file(name)[at : at + size])

    def size(self, name: str) -> int:
        return len(self._file(name))

    def create(self, name: str, size: int) -> int:
        if name in self._files:
            raise FileExistsError(name)
        self._files[name] = bytearray(size)
        return self.open(name)

    def reserve(self, name: str, size: int) -> int:
        return self.create(name, size)

    def open(self, name: str) -> int:
        handle = next(self._numbers)
        self._handles[handle] = self._file(name)
        return handle

    def write(self, handle: int, at: int, data: bytes) -> None:
        self._handles[handle][at : at + len(data)] = data

    def sync(self, handle: int) -> None:
        return

    def doubt(self, handle: int) -> None:
        return

    def cut(self, handle: int, size: int) -> None:
        del self._handles[handle][size:]

    def close(self, handle: int) -> None:
        del self._handles[handle]

    def rename(self, old: str, new: str) -> None:
        self._files[new] = self._file(old)
        del self._files[old]

    def remove(self, name: str) -> None:
        self._file(name)
        del self._files[name]

    def sync_names(self) -> None:
        return

    def _file(self, name: str) -> bytearray:
        if name not in self._files:
            raise FileNotFoundError(name)
        return self._files[name]
