"""How a client lets go of messages, or holds them longer: requests of at most a thousand, and what answers mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from msgspec import UNSET

from penstock.client.asking import Stage, expected
from penstock.client.calls import Reply
from penstock.client.drafts import seconds
from penstock.client.frames import FRAME_MESSAGES_MAX, Ended, Extend, Finish, Place, Release, Request
from penstock.client.message import Delivery
from penstock.client.publishing import Publishing

LEASE_S: Final = 30.0

Make = Callable[[str, list[Place]], Request]  # a request, of a queue and its messages


class Ending(Publishing):
    """The verbs for messages in hand. Each answers with one bool for each: False where its lease had run out."""

    async def finish(
        self, messages: Iterable[Delivery], *, stage: Stage | None = None, timeout: float | None = None
    ) -> list[bool]:
        """They are done, and gone for ever. One of which this is False may be delivered again."""

        def make(queue: str, places: list[Place]) -> Request:
            return Finish(queue, stage or self._stage, messages=places)

        return await self._end(list(messages), make, timeout)

    async def release(
        self,
        messages: Iterable[Delivery],
        *,
        delay: float | None = None,
        failed: bool = False,
        stage: Stage | None = None,
        timeout: float | None = None,
    ) -> list[bool]:
        """Back into their queues, after `delay` seconds. A failure without a delay takes the queue's own back-off."""

        def make(queue: str, places: list[Place]) -> Request:
            wait = UNSET if delay is None else seconds(delay)
            return Release(queue, stage or self._stage, messages=places, delay=wait, failed=failed)

        return await self._end(list(messages), make, timeout)

    async def extend(
        self,
        messages: Iterable[Delivery],
        lease: float = LEASE_S,
        *,
        stage: Stage | None = None,
        timeout: float | None = None,
    ) -> list[bool]:
        """Their leases end `lease` seconds from now."""
        until = self.outside.now() + lease

        def make(queue: str, places: list[Place]) -> Request:
            return Extend(queue, stage or self._stage, messages=places, lease=seconds(lease))

        outcome = await self._ask_for(held := list(messages), make, timeout)
        for message in held:
            message.hold.extended(outcome[message], until)
        return [outcome[message] for message in held]

    async def _end(self, held: list[Delivery], make: Make, timeout: float | None) -> list[bool]:
        outcome = await self._ask_for(held, make, timeout)
        for message in held:
            message.hold.ended_or_lost(outcome[message])
        return [outcome[message] for message in held]

    async def _ask_for(self, held: list[Delivery], make: Make, timeout: float | None) -> dict[Delivery, bool]:
        outcome: dict[Delivery, bool] = {}
        for queue, part in parts(held):
            reply = await self._link.ask(make(queue, [message.place for message in part]), self._patience(timeout))
            outcome |= zip(part, verdicts(reply, part, self.id, self.outside.now()), strict=True)
        return outcome


def parts(messages: Iterable[Delivery]) -> Iterator[tuple[str, list[Delivery]]]:
    """What fits one request: of one queue, and not too many."""
    by_queue: dict[str, list[Delivery]] = {}
    for message in messages:
        by_queue.setdefault(message.queue, []).append(message)
    for queue, whole in by_queue.items():
        for at in range(0, len(whole), FRAME_MESSAGES_MAX):
            yield queue, whole[at : at + FRAME_MESSAGES_MAX]


def verdicts(reply: Reply, messages: Sequence[Delivery], client_id: int, now: float) -> list[bool]:
    """Whether each was done. A repeated request that finds a message gone had been heard the first time, if the lease
    cannot have run out since: nobody else could have ended it."""
    done = expected(reply.answer, Ended).messages
    return [
        here or (reply.repeated and message.hold.holder == client_id and now < message.hold.until)
        for message, here in zip(messages, done, strict=True)
    ]
