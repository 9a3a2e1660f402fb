"""One handler at work: it reserves as many messages as it has hands free, and sees each to its end.

Law: a message whose handler was stopped goes back without a failure.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from penstock.client.backoff import Backoff
from penstock.client.client import ROUND_S, Client
from penstock.client.errors import NoQueue, PenstockError
from penstock.client.frames import FRAME_MESSAGES_MAX
from penstock.client.handlers import GIVEN_BACK, Handler, Outcome
from penstock.client.message import Message
from penstock.client.outside import sleep

_SETTLE_S: Final = 5.0  # for telling the server what became of the messages
_BACKOFF: Final = Backoff(first=0.1, most=10.0, jitter=0.5)
_LOG: Final = logging.getLogger("penstock.worker")


class Lane:
    """`run` it until that is cancelled, then `drain` it."""

    def __init__(self, client: Client, handler: Handler) -> None:
        self._client = client
        self._handler = handler
        self._busy: set[asyncio.Task[None]] = set()
        self._working: set[asyncio.Task[None]] = set()  # of those, the ones inside the handler
        self._stopped = False

    async def run(self) -> None:
        """Trouble with the server is waited out."""
        troubles = 0
        while True:
            try:
                await self._round()
                troubles = 0
            except PenstockError as error:
                _LOG.warning("nothing could be reserved from %r: %s", self._handler.queue, error)
                await sleep(self._client.outside, _BACKOFF.delay(troubles))
                troubles += 1

    async def drain(self, grace: float) -> None:
        """Waits for handlers at work, up to `grace` seconds; then stops them, and gives their messages back."""
        timers = [
            self._client.outside.later(grace, self.stop),
            self._client.outside.later(grace + _SETTLE_S, self._cancel_all),
        ]
        while self._busy:
            await asyncio.wait(self._busy)
        for timer in timers:
            timer.cancel()

    def stop(self) -> None:
        """Interrupts the handlers, not what is told to the server."""
        self._stopped = True
        for task in self._working:
            task.cancel()

    def _cancel_all(self) -> None:
        for task in self._busy:
            task.cancel()

    # -- reserving

    async def _round(self) -> None:
        handler = self._handler
        free = await self._free_hands()
        try:
            messages = await self._client.reserve(handler.queue, max=free, lease=handler.lease, wait=ROUND_S)
        except NoQueue:
            await self._client.create(handler.queue, retries=handler.attempts)
            return
        for message in messages:
            self._start(message)

    async def _free_hands(self) -> int:
        """Waits until there is one."""
        while len(self._busy) >= self._handler.concurrency:
            await asyncio.wait(self._busy, return_when=asyncio.FIRST_COMPLETED)
        return min(self._handler.concurrency - len(self._busy), FRAME_MESSAGES_MAX)

    # -- one message

    def _start(self, message: Message) -> None:
        task = asyncio.create_task(self._handle(message))
        self._busy.add(task)
        task.add_done_callback(self._busy.discard)

    async def _handle(self, message: Message) -> None:
        async with self._client.keep(message):
            try:
                outcome = await self._outcome(message)
                if not message.hold.ended and not await _settle(message, outcome):
                    _LOG.warning("the lease of %r had run out: it may be delivered again", message)
            except PenstockError as error:
                _LOG.warning("what became of %r could not be told: %s", message, error)

    async def _outcome(self, message: Message) -> Outcome:
        task = asyncio.current_task()
        assert task is not None
        self._working.add(task)
        try:
            return await self._handler.outcome(message, self._client.outside)
        except asyncio.CancelledError:
            return GIVEN_BACK if self._stopped else self._handler.failure(message)
        finally:
            self._working.discard(task)


async def _settle(message: Message, outcome: Outcome) -> bool:
    if outcome.finished:
        return await message.finish()
    return await message.release(delay=outcome.delay, failed=outcome.failed)
