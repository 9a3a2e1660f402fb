"""A poster over WebSocket that wants to be told of every stage. Its session outlives its connection, and the server."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any, Final

from demo.actors.producer import LOST, Producer, Refused
from demo.actors.talk import Talk
from demo.orders import ORDERS, Order
from demo.premises import HOST

STAGES: Final = ("ready", "write", "sync", "assign", "retry", "finish", "drop")
SAFE: Final = "sync"
PRIORITY: Final = {"urgent": 1_000}
MAKE: Final = 0  # the label of the request that makes the queue; if it is there, that is as good


class Glovebox(Producer):
    """`notices`: what was told of each post, by its label."""

    voice = "glovebox"

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.notices: dict[int, list[str]] = {}
        self._labels = itertools.count(1)
        self._id = 0

    async def connect(self) -> None:
        headers = {"DURABLE-SESSION": "true"} | ({"RECONNECT-AS": str(self._id)} if self._id else {})
        self._talk = await Talk.open(f"ws://{HOST}:{self.port}/connect", headers)
        self._id = (await self._talk.hear())["id"]
        await self._talk.say(type="create", queue=ORDERS, label=MAKE)

    async def publish(self, order: Order) -> None:
        label = next(self._labels)
        self.notices[label] = []
        priority = PRIORITY.get(order.kind, 0)
        await self._talk.say(
            type="post", queue=ORDERS, message=order.body, priority=priority, label=label, notify=STAGES
        )
        while SAFE not in self.notices[label]:
            self._note(await self._talk.hear())

    async def listen(self) -> None:
        """For ever: what becomes of the posts."""
        while True:
            try:
                self._note(await self._talk.hear())
            except LOST:
                await self.reconnect()

    def _note(self, said: dict[str, Any]) -> None:
        if said["label"] == MAKE:
            return
        if said["type"] != "notice":
            raise Refused(str(said))
        self.notices[said["label"]].append(said["notice"])

    def lives_since(self, label: int) -> list[list[str]]:
        """What was told of later posts that were safe. The lists grow."""
        return [notices for at, notices in self.notices.items() if at > label and SAFE in notices]

    def counted(self) -> dict[str, int]:
        told = Counter(notice for notices in self.notices.values() for notice in notices)
        return {stage: told[stage] for stage in STAGES}

    async def close(self) -> None:
        await self._talk.close()
