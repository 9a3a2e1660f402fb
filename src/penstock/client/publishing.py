"""Publishing, and the queues for it. Every message gets a dedup id, so that a publish can be repeated safely."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import UNSET

from penstock.client.asking import Asking, Stage, expected
from penstock.client.drafts import Draft, entry
from penstock.client.errors import QueueExists
from penstock.client.frames import FRAME_MESSAGES_MAX, Create, Publish, Published, PublishedAll


class Publishing(Asking):
    """The verbs of those who have something to be done."""

    def _prepare(self) -> None:
        super()._prepare()
        self._dedup_ids = _dedup_ids()

    async def create(
        self, queue: str, *, retries: int | None = None, stage: Stage | None = None, timeout: float | None = None
    ) -> bool:
        """Makes a queue, whose messages are dropped after so many failures. False: it is there, and stays as it is."""
        request = Create(queue, stage or self._stage, retries=UNSET if retries is None else retries)
        try:
            await self._link.ask(request, self._patience(timeout))
        except QueueExists:
            return False
        return True

    async def publish(
        self,
        queue: str,
        body: str | bytes | None = None,
        *,
        json: Any = UNSET,
        delay: float | None = None,
        ttl: float | None = None,
        key: str | bytes | None = None,
        priority: int | None = None,
        dedup_id: str | None = None,
        create: bool = True,
        stage: Stage | None = None,
        timeout: float | None = None,
    ) -> Published:
        """One message, as text, bytes or `json`. `create`: the queue is made where there is none."""
        draft = Draft(body, json=json, delay=delay, ttl=ttl, key=key, priority=priority, dedup_id=dedup_id)
        return (await self.publish_many(queue, [draft], create=create, stage=stage, timeout=timeout))[0]

    async def publish_many(
        self,
        queue: str,
        messages: Iterable[Draft | str | bytes],
        *,
        create: bool = True,
        stage: Stage | None = None,
        timeout: float | None = None,
    ) -> list[Published]:
        """All of them or none, and so a thousand at most."""
        drafts = [message if isinstance(message, Draft) else Draft(message) for message in messages]
        if len(drafts) > FRAME_MESSAGES_MAX:
            raise ValueError(f"at most {FRAME_MESSAGES_MAX:,} messages at once, and these are {len(drafts):,}")
        if not drafts:
            return []
        entries = [entry(draft, next(self._dedup_ids)) for draft in drafts]
        request = Publish(queue, stage or self._stage, create=create, messages=entries)
        repeat = all(one.dedup_id is not UNSET or one.mark is not UNSET for one in entries)
        reply = await self._link.ask(request, self._patience(timeout), repeat)
        told = expected(reply.answer, PublishedAll).messages
        return [_as_meant(draft, one) for draft, one in zip(drafts, told, strict=True)]


def _dedup_ids() -> Iterator[str]:
    """Short, and never the same in two clients."""
    return (f"{prefix}.{number}" for prefix in (secrets.token_urlsafe(9),) for number in itertools.count(1))


def _as_meant(draft: Draft, told: Published) -> Published:
    """A duplicate under an id the client made up is its own repetition: for the caller there was one."""
    return Published(told.shard, told.sequence) if draft.dedup_id is None and draft.mark is None else told
