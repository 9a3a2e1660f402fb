"""The worker: handlers by queue, run until it is told to stop, and stopped so that no message pays for it."""

from __future__ import annotations

import asyncio
import signal
import ssl as tls
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeVar

from penstock.client.asking import Stage
from penstock.client.backoff import Backoff
from penstock.client.client import Client
from penstock.client.ending import LEASE_S
from penstock.client.handlers import Function, Handler
from penstock.client.handshake import DEFAULT_URL
from penstock.client.lane import Lane

FunctionT = TypeVar("FunctionT", bound=Function)

EXPONENTIAL: Final = Backoff()  # from one second to five minutes
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class Worker:
    """`@worker.handle("orders")` above a function, then `worker.run()`.

    `grace`: how many seconds handlers get to end by themselves when the worker is told to stop.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        token: str | None = None,
        stage: Stage = "sync",
        timeout: float = 30.0,
        ssl: tls.SSLContext | None = None,
        grace: float = 30.0,
    ) -> None:
        self._make_client = partial(Client, url, token=token, stage=stage, timeout=timeout, ssl=ssl)
        self._grace = grace
        self._handlers: list[Handler] = []
        self._lanes: list[Lane] = []
        self._asked = 0  # how often it was asked to stop
        self._stopping: asyncio.Event | None = None  # while it serves: made there, for the loop there is

    def handle(
        self,
        queue: str,
        *,
        concurrency: int = 1,
        lease: float = LEASE_S,
        backoff: Backoff | Sequence[float] | None = EXPONENTIAL,
        attempts: int | None = None,
        of: Any = None,
    ) -> Callable[[FunctionT], FunctionT]:
        """The function below is called for each message: awaited, or, where it is a plain one, on a thread.

        `concurrency` messages at once. An exception is a failure: the message comes again after `backoff`, an
        exponential one, a list of seconds, or None for what the queue's policy says. `attempts`: of a queue that is not
        there yet, and is then made. `of`: the function gets the body, as JSON of this type, instead of the message.
        """
        if concurrency < 1 or lease <= 0 or (isinstance(backoff, Sequence) and not backoff):
            raise ValueError("concurrency and lease are above 0, and a list for the back-off is not empty")

        def keep(function: FunctionT) -> FunctionT:
            self._handlers.append(Handler(queue, function, concurrency, lease, backoff, attempts, of))
            return function

        return keep

    def run(self) -> None:
        """Works until SIGTERM or SIGINT. The second one grants no more grace."""
        asyncio.run(self._run())

    async def serve(self, client: Client | None = None) -> None:
        """Works until `stop`, through a client of its own unless it is given one that is open."""
        if client is not None:
            await self._serve(client)
            return
        async with self._make_client() as own:
            await self._serve(own)

    def stop(self) -> None:
        """Takes no more messages; `serve` returns when those at work are done. Again: grants no more grace."""
        self._asked += 1
        if self._stopping is not None:
            self._stopping.set()
        if self._asked > 1:
            for lane in self._lanes:
                lane.stop()

    # -- inside

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self.stop)
        try:
            await self.serve()
        finally:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)

    async def _serve(self, client: Client) -> None:
        self._lanes = [Lane(client, handler) for handler in self._handlers]
        self._stopping = stopping = asyncio.Event()
        if self._asked:
            stopping.set()
        running = [asyncio.create_task(work) for work in (_until(stopping), *(lane.run() for lane in self._lanes))]
        grace = 0.0
        try:
            await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            grace = self._grace
        finally:
            await self._end(client, running, grace)

    async def _end(self, client: Client, running: list[asyncio.Task[None]], grace: float) -> None:
        for task in running:
            task.cancel()
        await asyncio.wait(running)
        await client.withdraw()
        await asyncio.gather(*(lane.drain(grace) for lane in self._lanes))
        self._asked = 0
        for task in running:
            with suppress(asyncio.CancelledError):
                task.result()


async def _until(event: asyncio.Event) -> None:
    await event.wait()
