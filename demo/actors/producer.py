"""What all producers share: an order is asked for until somebody has said that it is safe."""

from __future__ import annotations

import abc
import asyncio
import time
from collections.abc import Iterable
from typing import ClassVar, Final

from aiohttp import ClientError

from demo.orders import Order

PACE_S: Final = 0.02
AGAIN_S: Final = 0.05
LOST: Final = (OSError, EOFError, ClientError)  # the connection is gone, or cannot be had


class Refused(Exception):
    """The server said no, which it never does in this story."""


class Producer(abc.ABC):
    """One voice. `asked_s`: when an order was first sent; `told`: those that were answered; `repeated`: those sent
    again since nobody answered, so that they may be there twice."""

    voice: ClassVar[str]

    def __init__(self, port: int) -> None:
        self.port = port
        self.asked_s: dict[Order, float] = {}
        self.told: list[Order] = []
        self.repeated: list[Order] = []

    @abc.abstractmethod
    async def connect(self) -> None: ...

    @abc.abstractmethod
    async def publish(self, order: Order) -> None:
        """Returns when it is told. Raises one of LOST when it will never be."""

    @abc.abstractmethod
    async def close(self) -> None: ...

    async def produce(self, orders: Iterable[Order]) -> None:
        for order in orders:
            self.asked_s[order] = time.monotonic()
            while not await self._is_told(order):
                self.repeated.append(order)
                await self.reconnect()
            self.told.append(order)
            await asyncio.sleep(PACE_S)

    async def reconnect(self) -> None:
        await self.close()
        while not await self._is_connected():
            await asyncio.sleep(AGAIN_S)

    async def _is_told(self, order: Order) -> bool:
        try:
            await self.publish(order)
        except LOST:
            return False
        return True

    async def _is_connected(self) -> bool:
        try:
            await self.connect()
        except LOST:
            return False
        return True
