"""Publishers and a worker through any order of broken connections and restarts, in simulated time."""

from __future__ import annotations

import asyncio
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import Message, Published, Worker
from penstock.testing import Broker
from tests.client.fake import played

LONG_S = 300.0
HANDS = 3

PEACEFUL = [
    *[("publish", 0.0)] * 3,
    *[("turns", float(turns)) for turns in (1, 2, 3, 4, 6, 9)],  # of the loop: so that calls are in the middle
    *[("advance", seconds) for seconds in (0.01, 1.0, 12.0, 40.0)],
]
CUTS = [("cut", 0.0)] * 4
RESTARTS = [("restart", 0.0)] * 2


def steps_of(table: list[tuple[str, float]]) -> st.SearchStrategy[list[tuple[str, float]]]:
    return st.lists(st.sampled_from(table), min_size=5, max_size=30).map([("publish", 0.0)].__add__)


@settings(max_examples=60)
@given(
    steps=steps_of(PEACEFUL + CUTS) | steps_of(PEACEFUL + CUTS + RESTARTS), slowness=st.sampled_from([0.0, 5.0, 45.0])
)
def test_every_message_is_published_once_and_finished(steps: list[tuple[str, float]], slowness: float) -> None:
    play(steps, slowness)


@played
async def play(steps: list[tuple[str, float]], slowness: float) -> None:
    worker, handled = Worker(), Counter[str]()

    @worker.handle("orders", concurrency=HANDS, lease=20)
    async def handle(message: Message) -> None:
        over = asyncio.Event()
        broker._world.later(slowness, over.set)
        await over.wait()
        handled[message.text] += 1

    publishing: list[asyncio.Task[Published]] = []
    async with Broker([{"match": "*", "dedup_s": LONG_S}]) as broker:
        async with broker.client(timeout=LONG_S) as client, broker.working(worker):
            for step, amount in steps:
                if step == "publish":
                    body = str(len(publishing))
                    publishing.append(asyncio.create_task(client.publish("orders", body)))
                elif step == "turns":
                    for _ in range(int(amount)):
                        await asyncio.sleep(0)
                elif step == "advance":
                    await broker.advance(amount)
                else:
                    await getattr(broker, step)()
            await broker.advance(LONG_S)
            assert [told.duplicate for told in await asyncio.gather(*publishing)] == [False] * len(publishing)
            assert set(handled) == {str(number) for number in range(len(publishing))}
        counts = broker.counts("orders")
        assert (counts.published, counts.finished) == (len(publishing), len(publishing))
        # Only what was handed out in an answer that got lost may run out: one answer a trouble, at most.
        troubles = sum(step in ("cut", "restart") for step, _ in steps)
        assert counts.failed <= HANDS * troubles
