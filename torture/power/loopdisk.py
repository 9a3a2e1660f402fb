"""A disk whose power can be cut: an ext4 of its own in a file, on a loop device.

The file is the platter: what has reached it stays. What ext4 had not yet written, or not yet committed to its own
journal, is gone after a cut, and until then every write, sync and read of the disk is answered with an I/O error.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
import tempfile
import time
from pathlib import Path

EXT4_IOC_SHUTDOWN = 0x8004587D
NO_LOG_FLUSH = struct.pack("I", 2)  # EXT4_GOING_FLAGS_NOLOGFLUSH: not even ext4's own journal is written any more
SIZE_BYTES = 256 << 20
COMMANDS = ("mkfs.ext4", "mount", "umount")
RELEASE_S = 15.0
LOOK_S = 0.01


class DiskBusy(Exception):
    """Somebody still has files open on it."""


class LoopDisk:
    """Mounted on `place` while its block lasts; nothing of it is left behind."""

    def __init__(self, size_bytes: int = SIZE_BYTES) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="penstock-disk-"))
        self._image = self._home / "image"
        self.place = self._home / "disk"
        self.beside = self._home / "beside"  # on another disk: for logs and the like
        try:
            self.place.mkdir()
            self.beside.mkdir()
            self._make(size_bytes)
        except BaseException:
            self.close()
            raise

    def _make(self, size_bytes: int) -> None:
        with self._image.open("wb") as image:
            image.truncate(size_bytes)
        _run("mkfs.ext4", "-q", "-F", str(self._image))
        self._mount()

    def __enter__(self) -> LoopDisk:
        return self

    def __exit__(self, *why: object) -> None:
        self.close()

    def cut(self) -> None:
        """When it returns, nothing more reaches the platter."""
        handle = os.open(self.place, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(handle, EXT4_IOC_SHUTDOWN, NO_LOG_FLUSH)
        finally:
            os.close(handle)

    def remount(self) -> None:
        """The power is back: what memory knew of the disk is forgotten, and ext4 recovers. Raises DiskBusy."""
        self._unmount()
        self._mount()

    def close(self) -> None:
        """Where it is still in use, it goes when it is not any more."""
        if self.place.is_mount():
            subprocess.run(["umount", "--lazy", str(self.place)], check=True)
        shutil.rmtree(self._home)

    def _mount(self) -> None:
        _run("mount", "-t", "ext4", "-o", "loop", str(self._image), str(self.place))

    def _unmount(self) -> None:
        """A lazy one would let two mounts write to one image."""
        until_s = time.monotonic() + RELEASE_S
        while subprocess.run(["umount", str(self.place)], capture_output=True, check=False).returncode:
            if time.monotonic() > until_s:
                raise DiskBusy(
                    f"still in use after {RELEASE_S:g} s: {', '.join(users(self.place)) or 'by nobody known'}"
                )
            time.sleep(LOOK_S)


def users(place: Path) -> list[str]:
    """The command lines of processes with files open there."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if any(Path(os.readlink(link)).is_relative_to(place) for link in process.glob("fd/*")):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip())
        except OSError:
            continue  # it has just ended
    return found


def possible() -> str:
    """Why power cannot be cut on this machine, in words; empty where it can be."""
    if os.geteuid() != 0:
        return "only root may mount a file system"
    missing = [command for command in COMMANDS if shutil.which(command) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    try:
        with LoopDisk() as disk:
            disk.cut()
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no ext4 on a loop device can be mounted and shut down: {_words(error)}"
    return ""


def _words(error: OSError | subprocess.CalledProcessError) -> str:
    return str(error.stderr).strip() if isinstance(error, subprocess.CalledProcessError) else str(error)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)
