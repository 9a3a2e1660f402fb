"""What a worker calls for each message, and what becomes of the message by the way that ends."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

from penstock.client.backoff import Backoff, Steps
from penstock.client.message import Message
from penstock.client.outside import Outside

Function = Callable[[Any], Any]

_LOG: Final = logging.getLogger("penstock.worker")


class Retry(Exception):
    """Raised by a handler: not now. The message comes again `after` seconds, and no failure is counted."""

    def __init__(self, after: float = 0.0) -> None:
        super().__init__(f"again after {after} s")
        self.after: Final = after


class Drop(Exception):
    """Raised by a handler: never again. The message is finished, as if it had been done."""


class Outcome(NamedTuple):
    """Finished, or released like this."""

    finished: bool
    delay: float | None = None
    failed: bool = False


FINISHED: Final = Outcome(True)
GIVEN_BACK: Final = Outcome(False)


@dataclass(frozen=True, slots=True)
class Handler:
    """A function and how it wants its messages. `of`: it gets the body, read as JSON of this type, instead of them."""

    queue: str
    function: Function
    concurrency: int
    lease: float
    backoff: Backoff | Sequence[float] | None
    attempts: int | None
    of: Any

    async def outcome(self, message: Message, outside: Outside) -> Outcome:
        try:
            await self._call(message, outside)
        except Retry as again:
            return Outcome(False, again.after)
        except Drop as why:
            _LOG.warning("%r is dropped by its handler: %s", message, why)
        except Exception:
            _LOG.exception("%r failed", message)
            return self.failure(message)
        return FINISHED

    def failure(self, message: Message) -> Outcome:
        """Without a back-off of its own, the queue's policy says when it comes again."""
        if self.backoff is None:
            return Outcome(False, failed=True)
        backoff = self.backoff if isinstance(self.backoff, Backoff) else Steps(self.backoff)
        return Outcome(False, backoff.delay(message.failures), failed=True)

    async def _call(self, message: Message, outside: Outside) -> None:
        given = message if self.of is None else message.json(self.of)
        if is_async(self.function):
            await self.function(given)
        else:
            await outside.call(partial(self.function, given))


def is_async(function: Function) -> bool:
    """Of functions, and of objects that can be called like one."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
