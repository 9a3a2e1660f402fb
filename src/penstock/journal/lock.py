"""One directory, one owner: a lock that ends with its process. Its file must not be removed, or two could hold one."""

from __future__ import annotations

import fcntl
import os
from typing import Final

LOCK_NAME: Final = "lock"
ARCHIVIST_LOCK_NAME: Final = "archivist.lock"  # whoever makes snapshots, and takes away what they replace


class DirectoryLocked(Exception):
    """Another process has the directory; `pid` is 0 where it has not said which."""

    def __init__(self, path: str, pid: int) -> None:
        super().__init__(f"{path} is in use by {f'process {pid}' if pid else 'another process'}")
        self.path = path
        self.pid = pid


class DirectoryLock:
    """Holds a data directory until `release`, or until the process is gone."""

    def __init__(self, path: str, name: str = LOCK_NAME) -> None:
        self._handle: int = os.open(os.path.join(path, name), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._handle, 20, 0)
            os.close(self._handle)
            raise DirectoryLocked(path, int(holder) if holder.strip().isdigit() else 0) from None
        self._sign()

    def _sign(self) -> None:
        """A courtesy: a disk that is full must not keep out whoever could make room."""
        try:
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, b"%d\n" % os.getpid(), 0)
        except OSError:
            pass

    def release(self) -> None:
        try:
            os.close(self._handle)
        except OSError:
            pass  # whatever the disk says of it, the handle is gone
