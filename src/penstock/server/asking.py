"""A session for callers inside the server: it turns a verb's answer into something to await.

One for each request: when the caller leaves, `cancel` ends its waiting and nobody else's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from penstock.model.contract import Broker, Session, owed_for
from penstock.model.message import Message
from penstock.server.tick import Heart


class StoreIsDead(Exception):
    """The journal died: nothing can be asked any more."""


class Outcome(NamedTuple):
    """What a verb was answered with."""

    code: int
    message: Message | None
    number: int
    value: Any


class AskingSession(Session):
    """Never has bytes of its own; notices and pushes are not for it."""

    def __init__(self, dialect: int, heart: Heart) -> None:
        super().__init__(dialect)
        self._heart = heart
        self._token = 0
        self._waiting: dict[int, asyncio.Future[Outcome]] = {}

    async def ask(self, verb: Callable[..., None], *arguments: object) -> Outcome:
        """Calls `verb(session, token, *arguments)` within a tick and awaits its answer."""
        if not self._heart.begin():
            raise StoreIsDead
        self._token += 1
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting[self._token] = future
        verb(self, self._token, *arguments)
        return await future

    def leave(self, broker: Broker) -> None:
        """What was still waited for is not any more."""
        if self._waiting and self._heart.begin():
            broker.cancel(self)
        self._waiting.clear()

    def answered(self, token: int, code: int, message: Message | None, number: int) -> None:
        if message is not None:
            self.owed -= len(message.body)
        self._settle(token, Outcome(code, message, number, None))

    def answered_with(self, token: int, code: int, value: object) -> None:
        self.owed -= owed_for(value)
        self._settle(token, Outcome(code, None, 0, value))

    def _settle(self, token: int, outcome: Outcome) -> None:
        future = self._waiting.pop(token, None)
        if future is not None and not future.done():
            future.set_result(outcome)
