"""The archivist as a process beside the server: told on stdin which segments are sealed, it says on stdout what it did.

A line on stdin is a number: segments below it are sealed. A line on stdout is a JSON object with `level` and `event`.
It ends with its parent, gives way to everybody, and works on one segment at a time.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import msgspec
import pyarrow as pa

from penstock.history.archive import Archive
from penstock.history.archivist import Archivist
from penstock.history.columns import Words
from penstock.history.files import OtherVersion
from penstock.history.shelves import OsShelves
from penstock.journal.disk import OsDisk, make_directory
from penstock.journal.lock import DirectoryLock, DirectoryLocked
from penstock.journal.segment import JournalDamaged

ARCHIVE_NAME: Final = "archive"
JOURNAL_NAME: Final = "journal"
LOCK_NAME: Final = "_lock"  # readers of Parquet pass over such names

# Exit codes, with the meaning they have for a server.
DONE: Final = 0
FAILED: Final = 1
IN_USE: Final = 3
DAMAGED: Final = 4

_NICENESS: Final = 10
_REST: Final = 0.5  # of the time that a segment took: everybody else's
_IDLE_S: Final = 3_600.0  # so often retention is looked after where there is nothing to archive
_PR_SET_PDEATHSIG: Final = 1
_STDIN: Final = 0

# why it ended -> exit code, level and event; the first row that fits
_ENDS: Final[dict[type[Exception], tuple[int, str]]] = {
    DirectoryLocked: (IN_USE, "archive in use"),
    JournalDamaged: (DAMAGED, "archive stopped"),
    OtherVersion: (DAMAGED, "archive stopped"),
    OSError: (FAILED, "archive failed"),
}


class Settings(NamedTuple):
    data: str
    dialects: Mapping[int, str]
    without_bodies: tuple[bytes, ...] = ()
    keep_days: int = 0  # 0: for ever
    parent: int = 0  # the process to end with; 0: none


def run(settings: Settings) -> int:
    """Until stdin ends; returns the exit code."""
    try:
        _step_back(settings.parent)
        path = os.path.join(settings.data, ARCHIVE_NAME)
        make_directory(path)
        lock = DirectoryLock(path, LOCK_NAME)
        try:
            _work(settings, path)
        finally:
            lock.release()
    except tuple(_ENDS) as error:
        code, event = next(end for kind, end in _ENDS.items() if isinstance(error, kind))
        say("error", event, {"why": str(error)})
        return code
    return DONE


def say(level: str, event: str, fields: dict[str, object]) -> None:
    line = msgspec.json.encode({"level": level, "event": event, **fields})
    sys.stdout.write(line.decode() + "\n")
    sys.stdout.flush()


def _work(settings: Settings, path: str) -> None:
    archive = Archive(OsShelves(path), os.getpid(), _report)
    journal = OsDisk(os.path.join(settings.data, JOURNAL_NAME))
    archivist = Archivist(journal, archive, Words(settings.dialects, settings.without_bodies), _tell)
    last = archivist.last
    say("info", "archive opened", {"segment": last.segment, "last": last.last, "last_at_us": last.last_at_us})
    for sealed_below in _heard(_STDIN):
        began = time.monotonic()
        for _ in archivist.upto(sealed_below):
            time.sleep((time.monotonic() - began) * _REST)
            began = time.monotonic()
        _sweep(archive, settings.keep_days)


def _tell(event: str, fields: dict[str, object]) -> None:
    say("debug", event, fields)


def _report(file: str, why: str) -> None:
    say("warning", "archive file unreadable", {"file": file, "why": why})


def _sweep(archive: Archive, keep_days: int) -> None:
    if keep_days:
        for partition in archive.sweep(time.time_ns() // 1_000, keep_days):
            say("info", "archive partition removed", {"partition": partition})


def _heard(handle: int) -> Iterator[int]:
    """The newest number there is, each time there is one, and now and then the last again."""
    rest = b""
    number = 0
    while True:
        ready, _, _ = select.select([handle], [], [], _IDLE_S)
        if ready:
            heard = os.read(handle, 4_096)
            if not heard:
                return
            *lines, rest = (rest + heard).split(b"\n")
            number = int(lines[-1]) if lines else number
        if number:
            yield number


def _step_back(parent: int) -> None:
    """Never in the way of the server, and never there without it."""
    os.nice(_NICENESS)
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    if parent:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            sys.exit(DONE)
