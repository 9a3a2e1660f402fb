"""Stand-ins for the rooms below: a store that notes its calls, a session that echoes lines, a clock set by hand."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from io import StringIO
from typing import Any

import uvloop

from penstock.broker.driven import Driven
from penstock.model.contract import Session
from penstock.model.limits import NEVER_US, OUTPUT_CAP_BYTES, OWED_BYTES_MAX
from penstock.server.clock import Clock
from penstock.server.connection import connect
from penstock.server.kinds import Address
from penstock.server.listener import Listener, Seats
from penstock.server.log import Log
from penstock.server.tick import Heart

PATIENCE_S = 5.0


def run(scenario: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.wait_for(scenario, 2 * PATIENCE_S))


async def until(condition: Callable[[], bool]) -> None:
    """Waits for a condition, with a deadline."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        await asyncio.sleep(0.001)


class ClockOf(Clock):
    """A clock with other sources."""

    def __init__(self, wall: Callable[[], int], elapsed: Callable[[], int]) -> None:
        self._wall, self._elapsed = wall, elapsed
        super().__init__()

    def wall_us(self) -> int:
        return self._wall()

    def elapsed_us(self) -> int:
        return self._elapsed()


class HandClock:
    """Elapsed time that is set by hand; the wall clock may be anything."""

    def __init__(self) -> None:
        self.elapsed_us = 0
        self.wall_us = 1_000_000_000

    def clock(self) -> Clock:
        return ClockOf(lambda: self.wall_us, lambda: self.elapsed_us)


class FakeTicket:
    def __init__(self) -> None:
        self.thread = ""
        self.may_run = threading.Event()
        self.may_run.set()

    def run(self) -> None:
        assert self.may_run.wait(PATIENCE_S)
        self.thread = threading.current_thread().name


class FakeStore(Driven):
    """Answers what was asked at commit; or, if `withholds`, at the first commit after that is over."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.begun_us: list[int] = []
        self.moved_us: list[int] = []
        self.due_us: int = NEVER_US
        self.dies_at = ""
        self.withholds = False
        self.sync_wanted = False
        self.dirty = False
        self.has_waited = False
        self.spare_wanted = False
        self.ticket = FakeTicket()
        self._asked: list[Callable[[], None]] = []

    def ask(self, answer: Callable[[], None]) -> None:
        """A verb of this store."""
        self._note("verb")
        self._asked.append(answer)

    def begin(self, now_us: int) -> None:
        self._note("begin")
        self.begun_us.append(now_us)
        if now_us >= self.due_us:
            self.due_us = NEVER_US

    def move(self, now_us: int) -> None:
        """Not noted among the calls: where the clock is real, it depends on the machine."""
        self.moved_us.append(now_us)
        self._die_at("move")

    def woken(self) -> None:
        self._note("woken")

    def commit(self) -> None:
        self._note("commit")
        if not self.withholds:
            answers, self._asked = self._asked, []
            for answer in answers:
                answer()

    def waited(self) -> bool:
        return self.has_waited

    def next_due_us(self) -> int:
        return self.due_us

    def wants_sync(self) -> bool:
        return self.sync_wanted

    def start_sync(self) -> Callable[[], None]:
        self._note("start_sync")
        self.sync_wanted = False
        return self.ticket.run

    def finish_sync(self) -> None:
        self._note("finish_sync")
        self.dirty = False

    def unsynced(self) -> bool:
        return self.dirty

    def wants_spare(self) -> bool:
        return self.spare_wanted

    def prepare_spare(self) -> None:
        self._note(f"prepare_spare on {threading.current_thread().name}")
        self.spare_wanted = False

    def _note(self, call: str) -> None:
        self.calls.append(call)
        self._die_at(call)

    def _die_at(self, call: str) -> None:
        if call == self.dies_at:
            raise OSError(5, "the disk is gone")


class LineSession(Session):
    """Echoes lines. `big N` is answered with N bytes, `bye` ends, `oops` fails; `last_words` if the server ends it."""

    def __init__(self, store: FakeStore) -> None:
        super().__init__(0)
        self.input = b""
        self.lost_times = 0
        self.times_held = 0
        self._store = store
        self._rest = b""
        self._lines: list[bytes] = []
        self._output: list[bytes] = []
        self._asked = 0
        self.ended = False
        self.last_words = b""
        self._leaving = False

    def received(self, data: bytes) -> None:
        self.input += data
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._lines += lines
        self._go()

    def resume(self) -> None:
        self.held = False
        self._go()

    def _go(self) -> None:
        while self._lines:
            if self.owed > OWED_BYTES_MAX:
                self.times_held += not self.held
                self.held = True
                self.wire.wake()
                return
            self._request(self._lines.pop(0))

    def _request(self, line: bytes) -> None:
        if line == b"oops":
            raise RuntimeError("a bug in a session")
        answer = line if not line.startswith(b"big ") else b"." * int(line[4:])
        self._asked += 1
        self.owed += len(answer)
        self._store.ask(partial(self._say, answer))

    def _say(self, answer: bytes) -> None:
        self._asked -= 1
        self.owed -= len(answer)
        self._output.append(answer + b"\n")
        self._leaving = self._leaving or answer == b"bye"
        self.wire.wake()

    def eof(self) -> None:
        self.ended = True

    def lost(self) -> None:
        self.lost_times += 1

    def output(self) -> bytes:
        output = b"".join(self._output)
        self._output = []
        return output

    def parting(self) -> bytes:
        return self.last_words

    def wants_close(self) -> bool:
        return self._leaving or (self.ended and not self._asked and not self.held)


class Place:
    """A listener with its heart, on a real port."""

    def __init__(
        self, store: FakeStore, clock: Clock, limit: int, idle_us: int, output_cap_bytes: int, spin_us: int
    ) -> None:
        self.store = store
        self.clock = clock
        self.log = StringIO()
        self.deaths: list[BaseException] = []
        self.sessions: list[LineSession] = []
        self.seats = Seats(limit)
        self.heart = Heart(asyncio.get_running_loop(), store, clock, 20_000, self.deaths.append, spin_us)
        self.listener = Listener(
            "lines",
            Address("127.0.0.1", 0),
            self.heart,
            self.seats,
            Log(self.log, "json"),
            self._make,
            idle_us=idle_us,
            output_cap_bytes=output_cap_bytes,
        )

    def _make(self) -> LineSession:
        self.sessions.append(LineSession(self.store))
        return self.sessions[-1]

    async def open(self) -> None:
        made = partial(connect, self.listener)
        self._server = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self._clients: list[asyncio.StreamWriter] = []

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self._clients.append(writer)
        return reader, writer

    async def tick(self) -> None:
        """One whole tick."""
        self.heart.begin()
        await until(lambda: not self.heart.open)

    async def close(self) -> None:
        self._server.close()
        for seat in list(self.listener.connections):
            seat.cut()
        for client in self._clients:
            client.transport.abort()
        await self.seats.empty()
        self.heart.close(wait=True)


@asynccontextmanager
async def place(
    store: FakeStore | None = None,
    *,
    clock: Clock | None = None,
    limit: int = 100,
    idle_us: int = 0,
    output_cap_bytes: int = OUTPUT_CAP_BYTES,
    spin_us: int = 0,
) -> AsyncIterator[Place]:
    opened = Place(store or FakeStore(), clock or Clock(), limit, idle_us, output_cap_bytes, spin_us)
    await opened.open()
    try:
        yield opened
    finally:
        await opened.close()
