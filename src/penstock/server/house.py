"""The server while it runs: heart, listeners, the door for people, signals; and how it comes to its end.

Two ends: asked to stop, it gives every answer it owes and seals the journal; after the journal has died, it gives none.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Coroutine
from functools import partial
from typing import Any, Final, TextIO

from aiohttp import web

import penstock
from penstock.dialects.table import DIALECTS
from penstock.journal.journal import JournalDead
from penstock.model.limits import DRAIN_S, LINGER_S, MILLISECOND_US, SECOND_US
from penstock.model.stages import CONFIRMS
from penstock.server import admin, door, exits
from penstock.server.archive import Archive, archiving
from penstock.server.clock import Clock
from penstock.server.config import Config
from penstock.server.connection import connect
from penstock.server.context import ListenerContext, dialect_options, resident_bytes
from penstock.server.kinds import Address
from penstock.server.listener import Listener, Seat, Seats
from penstock.server.log import Log
from penstock.server.options import (
    CONFIRM,
    CONNECTIONS,
    DISK_FREE_BYTES,
    MEMORY_BYTES,
    OUTPUT_CAP_BYTES,
    SEGMENT_BYTES,
    SPIN_US,
    SYNC_INTERVAL_MS,
)
from penstock.server.reload import reload
from penstock.server.room import DISK, Limits, Machine, Room
from penstock.server.sealing import seal
from penstock.server.store import Store
from penstock.server.tick import Heart

_BACKLOG: Final = 1_024
# Shares of the drain: for answers that wait for a sync, then for clients to read them; the rest is for sealing.
_QUIET_S: Final = DRAIN_S * 0.4
_GONE_S: Final = DRAIN_S * 0.3


class House:
    """One running server."""

    def __init__(self, config: Config, log: Log, stdout: TextIO, clock: Clock, store: Store) -> None:
        self._config = config
        self._log = log
        self._stdout = stdout
        self._clock = clock
        self._store = store
        self._confirm = CONFIRMS[config[CONFIRM]]
        self._seats = Seats(config[CONNECTIONS])
        self._started_us = clock.now_us()
        embedded = store.embedded
        self._archive = Archive(archiving(config), embedded.journal, embedded.live_bytes, log, self._started_us)
        limits = Limits(config[SEGMENT_BYTES], config[DISK_FREE_BYTES], config[MEMORY_BYTES])
        self._room = Room(limits, Machine(store.path), embedded, log)
        self._listeners: list[Listener] = []
        self._servers: list[asyncio.Server] = []
        self._ready = False

    async def run(self, sockets: dict[str, socket.socket]) -> int:
        """Returns the exit code."""
        self._loop = asyncio.get_running_loop()
        self._stop: asyncio.Future[str] = self._loop.create_future()
        interval_us = self._config[SYNC_INTERVAL_MS] * int(MILLISECOND_US)
        embedded = self._store.embedded
        spin_us = self._config[SPIN_US] if len(os.sched_getaffinity(0)) > 1 else 0
        self._heart = Heart(self._loop, embedded, self._clock, interval_us, self._on_death, spin_us)
        self._heart.start()
        self._heart.on_beat(self._room.beat)
        self._heart.on_beat(self._keep_archive)
        self._hear_signals()
        runner = await self._open_door()
        for name, bound in sockets.items():
            await self._listen(name, bound)
        self._ready = True
        self._print("ready")
        reason = await self._stop
        self._log.info("stopping", reason=reason)
        self._ready = False
        return await self._end(runner)

    # -- opening

    async def _open_door(self) -> web.AppRunner:
        store = self._store
        api = admin.Admin(
            store.embedded.broker,
            self._heart,
            store.ids,
            self._confirm,
            store.journal_disk,
            self.status,
            self.is_ready,
            partial(seal, store.embedded, self._heart),
        )
        runner = admin.runner(api)
        await runner.setup()
        await web.SockSite(runner, door.bind(store.path)).start()
        return runner

    async def _listen(self, name: str, bound: socket.socket) -> None:
        host, port = bound.getsockname()[:2]
        listener = self._make_listener(name, Address(host, port))
        self._listeners.append(listener)
        self._heart.on_beat(listener.sweep)
        made = await self._loop.create_server(partial(connect, listener), sock=bound, backlog=_BACKLOG)
        self._servers.append(made)
        self._log.info("listening", listener=name, address=listener.address)
        self._print(f"listening {name} {listener.address}")

    def _make_listener(self, name: str, address: Address) -> Listener:
        dialect = next(row for row in DIALECTS if row.name == name)
        options = dialect_options(self._config, name)
        store = self._store
        context = ListenerContext(store.embedded.broker, store.ids, store.clients, self._confirm, options)
        context.listener = Listener(
            name,
            address,
            self._heart,
            self._seats,
            self._log,
            partial(dialect.make, context),
            idle_us=options.get("idle_timeout_us", 0),
            output_cap_bytes=self._config[OUTPUT_CAP_BYTES],
        )
        return context.listener

    def _hear_signals(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._ask_to_stop, number.name)
        self._loop.add_signal_handler(signal.SIGHUP, self._reload)

    def _print(self, line: str) -> None:
        try:
            print(line, file=self._stdout, flush=True)
        except OSError:
            self._log.warning("stdout is closed", line=line)

    # -- while it runs

    def is_ready(self) -> bool:
        return self._ready and not self._heart.dead

    def status(self) -> dict[str, object]:
        journal = self._store.embedded.journal
        return {
            "version": penstock.__version__,
            "pid": os.getpid(),
            "ready": self.is_ready(),
            "uptime_s": round(int(self._clock.now_us() - self._started_us) / SECOND_US, 3),
            "data": os.path.abspath(self._store.path),
            "store": self._store.identity.store,
            "confirm": self._config[CONFIRM],
            "resident_bytes": resident_bytes(),
            "ticks": self._heart.ticks,
            "clients": self._store.embedded.client_counts(),
            "journal": {
                "segment": journal.segment,
                "next_fact": journal.next_fact,
                "synced": journal.synced,
                "written_bytes": journal.written_bytes,
                "syncs": journal.syncs,
                "last_sync_us": journal.last_sync_us,
            },
            "room": self._room.status(),
            "snapshot": self._archive.snapshot_status(),
            "archive": self._archive.status(self._clock.now_us()),
            "listeners": [listener.status() for listener in self._listeners],
        }

    def _keep_archive(self, now_us: int) -> None:
        try:
            self._archive.beat(now_us, pressed=self._room.lacks == DISK)
        except JournalDead as error:
            self._heart.die(error)

    def _reload(self) -> None:
        self._config = reload(self._config, self._log, self._store.embedded)
        self._archive.reload(archiving(self._config))

    # -- the end

    def _ask_to_stop(self, reason: str) -> None:
        if not self._stop.done():
            self._stop.set_result(reason)

    def _on_death(self, error: BaseException) -> None:
        """Not even the answers that were already written are waited for."""
        if isinstance(error, JournalDead):
            self._log.error("journal died", why=error)
        else:
            self._log.failure("server failed", error)
        for seat in self._all_seats():
            seat.cut()
        self._ask_to_stop("failure")

    async def _end(self, runner: web.AppRunner) -> int:
        for server in self._servers:
            server.close()
        if not self._heart.dead:
            await self._give_answers()
        died = self._heart.dead
        await runner.cleanup()
        self._heart.close(wait=not died)
        with contextlib.suppress(OSError):  # one that stays is taken away at the next start
            door.remove(self._store.path)
        code = exits.DISK_DIED if died else self._seal()
        await self._archive.end(sealed=code == exits.CLEAN)
        return code

    def _seal(self) -> int:
        try:
            self._store.embedded.close()
        except JournalDead as error:
            self._log.error("journal died", why=error)
            return exits.DISK_DIED
        self._log.info("stopped", facts=self._store.embedded.journal.next_fact - 1)
        return exits.CLEAN

    async def _give_answers(self) -> None:
        for seat in self._all_seats():
            seat.stop_reading()
        await self._within(_QUIET_S, self._heart.quiet())
        for seat in self._all_seats():
            seat.end()
        await self._within(LINGER_S, self._seats.empty())
        for seat in [seat for seat in self._all_seats() if not seat.unsent()]:
            seat.cut()
        await self._within(_GONE_S, self._seats.empty())
        for seat in self._all_seats():
            seat.cut()

    async def _within(self, seconds: float, what: Coroutine[Any, Any, None]) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(what, seconds)

    def _all_seats(self) -> list[Seat]:
        return [seat for listener in self._listeners for seat in listener.connections]
