"""The broker for tests: real promises in simulated time."""

from __future__ import annotations

import asyncio

import pytest

from penstock import Disconnected, NoQueue, Timeout
from penstock.testing import Broker
from tests.client.fake import played


@played
async def test_time_stands_still_until_it_is_advanced() -> None:
    async with Broker() as broker, broker.client() as client:
        began = broker.now()
        await client.publish("q", "later", delay=3_600)
        assert await client.reserve("q") == []
        await broker.advance(3_599)
        assert await client.reserve("q") == []
        await broker.advance(1)
        assert [message.text for message in await client.reserve("q")] == ["later"]
        assert broker.now() == began + 3_600


@played
async def test_what_waits_is_served_at_its_time() -> None:
    async with Broker() as broker, broker.client() as client:
        await client.publish("q", "later", delay=5)
        reserving = asyncio.create_task(client.reserve("q", wait=10))
        await broker.advance(4)
        assert not reserving.done()
        await broker.advance(1)
        assert len(await reserving) == 1


@played
async def test_a_wait_ends_on_time() -> None:
    async with Broker() as broker, broker.client() as client:
        await client.create("q")
        reserving = asyncio.create_task(client.reserve("q", wait=10))
        await broker.advance(10)
        assert await reserving == []


@played
async def test_a_lease_runs_out_and_counts_as_a_failure() -> None:
    async with (
        Broker([{"match": "orders*", "attempts": 2, "dead_letter": "dead"}]) as broker,
        broker.client() as client,
    ):
        await client.publish("orders.new", "a")
        for failures in (0, 1):
            (message,) = await client.reserve("orders.new", lease=30)
            assert message.failures == failures
            await broker.advance(30)
        assert not await message.finish()
        assert (broker.counts("orders.new").dropped, broker.counts("dead").ready) == (1, 1)


@played
async def test_time_outs_of_clients_are_in_simulated_time() -> None:
    async with Broker() as broker, broker.client(timeout=5) as client:
        await client.create("q")

        async def work() -> None:
            async with client.work("q", wait=100):
                pass

        working = asyncio.create_task(work())
        await broker.advance(99)
        assert not working.done()
        await broker.advance(1)
        with pytest.raises(Timeout):
            await working


@played
async def test_a_restart_keeps_what_was_written_and_who_held_it() -> None:
    async with Broker() as broker, broker.client() as client:
        await client.publish_many("q", ["a", "b"])
        (message,) = await client.reserve("q", lease=60)
        await broker.restart()
        await broker.advance(1)
        assert await message.finish()
        assert (broker.counts("q").finished, broker.counts("q").ready) == (1, 1)


@played
async def test_a_publish_under_way_at_a_restart_happens_once() -> None:
    async with Broker([{"match": "*", "dedup_s": 60}]) as broker, broker.client() as client:
        publishing = asyncio.create_task(client.publish("q", "a"))
        while True:
            await asyncio.sleep(0)
            try:
                if broker.counts("q").published:
                    break
            except KeyError:
                pass
        await broker.restart()
        await broker.advance(1)
        told = await publishing
        assert (told.duplicate, broker.counts("q").published) == (False, 1)


@played
async def test_clients_of_one_broker_share_its_queues() -> None:
    async with Broker() as broker, broker.client() as one, broker.client() as other:
        await one.publish("q", "a")
        (message,) = await other.reserve("q")
        assert await message.finish()
        assert one.id != other.id


@played
async def test_a_queue_that_is_not_there() -> None:
    async with Broker() as broker, broker.client() as client:
        with pytest.raises(KeyError):
            broker.counts("q")
        with pytest.raises(NoQueue):
            await client.reserve("q")
        with pytest.raises(NoQueue):
            await client.publish("q", "a", create=False)


@played
async def test_a_broker_that_is_gone_cannot_be_reached() -> None:
    async with Broker() as broker:
        client = broker.client()
        await client.open()
        await client.close()
        with pytest.raises(Disconnected):
            await client.publish("q", "a")


def test_a_policy_that_is_wrong_is_refused() -> None:
    with pytest.raises(ValueError, match="atempts"):
        Broker([{"match": "q", "atempts": 3}])
