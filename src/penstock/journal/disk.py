"""The disk, as small operations: the only code that touches journal files. It must not know what is in them.

Every operation happens whole or raises OSError. What is written is there for other processes at once, but survives a
power cut only after `sync`; a name that came, changed or went only after `sync_names`.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Final

from mypy_extensions import mypyc_attr

_ZEROS: Final = bytes(1 << 20)


@mypyc_attr(allow_interpreted_subclasses=True)
class Disk:
    """One directory of files. A handle is a number that `create` or `open` gave and `close` ends."""

    def names(self) -> list[str]:
        raise NotImplementedError

    def read(self, name: str) -> bytes:
        raise NotImplementedError

    def read_part(self, name: str, at: int, size: int) -> bytes:
        """Fewer bytes where the file ends before."""
        raise NotImplementedError

    def size(self, name: str) -> int:
        raise NotImplementedError

    def create(self, name: str, size: int) -> int:
        """A new file of zeros that were written and synced, so that later syncs have no metadata to write."""
        raise NotImplementedError

    def reserve(self, name: str, size: int) -> int:
        """The same for those who seldom sync: the room is kept, at once, and no zeros are written. It is not synced."""
        raise NotImplementedError

    def open(self, name: str) -> int:
        raise NotImplementedError

    def write(self, handle: int, at: int, data: bytes) -> None:
        raise NotImplementedError

    def sync(self, handle: int) -> None:
        raise NotImplementedError

    def doubt(self, handle: int) -> None:
        """What was synced is read from the disk itself from here on, not from what memory remembers of it."""
        raise NotImplementedError

    def cut(self, handle: int, size: int) -> None:
        raise NotImplementedError

    def close(self, handle: int) -> None:
        raise NotImplementedError

    def rename(self, old: str, new: str) -> None:
        """Takes the place of a file that has the new name."""
        raise NotImplementedError

    def remove(self, name: str) -> None:
        raise NotImplementedError

    def sync_names(self) -> None:
        raise NotImplementedError


class OsDisk(Disk):
    """A directory of the operating system."""

    def __init__(self, path: str) -> None:
        self._path = path

    def names(self) -> list[str]:
        return os.listdir(self._path)

    def read(self, name: str) -> bytes:
        with open(self._at(name), "rb") as file:
            return file.read()

    def read_part(self, name: str, at: int, size: int) -> bytes:
        handle = os.open(self._at(name), os.O_RDONLY)
        try:
            return os.pread(handle, size, at)
        finally:
            os.close(handle)

    def size(self, name: str) -> int:
        return os.stat(self._at(name)).st_size

    def create(self, name: str, size: int) -> int:
        handle = self._new(name)
        try:
            for at in range(0, size, len(_ZEROS)):
                self.write(handle, at, _ZEROS[: size - at])
            os.fsync(handle)
        except OSError:
            os.close(handle)
            raise
        return handle

    def reserve(self, name: str, size: int) -> int:
        handle = self._new(name)
        try:
            os.posix_fallocate(handle, 0, size)
        except OSError:
            os.close(handle)
            raise
        return handle

    def open(self, name: str) -> int:
        return os.open(self._at(name), os.O_RDWR)

    def write(self, handle: int, at: int, data: bytes) -> None:
        done = os.pwrite(handle, data, at)
        while done < len(data):
            more = os.pwrite(handle, memoryview(data)[done:], at + done)
            if more == 0:
                raise OSError(errno.EIO, "nothing more could be written")
            done += more

    def sync(self, handle: int) -> None:
        os.fdatasync(handle)

    def doubt(self, handle: int) -> None:
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)

    def cut(self, handle: int, size: int) -> None:
        os.ftruncate(handle, size)

    def close(self, handle: int) -> None:
        os.close(handle)

    def rename(self, old: str, new: str) -> None:
        os.rename(self._at(old), self._at(new))

    def remove(self, name: str) -> None:
        os.unlink(self._at(name))

    def sync_names(self) -> None:
        sync_directory(self._path)

    def _new(self, name: str) -> int:
        return os.open(self._at(name), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)

    def _at(self, name: str) -> str:
        return os.path.join(self._path, name)


def sync_directory(path: str) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_directory(path: str) -> None:
    """Makes a directory and those above it that are missing, so that a power cut cannot take them away again."""
    if _is_directory(path):
        return
    parent = os.path.dirname(os.path.abspath(path))
    make_directory(parent)
    os.mkdir(path, 0o700)
    sync_directory(parent)


def _is_directory(path: str) -> bool:
    """Raises where the disk does not say: it must not be taken for a no."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except FileNotFoundError:
        return False


def put_in_place(disk: Disk, temporary: str, name: str, content: bytes) -> None:
    """Gives a name its new content, wholly or not at all, whatever happens on the way; may be done again."""
    if temporary in disk.names():
        disk.remove(temporary)
    handle = disk.create(temporary, len(content))
    disk.write(handle, 0, content)
    disk.sync(handle)
    disk.close(handle)
    disk.rename(temporary, name)
    disk.sync_names()
