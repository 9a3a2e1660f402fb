"""Test your own workers without a server and without waiting: time passes when the test says so. For pytest."""

from __future__ import annotations

import asyncio

from penstock import Message, Worker
from penstock.testing import Broker

worker = Worker()
reminded: list[str] = []


@worker.handle("reminders", backoff=[60, 3_600])
def remind(message: Message) -> None:
    if message.failures < 2:
        raise ConnectionError("the mail server is down")
    reminded.append(message.text)


def test_a_reminder_is_tried_again_after_a_minute_and_after_an_hour() -> None:
    asyncio.run(play())


async def play() -> None:
    async with Broker() as broker, broker.client() as client, broker.working(worker):
        await client.publish("reminders", "water the plants", delay=86_400)
        await broker.advance(86_400 + 60 + 3_599)
        assert reminded == []
        assert broker.counts("reminders").failed == 2

        await broker.advance(1)
        assert reminded == ["water the plants"]
        assert broker.counts("reminders").finished == 1
