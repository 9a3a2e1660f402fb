"""Calls under way: each has a label, an answer to come, and a rule for what happens when the connection breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from penstock.client import frames
from penstock.client.errors import Disconnected, PenstockError, refusal
from penstock.client.frames import Answer, Error, Request, Reserve


class Reply(NamedTuple):
    """`repeated`: it was sent more than once, so an earlier one may have been heard too."""

    answer: Answer
    repeated: bool


class Call:
    """`repeat`: it may be sent again. `stray`: what to do with an answer that nobody waits for any more."""

    def __init__(self, request: Request, repeat: bool, stray: Callable[[Answer], None] | None) -> None:
        self.label = request.label
        self.payload = frames.encode(request)
        self.reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self.sent = 0  # how often
        self.idles = isinstance(request, Reserve)  # it may wait for long, and costs nothing meanwhile
        self._heard = 0  # answers: to a repeated call there may come more than one
        self._queue = request.queue
        self._repeat = repeat
        self._stray = stray

    def answered(self, answer: Answer) -> None:
        self._heard += 1
        if self.reply.done():
            self._astray(answer)
        elif isinstance(answer, Error):
            self.fail(refusal(answer.code, answer.key, self._queue))
        else:
            self.reply.set_result(Reply(answer, self.sent > 1))

    def fail(self, error: PenstockError) -> None:
        if not self.reply.done():
            self.reply.set_exception(error)

    def interrupted(self, why: Exception) -> None:
        """The connection broke."""
        if self.sent and not self._repeat:
            error = Disconnected(f"the connection broke before the answer came: {why}")
            error.__cause__ = why
            self.fail(error)

    def abandoned(self) -> None:
        """Its caller has gone, perhaps in the very moment that the answer came."""
        if self.reply.done() and not self.reply.cancelled() and self.reply.exception() is None:
            self._astray(self.reply.result().answer)

    def may_hear_more(self) -> bool:
        """An answer may come, when nobody waits for it, that must be seen to."""
        return self._stray is not None and self._heard < self.sent

    def _astray(self, answer: Answer) -> None:
        if self._stray is not None:
            self._stray(answer)
