"""The asynchronous client: a queue's verbs as calls, and a block that works on a message and settles it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from penstock.client.ending import LEASE_S
from penstock.client.errors import LeaseLost, PenstockError, Timeout
from penstock.client.keeper import Keeper
from penstock.client.link import GOODBYE_S
from penstock.client.message import Delivery, Message
from penstock.client.reserving import Reserving

ROUND_S: Final = 60.0  # one reserve of those who wait longer
_LOG: Final = logging.getLogger("penstock.client")


class Client(Reserving):
    """One connection that heals itself, for any number of tasks: `async with Client(url) as client: …`

    `stage` is how durable a change is when its call returns; `timeout`, in seconds, holds for each call, beside what a
    reserve waits; `in_flight` is how many calls may be unanswered: further ones wait for their turn.
    """

    def _prepare(self) -> None:
        super()._prepare()
        self._keeper = Keeper(self.outside, self.extend)

    @asynccontextmanager
    async def keep(self, message: Delivery) -> AsyncIterator[None]:
        """Extends the message's lease, no later than at half-time, again and again as long as the block lasts."""
        with self._keeper.keep(message):
            yield

    @asynccontextmanager
    async def work(self, queue: str, *, lease: float = LEASE_S, wait: float | None = None) -> AsyncIterator[Message]:
        """Waits for a message and keeps it during the block; after it, finishes it. An exception releases it as failed,
        and goes on. Raises Timeout where none came within `wait`, LeaseLost where it could not be finished."""
        message = await self._next(queue, lease, wait)
        with self._keeper.keep(message):
            try:
                yield message
            except BaseException as error:
                await self._release_after(message, error)
                raise
            if not message.hold.ended and not await message.finish():
                raise LeaseLost(f"the lease of {message.id} had run out before it was finished")

    async def _next(self, queue: str, lease: float, wait: float | None) -> Message:
        until = None if wait is None else self.outside.now() + wait
        while True:
            left = ROUND_S if until is None else until - self.outside.now()
            if messages := await self.reserve(queue, lease=lease, wait=max(0.0, min(left, ROUND_S))):
                return messages[0]
            if until is not None and self.outside.now() >= until:
                raise Timeout(f"no message came from {queue!r} within {wait} s")

    async def _release_after(self, message: Message, error: BaseException) -> None:
        """Whoever was merely stopped has not failed, and is not kept waiting."""
        if message.hold.ended:
            return
        try:
            failed = isinstance(error, Exception)
            await self.release([message], failed=failed, timeout=None if failed else GOODBYE_S)
        except PenstockError as trouble:
            _LOG.warning("%r could not be released: %s", message, trouble)
