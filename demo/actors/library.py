"""A producer with `penstock.Client`, which reconnects by itself and never publishes twice."""

from __future__ import annotations

from typing import Final

from demo.actors.producer import Producer
from demo.orders import DELAY_S, ORDERS, Order
from demo.premises import HOST
from demo.telling import PATIENCE_S
from penstock import Client

PRIORITY: Final = {"urgent": 1_000}


class Library(Producer):
    voice = "Python"

    async def connect(self) -> None:
        self._client = Client(f"ws://{HOST}:{self.port}", timeout=PATIENCE_S)
        await self._client.open()

    async def publish(self, order: Order) -> None:
        delay_s = DELAY_S if order.kind == "later" else None
        await self._client.publish(ORDERS, order.body, delay=delay_s, priority=PRIORITY.get(order.kind))

    async def close(self) -> None:
        await self._client.close()
