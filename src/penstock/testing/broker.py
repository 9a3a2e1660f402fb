"""A broker inside a test, as the test sees it: clients and workers of it, its time, what is in its queues."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Final, Self

from penstock.client.asking import Stage
from penstock.client.client import Client
from penstock.client.worker import Worker
from penstock.dialects.table import DIALECTS
from penstock.engine.rules import PolicyBook
from penstock.model.limits import SECOND_US
from penstock.model.views import Counts
from penstock.server.policies import read_policies
from penstock.server.problems import Problem
from penstock.testing.looking import Looking
from penstock.testing.simulation import Simulation

_QUIET_TURNS: Final = 50  # turns of the loop without a word: then everybody has said what they had to say


class Broker:
    """`async with Broker() as broker, broker.client() as client: …`

    `policies` are tables as in the configuration file: `{"match": "orders*", "attempts": 3, "lease_s": 30}`.
    """

    def __init__(self, policies: Iterable[Mapping[str, object]] = ()) -> None:
        self._world = Simulation(_book(policies))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.cut()

    def client(self, *, stage: Stage = "sync", timeout: float = 30.0, in_flight: int = 1_000) -> Client:
        """A client of this broker, like any other. Its time-outs and leases are in simulated time."""
        return Client(stage=stage, timeout=timeout, in_flight=in_flight, outside=self._world)

    @asynccontextmanager
    async def working(self, worker: Worker) -> AsyncIterator[None]:
        """The worker is at work during the block, then stopped: a handler that is not done by itself is interrupted."""
        async with self.client() as client:
            serving = asyncio.create_task(worker.serve(client))
            try:
                await self.settle()
                yield
            finally:
                worker.stop()
                await self.settle()
                if not serving.done():
                    worker.stop()
                await serving

    # -- time

    def now(self) -> float:
        """Seconds since 1970, simulated."""
        return self._world.now()

    async def advance(self, seconds: float) -> None:
        """Time passes: whatever is due in it happens in its order, and everybody has their say."""
        end_us = self._world.now_us + round(seconds * int(SECOND_US))
        await self.settle()
        while (due_us := self._world.next_due_us()) <= end_us:
            await self._move(max(due_us, self._world.now_us))
        await self._move(end_us)

    async def settle(self) -> None:
        """Returns when all has happened that can happen now. Threads and sockets of a test's own are not waited for."""
        quiet, talk = 0, self._world.talk
        while quiet < _QUIET_TURNS:
            await asyncio.sleep(0)
            quiet = quiet + 1 if talk == self._world.talk else 0
            talk = self._world.talk

    async def _move(self, now_us: int) -> None:
        self._world.move(now_us)
        await self.settle()

    # -- trouble

    async def cut(self) -> None:
        """Every connection breaks. Clients make new ones as time passes."""
        for pipe in list(self._world.pipes):
            pipe.cut()
        await self.settle()

    async def restart(self) -> None:
        """As after kill -9: every connection breaks, and what had not been written is lost."""
        await self.cut()
        self._world.start()

    # -- looking

    def counts(self, queue: str) -> Counts:
        """What is in a queue, and what became of the rest: `published`, `ready`, `delayed`, `leased`, `finished`, …

        Raises KeyError where there is no such queue.
        """
        looking = Looking()
        self._world.tick(lambda: self._world.store.broker.show_queue(looking, 0, queue.encode()))
        return looking.view(queue).counts


def _book(policies: Iterable[Mapping[str, object]]) -> PolicyBook:
    problems: list[Problem] = []
    patterns = read_policies([dict(table) for table in policies], "policy", problems)
    if problems:
        raise ValueError("; ".join(map(str, problems)))
    return PolicyBook(patterns, {dialect.number: dialect.defaults for dialect in DIALECTS})
