"""Keeps leases from running out while their messages are worked on: all of one queue and length in one request.

A beat comes every half lease, so each message is extended no later than at half-time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from penstock.client.errors import PenstockError
from penstock.client.message import Delivery
from penstock.client.outside import Outside, sleep

Extend = Callable[[Iterable[Delivery], float], Awaitable[object]]

_LOG: Final = logging.getLogger("penstock.client")


class Keeper:
    """One task per queue and length of lease, for as long as there is a message to keep."""

    def __init__(self, outside: Outside, extend: Extend) -> None:
        self._outside = outside
        self._extend = extend
        self._kept: dict[tuple[str, float], set[Delivery]] = {}
        self._beating: dict[tuple[str, float], asyncio.Task[None]] = {}

    @contextmanager
    def keep(self, message: Delivery) -> Iterator[None]:
        group = (message.queue, message.hold.lease)
        self._kept.setdefault(group, set()).add(message)
        if group not in self._beating:
            self._beating[group] = asyncio.create_task(self._beat(*group))
        try:
            yield
        finally:
            self._kept[group].discard(message)
            if not self._kept[group]:
                del self._kept[group]
                self._beating.pop(group).cancel()

    async def _beat(self, queue: str, lease: float) -> None:
        while True:
            await sleep(self._outside, lease / 2)
            until = self._outside.now() + lease
            due = [message for message in self._kept[queue, lease] if _wants(message, until)]
            try:
                await self._extend(due, lease)
            except PenstockError as error:
                _LOG.warning("leases of %r could not be extended: %s", queue, error)


def _wants(message: Delivery, until: float) -> bool:
    """Whoever extended it further by hand must not have it shortened."""
    hold = message.hold
    return not hold.ended and not hold.lost and hold.until < until
