"""A worker on `penstock.Worker`: it fails on some orders, and publishes a receipt for each that it has done."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import Final

from demo.orders import FLAKY_FAILURES, ORDERS, RECEIPTS, Order, order_of
from demo.telling import PATIENCE_S
from penstock import Backoff, Client, Message, Worker

CONCURRENCY: Final = 6
LEASE_S: Final = 5.0
WORK_S: Final = 0.02


class Failed(Exception):
    """A poisoned order, or a flaky one that may succeed the next time."""


class OrderWorker:
    """`first_s`: when an order first came, in that order; `tries`: how often each message came."""

    def __init__(self, url: str, *, mended: bool = False) -> None:
        self.first_s: dict[Order, float] = {}
        self.tries: Counter[str] = Counter()
        self.done: set[Order] = set()
        self._mended = mended
        self._client = Client(url, timeout=PATIENCE_S)
        self._worker = Worker(url, timeout=PATIENCE_S)
        self._worker.handle(
            ORDERS, concurrency=CONCURRENCY, lease=LEASE_S, backoff=Backoff(first=0.1, most=1.0, jitter=0.2)
        )(self._handle)
        self._serving = asyncio.create_task(self._serve())

    async def stop(self) -> None:
        """Those at work come to their end first."""
        self._worker.stop()
        await self._serving

    async def _serve(self) -> None:
        async with self._client:
            await self._worker.serve()

    async def _handle(self, message: Message) -> None:
        order = order_of(message.text)
        self.first_s.setdefault(order, time.monotonic())
        self.tries[message.id] += 1
        if self._fails(order, self.tries[message.id]):
            raise Failed(order.body)
        await asyncio.sleep(WORK_S)
        # Whoever works on an order a second time says the same once more, and the queue knows it by its dedup id.
        await self._client.publish(RECEIPTS, f"receipt for {order.body}", dedup_id=order.body)
        self.done.add(order)

    def _fails(self, order: Order, tries: int) -> bool:
        return (order.kind == "poison" and not self._mended) or (order.kind == "flaky" and tries <= FLAKY_FAILURES)
