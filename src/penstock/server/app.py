"""Starting and stopping a server: configuration, data directory, sockets, loop, exit code.

It draws every wire; what happens while the server runs is the house's.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
import resource
import signal
import socket
import sys
from types import FrameType
from typing import Final, TextIO

import uvloop

import penstock
from penstock.journal.journal import JournalDead
from penstock.journal.lock import DirectoryLock, DirectoryLocked
from penstock.journal.segment import JournalDamaged
from penstock.server import exits
from penstock.server.clock import Clock
from penstock.server.config import Config
from penstock.server.house import House
from penstock.server.identity import BadIdentity
from penstock.server.kinds import Address
from penstock.server.log import LibraryLog, Log
from penstock.server.options import CONFIRM, CONNECTIONS, DATA, LOG_FORMAT, LOG_LEVEL
from penstock.server.store import Store, claim, open_store

# A full collection walks every object that is not frozen: the young are cheap to collect, the old are left alone.
_GC_THRESHOLDS: Final = (50_000, 50, 1_000)

_DISK_FAILED: Final = (errno.EIO, errno.ENOSPC, errno.EDQUOT)  # nobody's configuration is to blame

_OTHER_FILES: Final = 64  # journal, listeners, admin connections

# A peer whose machine is gone says nothing, ever. After two minutes of silence it is asked whether it is there, and
# given up when it has not answered in three more. The kernel does it, and a client that is merely busy never notices.
_ALIVE: Final = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 120),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 60),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
)


class CannotStart(Exception):
    """What was configured cannot be had: an address, a directory."""


class StoppedEarly(Exception):
    """A signal came before the server was up."""


# why a server did not start -> exit code; the first row that fits
_EXITS: Final[dict[type[Exception], int]] = {
    StoppedEarly: exits.CLEAN,
    CannotStart: exits.BAD_USAGE,
    DirectoryLocked: exits.IN_USE,
    JournalDamaged: exits.DAMAGED,
    BadIdentity: exits.DAMAGED,
    JournalDead: exits.DISK_DIED,
    OSError: exits.DISK_DIED,
}


def serve(config: Config, stdout: TextIO | None = None, stderr: TextIO | None = None) -> int:
    """Runs until a signal or a failure; returns the exit code. To be called on the main thread."""
    log = Log(stderr or sys.stderr, config[LOG_FORMAT], config[LOG_LEVEL])
    logging.basicConfig(handlers=[LibraryLog(log)], level=logging.WARNING)
    for warning in config.warnings:
        log.warning("configuration", place=warning.place, problem=warning.words)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    try:
        return _serve(config, log, stdout or sys.stdout)
    except tuple(_EXITS) as error:
        code = next(code for kind, code in _EXITS.items() if isinstance(error, kind))
        log.error("not started", why=error, data=config[DATA], exit_code=code)
        return code


def _leave(number: int, frame: FrameType | None) -> None:
    raise StoppedEarly(f"stopped by {signal.Signals(number).name} before it was ready")


def _serve(config: Config, log: Log, stdout: TextIO) -> int:
    log.info("starting", version=penstock.__version__, pid=os.getpid(), data=config[DATA], confirm=config[CONFIRM])
    lock = _claim(config[DATA])
    try:
        sockets = {name: bind(address) for name, address in config.listeners().items()}
        clock = Clock()
        store = open_store(config, clock)
        _log_recovery(store, log)
        _settle_memory()
        _allow_files(config[CONNECTIONS], log)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(House(config, log, stdout, clock, store).run(sockets))
    finally:
        lock.release()


def _claim(path: str) -> DirectoryLock:
    try:
        return claim(path)
    except OSError as error:
        if error.errno in _DISK_FAILED:
            raise
        raise CannotStart(f"the data directory cannot be used: {error.strerror}") from None


def bind(address: Address) -> socket.socket:
    """Bound but not yet listening: nobody is let in before all is read back. Its connections inherit its options."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for option in _ALIVE:
            bound.setsockopt(*option)
        bound.bind(place)
    except (OSError, UnicodeError) as error:
        raise CannotStart(f"cannot listen on {address}: {getattr(error, 'strerror', error)}") from None
    return bound


def _log_recovery(store: Store, log: Log) -> None:
    found = store.recovery
    log.info(
        "journal read",
        snapshot=found.snapshot,
        segments=found.segments,
        facts=found.facts,
        clean=found.clean,
        seconds=round(found.seconds, 3),
    )
    for why in found.passed_over:
        log.warning("snapshot damaged, an older one used", why=why)
    if found.cut_bytes:
        log.warning("torn tail cut", cut_bytes=found.cut_bytes, given_up_facts=found.given_up_facts)


def _allow_files(connections: int, log: Log) -> None:
    """Every connection is an open file, and the usual limit is lower than ours."""
    wanted = connections + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < wanted:
        log.warning("too few open files allowed", wanted=wanted, allowed=allowed)


def _settle_memory() -> None:
    """What was loaded stays: it is taken out of every later collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
