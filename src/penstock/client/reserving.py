"""Reserving. Law: what the server handed out is in a caller's hands, or goes back without a failure."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Final

from penstock.client.asking import Stage, expected
from penstock.client.drafts import seconds
from penstock.client.ending import LEASE_S, Ending
from penstock.client.errors import PenstockError
from penstock.client.frames import FRAME_MESSAGES_MAX, Answer, Reserve, Reserved
from penstock.client.link import GOODBYE_S
from penstock.client.message import Delivery, Hold, Message

_TRAVEL_S: Final = 1.0  # an answer may have been so long on its way: a lease is reckoned from as much earlier
_LOG: Final = logging.getLogger("penstock.client")


class Reserving(Ending):
    """The verb of those who do the work."""

    def _prepare(self) -> None:
        super()._prepare()
        self._strays: list[Delivery] = []  # handed out to callers who had gone
        self._returning: asyncio.Task[None] | None = None

    async def reserve(
        self,
        queue: str,
        *,
        max: int = 1,
        lease: float = LEASE_S,
        wait: float = 0.0,
        stage: Stage | None = None,
        timeout: float | None = None,
    ) -> list[Message]:
        """Up to `max` messages, held for `lease` seconds. Where there is none it waits up to `wait` seconds for one."""
        if not 1 <= max <= FRAME_MESSAGES_MAX:
            raise ValueError(f"from 1 to {FRAME_MESSAGES_MAX:,} messages at once, not {max:,}")
        request = Reserve(queue, stage or self._stage, max=max, lease=seconds(lease), wait=seconds(wait))
        held = partial(self._held, queue, lease, self.outside.now())
        patience = wait + self._patience(timeout)
        reply = await self._link.ask(request, patience, stray=lambda answer: self._on_stray(held(answer)))
        return held(reply.answer)

    def _held(self, queue: str, lease: float, asked: float, answer: Answer) -> list[Message]:
        until = max(asked, self.outside.now() - _TRAVEL_S) + lease
        given = expected(answer, Reserved).messages
        return [Message(self, queue, one, Hold(self.id, lease, until)) for one in given]

    # -- giving back

    async def withdraw(self) -> None:
        """Has the server forget reserves that were cancelled while they waited: else they get what comes next, and it
        has to go back. Other calls under way are repeated, as after any broken connection."""
        await self._link.renew()

    async def close(self) -> None:
        """Says goodbye. Calls under way fail with Disconnected; what came for them in the last moment is given back."""
        await super().close()
        if self._returning is not None:
            await self._returning
        if self._strays:
            await self._come_back()

    def _on_stray(self, messages: list[Message]) -> None:
        self._strays += messages
        if messages and self._returning is None and self._link.is_open:
            self._returning = asyncio.create_task(self._give_back())

    async def _give_back(self) -> None:
        try:
            while strays := list(self._strays):
                await self.release(strays)
                del self._strays[: len(strays)]
        except PenstockError as error:
            _LOG.warning("messages that nobody waits for could not be given back: %s", error)
        finally:
            self._returning = None

    async def _come_back(self) -> None:
        """Once more, under the same id."""
        try:
            await self._link.open(GOODBYE_S)
            await self._give_back()
        except PenstockError as error:
            _LOG.warning("messages that came in the last moment could not be given back: %s", error)
        finally:
            await self._link.close()
