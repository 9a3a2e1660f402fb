"""The world of a simulated broker: one store in memory, sessions that reach it by pipes, and a time that is told.

It must not ask a clock, open a socket or start a thread: functions that may block run in the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

from penstock.broker.embedded import Embedded
from penstock.client.outside import Outside, Timer
from penstock.codecs.clients import ClientIds
from penstock.codecs.ids import Ids
from penstock.dialects.context import Context
from penstock.dialects.table import DIALECTS
from penstock.engine.rules import PolicyBook
from penstock.model.limits import SECOND_US
from penstock.model.stages import SYNC
from penstock.testing.disk import MemoryDisk
from penstock.testing.pipe import Pipe
from penstock.testing.timers import Timers

ValueT = TypeVar("ValueT")

START_US: Final = 1_700_000_000_000_000
_SECRET: Final = b"simulation"
_SEGMENT_BYTES: Final = 1 << 20
_SPOKEN: Final = next(dialect for dialect in DIALECTS if dialect.name == "glovebox")


class Simulation(Outside):
    """What clients need of the world, and what sessions need of a server. Its connections do not fall silent."""

    beat = 86_400.0

    def __init__(self, book: PolicyBook) -> None:
        self.pipes: list[Pipe] = []
        self.talk = 0  # grows with every word and every timer
        self._book = book
        self._disk = MemoryDisk()
        self._timers = Timers(START_US)
        self._woken: list[Pipe] = []
        self.start()

    def start(self) -> None:
        """A server begins, on what the last one has written."""
        self.store = Embedded(self._disk, bytes(16), self._book, SYNC, _SEGMENT_BYTES)
        self.store.open(self.now_us, "simulated")
        options = {setting.name: setting.default for setting in _SPOKEN.settings}
        self._context = Context(self.store.broker, Ids(_SECRET), ClientIds(_SECRET), SYNC, options)

    # -- time

    @property
    def now_us(self) -> int:
        return self._timers.now_us

    def next_due_us(self) -> int:
        return min(int(self.store.next_due_us()), self._timers.next_due_us())

    def move(self, now_us: int) -> None:
        self._timers.now_us = now_us
        self.tick(lambda: None)
        self._timers.fire()

    # -- for clients

    def now(self) -> float:
        return self.now_us / int(SECOND_US)

    def later(self, seconds: float, call: Callable[[], None]) -> Timer:
        self.talk += 1
        return self._timers.later(seconds, call)

    async def call(self, function: Callable[[], ValueT]) -> ValueT:
        return function()

    async def open(self, make: Callable[[], asyncio.Protocol]) -> None:
        self.pipes.append(Pipe(self, _SPOKEN.make(self._context), make()))

    # -- for sessions

    def tick(self, call: Callable[[], None]) -> None:
        """One commit, and what may be said after it."""
        self.talk += 1
        self.store.begin(self.now_us)
        call()
        self.store.commit()
        if self.store.wants_sync():
            self.store.start_sync()()
            self.store.finish_sync()
        woken, self._woken = self._woken, []
        for pipe in woken:
            pipe.flush()

    def wake(self, pipe: Pipe) -> None:
        self._woken.append(pipe)

    def forget(self, pipe: Pipe) -> None:
        self.pipes.remove(pipe)
