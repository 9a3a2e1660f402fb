"""Checks of `penstock doctor` that look at a data directory, the server on it, and the addresses it wants.

They change nothing; the one file that measures the disk is gone when they are done.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import stat
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from penstock.cli import durations
from penstock.cli.machine import FAIL, OK, WARN, Check
from penstock.cli.output import counted, size_cell, time_cell
from penstock.cli.program import Failure, told
from penstock.cli.remote import Remote
from penstock.journal import check
from penstock.journal.disk import OsDisk
from penstock.journal.lock import LOCK_NAME
from penstock.server.config import Config
from penstock.server.kinds import Address
from penstock.server.options import DATA, SEGMENT_BYTES
from penstock.server.store import JOURNAL_NAME

SYNCS: Final = 50
SYNC_BYTES: Final = 4_096
SYNC_SLOW_US: Final = 20_000
SYNC_UNBELIEVABLE_US: Final = 10  # no disk is so quick: nothing is written
SPACE_LOW: Final = 1 << 30
SERVER_TIMEOUT_S: Final = 3.0


def check_premises(config: Config) -> list[Check]:
    data = config[DATA]
    usable = os.path.isdir(data) and os.access(data, os.R_OK | os.X_OK)
    status, trouble = _status(data) if usable else (None, None)
    checks = [check_directory(data), check_space(data, config[SEGMENT_BYTES])]
    if usable:
        checks.append(check_sync(data))
        checks.append(check_lock(holder(data), answers=status is not None))
        checks.append(check_journal(data, time.time_ns() // 1_000))
    checks.append(check_server(status, trouble))
    checks.extend(check_address(name, address, status) for name, address in config.listeners().items())
    return checks


def _status(data: str) -> tuple[dict[str, Any] | None, Failure | None]:
    """What the server says of itself, or why it says nothing."""
    try:
        return Remote(data).get("/status", SERVER_TIMEOUT_S), None
    except Failure as failure:
        return None, failure


# -- the directory


def check_directory(data: str) -> Check:
    if not os.path.exists(data):
        return _check_parent(data)
    if not os.path.isdir(data):
        return Check("data directory", FAIL, f"{data} is not a directory", "Name another with --data.")
    if not os.access(data, os.R_OK | os.W_OK | os.X_OK):
        return Check("data directory", FAIL, f"{data} may not be written by you", "Run as the user who owns it.")
    mode = stat.S_IMODE(os.stat(data).st_mode)
    if mode & 0o077:
        return Check("data directory", WARN, f"{data}, mode {mode:03o}", f"Keep others out: chmod 700 {data}")
    return Check("data directory", OK, f"{data}, mode {mode:03o}")


def _check_parent(data: str) -> Check:
    if os.access(_nearest(data), os.W_OK | os.X_OK):
        return Check("data directory", OK, f"{data} is not there yet; the server will make it")
    return Check("data directory", FAIL, f"{data} is not there, and you may not make it", "Name another with --data.")


def _nearest(data: str) -> Path:
    """The directory itself, or the first above it that is there."""
    path = Path(data).absolute()
    return next(place for place in (path, *path.parents) if place.exists())


def check_space(data: str, segment_bytes: int) -> Check:
    free = shutil.disk_usage(_nearest(data)).free
    found = f"{size_cell(free)} free"
    if free < 2 * segment_bytes:
        return Check("space", FAIL, found, f"The server needs at least {size_cell(2 * segment_bytes)} to start.")
    return Check("space", *((WARN, found, "A backlog may need it.") if free < SPACE_LOW else (OK, found)))


def check_sync(data: str) -> Check:
    try:
        median_us = _measure(data)
    except OSError as error:
        return Check("sync", FAIL, f"could not be measured: {told(error)}", "See `data directory`.")
    found = f"{durations.show(median_us)}, the median of {SYNCS}"
    if median_us < SYNC_UNBELIEVABLE_US:
        return Check("sync", WARN, found, "Too quick for a disk: what is in memory only does not survive a power cut.")
    if median_us > SYNC_SLOW_US:
        return Check("sync", WARN, found, "Each answer with --confirm sync waits that long; a quicker disk helps.")
    return Check("sync", OK, found)


def _measure(data: str) -> int:
    with tempfile.TemporaryFile(dir=data) as file:
        handle = file.fileno()
        os.pwrite(handle, bytes(SYNCS * SYNC_BYTES), 0)
        os.fsync(handle)
        return round(statistics.median(_syncs(handle)))


def _syncs(handle: int) -> Iterator[float]:
    """As the journal does it: bytes over zeros that are there already, then their sync."""
    for at in range(SYNCS):
        os.pwrite(handle, b"\1" * SYNC_BYTES, at * SYNC_BYTES)
        began = time.perf_counter_ns()
        os.fdatasync(handle)
        yield (time.perf_counter_ns() - began) / 1_000


# -- the server


def holder(data: str) -> int | None:
    """The process that holds the directory; None: nobody does, 0: it has not said which it is."""
    try:
        handle = os.open(os.path.join(data, LOCK_NAME), os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        said = os.pread(handle, 20, 0).strip()
        return int(said) if said.isdigit() else 0
    finally:
        os.close(handle)
    return None


def check_lock(holder: int | None, answers: bool) -> Check:
    if holder is None:
        return Check("lock", OK, "free")
    found = f"held by process {holder}" if holder else "held by another process"
    if answers:
        return Check("lock", OK, found)
    return Check("lock", WARN, found, "It does not answer: it is starting, stopping, stopped, or no server.")


def check_server(status: dict[str, Any] | None, trouble: Failure | None) -> Check:
    if status is None:
        return Check("server", WARN, *((trouble.message, trouble.advice) if trouble else ("not running",)))
    uptime = durations.show(int(status["uptime_s"] * 1_000_000))
    found = f"version {status['version']}, process {status['pid']}, up {uptime}, confirm {status['confirm']}"
    if status["ready"]:
        return Check("server", OK, found)
    return Check("server", FAIL, f"not ready: {found}", "Its log says why.")


def check_journal(data: str, now_us: int) -> Check:
    path = os.path.join(data, JOURNAL_NAME)
    if not os.path.isdir(path):
        return Check("journal", OK, "none yet")
    segments = check.info(OsDisk(path))
    snapshots = check.snapshots(OsDisk(path))
    files: list[check.SegmentInfo | check.SnapshotInfo] = [*snapshots, *segments]
    bad = [file.name for file in files if file.state in ("damaged", "missing")]
    if bad:
        return Check("journal", FAIL, f"damaged: {', '.join(bad)}", "`penstock journal verify` says where.")
    last_us = max([file.last_at_us for file in files], default=0)
    facts = sum(segment.facts for segment in segments)
    found = f"{counted(len(segments), 'segment')}, {counted(facts, 'fact')}, the last at {time_cell(last_us)}"
    if last_us > now_us + 60 * 1_000_000:
        return Check("journal", WARN, found, "That is in the future: the wall clock was wrong then, or is now.")
    return Check("journal", OK, found)


def check_address(name: str, address: Address, status: dict[str, Any] | None) -> Check:
    row = f"address {name}"
    if address.port == 0:
        return Check(row, OK, f"{address}: picked at the start")
    if status and str(address) in [listener["address"] for listener in status["listeners"]]:
        return Check(row, OK, f"{address}: the server listens")
    trouble = _trouble(address)
    if not trouble:
        return Check(row, OK, f"{address}: free")
    advice = f"Stop what uses it, or say another: --listen {name}=HOST:PORT"
    return Check(row, FAIL, f"{address}: {trouble}", advice)


def _trouble(address: Address) -> str:
    """Why the address cannot be had; empty when it can."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(place)
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return ""
