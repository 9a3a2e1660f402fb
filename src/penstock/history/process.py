"""The archivist as a process beside the server: told on stdin which segments are sealed, it says on stdout what it did.

A line on stdin is the numbers of `Told`, a line on stdout a JSON object with `level` and `event`. It ends with its
parent, gives way to everybody, and does one thing at a time.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from penstock.engine.rules import PolicyBook
from penstock.history.folding import Folder, Keeping
from penstock.history.saying import OtherVersion, say, tell
from penstock.journal.disk import Disk, OsDisk
from penstock.journal.lock import ARCHIVIST_LOCK_NAME, DirectoryLock, DirectoryLocked
from penstock.journal.segment import JournalDamaged
from penstock.model.policy import Policy

if TYPE_CHECKING:
    from penstock.history.keeper import Keeper

JOURNAL_NAME: Final = "journal"

# Exit codes, with the meaning they have for a server.
DONE: Final = 0
FAILED: Final = 1
IN_USE: Final = 3
DAMAGED: Final = 4

_REST: Final = 0.5  # of the time that a step took: everybody else's
_IDLE_S: Final = 3_600.0  # so often retention is looked after where there is nothing to archive
_PR_SET_PDEATHSIG: Final = 1
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
_KEPT_BYTES: Final = 32 << 20  # the most that mallopt takes
_STDIN: Final = 0
# numpy starts one for each processor, and they begin with a tenth of a second of looking for work; here there is none.
_LINEAR_ALGEBRA_THREADS: Final = "OPENBLAS_NUM_THREADS"

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
    archives: bool = True  # else there are snapshots only
    without_bodies: tuple[bytes, ...] = ()
    keep_days: int = 0  # 0: for ever
    parent: int = 0  # the process to end with; 0: none
    keeping: Keeping = Keeping()
    dedup: tuple[tuple[bytes, int], ...] = ()  # how long dedup ids are remembered: by queue, as the server's policies
    dialect_dedup: Mapping[int, int] = {}


class Told(NamedTuple):
    """What the server says, in this order. `ahead_bytes`: beside what is sealed."""

    sealed_below: int
    live_bytes: int
    ahead_bytes: int
    pressed: int  # 1: the disk lacks room
    now_us: int  # by the server's clock: a step of the wall clock must not make days of the archive old


def run(settings: Settings) -> int:
    """Until stdin ends; returns the exit code."""
    try:
        _step_back(settings.parent)
        _keep_memory()
        lock = DirectoryLock(settings.data, ARCHIVIST_LOCK_NAME)
        try:
            _work(settings)
        finally:
            lock.release()
    except tuple(_ENDS) as error:
        code, event = next(end for kind, end in _ENDS.items() if isinstance(error, kind))
        say("error", event, {"why": str(error)})
        return code
    return DONE


def _work(settings: Settings) -> None:
    journal = OsDisk(os.path.join(settings.data, JOURNAL_NAME))
    keeper = _keeper(settings, journal) if settings.archives else None
    folder = Folder(journal, _book(settings), settings.keeping, os.getpid(), tell)
    folder.tell_kept()
    for told in _heard(_STDIN):
        # The snapshot comes first: however far the archive is behind, the next start does not pay for it, and each
        # segment can go as soon as it is archived.
        _fold(folder, told)
        if keeper is not None:
            _go(_archive(keeper, folder, told.sealed_below))
            keeper.sweep(told.now_us)
        folder.sweep(told.sealed_below if keeper is None else keeper.archived_below)
        folder.tell_kept()


def _archive(keeper: Keeper, folder: Folder, sealed_below: int) -> Iterator[None]:
    """One segment a step."""
    for _ in keeper.upto(sealed_below):
        folder.sweep(keeper.archived_below)
        yield


def _fold(folder: Folder, told: Told) -> None:
    is_due = folder.is_due(told.sealed_below, told.live_bytes, told.ahead_bytes, bool(told.pressed))
    if is_due and not _is_over(_STDIN):
        _go(folder.fold(told.sealed_below))


def _keeper(settings: Settings, journal: Disk) -> Keeper:
    """Imported where it is wanted: what writes Parquet takes more memory than all the rest."""
    os.environ.setdefault(_LINEAR_ALGEBRA_THREADS, "1")
    import pyarrow as pa

    from penstock.history.keeper import Keeper

    pa.set_memory_pool(pa.system_memory_pool())
    return Keeper(settings.data, journal, settings.dialects, settings.without_bodies, settings.keep_days)


def _book(settings: Settings) -> PolicyBook:
    """Of all policies only this one decides what a replay remembers."""
    defaults = {number: Policy(dedup_us=us) for number, us in settings.dialect_dedup.items()}
    return PolicyBook([(pattern, Policy(dedup_us=us)) for pattern, us in settings.dedup], defaults)


def _go(steps: Iterator[None]) -> None:
    began = time.monotonic()
    for _ in steps:
        time.sleep((time.monotonic() - began) * _REST)
        began = time.monotonic()


def _heard(handle: int) -> Iterator[Told]:
    """The newest line there is, each time there is one, and now and then the last again."""
    rest = b""
    told: Told | None = None
    heard_us = 0
    while True:
        ready, _, _ = select.select([handle], [], [], _IDLE_S)
        if ready:
            heard = os.read(handle, 4_096)
            if not heard:
                return
            *lines, rest = (rest + heard).split(b"\n")
            if lines:
                told, heard_us = Told(*map(int, lines[-1].split())), _elapsed_us()
        if told is not None:
            yield told._replace(now_us=told.now_us + _elapsed_us() - heard_us)


def _elapsed_us() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000


def _is_over(handle: int) -> bool:
    """The server is on its way out: nothing long is begun any more."""
    poll = select.poll()
    poll.register(handle, select.POLLHUP)
    return any(events & select.POLLHUP for _, events in poll.poll(0))


def _keep_memory() -> None:
    """What one segment took serves the next: memory that is new to it costs many a machine more than all that is done
    in it. Not every C library can be told so."""
    with contextlib.suppress(AttributeError):
        tell = ctypes.CDLL(None).mallopt
        tell(_M_MMAP_THRESHOLD, _KEPT_BYTES)
        tell(_M_TRIM_THRESHOLD, _KEPT_BYTES)


def _step_back(parent: int) -> None:
    """Never in the way of the server, which has seen to its priority, and never there without it."""
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    if parent:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            sys.exit(DONE)
