"""The worker, on a broker with simulated time: what becomes of messages, by the way their handlers end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import msgspec
import pytest

from penstock import Backoff, Client, Drop, Message, Retry, Worker
from penstock.testing import Broker
from tests.client.fake import ends, fake_server, gives, played, says


class Order(msgspec.Struct):
    number: int


class Trouble(Exception):
    """What a handler runs into."""


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "penstock.worker")


@played
async def test_every_message_is_handled_and_finished() -> None:
    worker, seen = Worker(), list[str]()

    @worker.handle("orders", concurrency=4)
    async def handle(message: Message) -> None:
        seen.append(message.text)

    async with Broker() as broker, broker.client() as client:
        await client.publish_many("orders", [str(number) for number in range(10)])
        async with broker.working(worker):
            await broker.settle()
        assert sorted(seen, key=int) == [str(number) for number in range(10)]
        assert broker.counts("orders").finished == 10


@played
async def test_a_worker_may_come_before_the_first_message() -> None:
    worker, seen = Worker(), list[str]()

    @worker.handle("orders", attempts=2, backoff=[1])
    def handle(message: Message) -> None:
        seen.append(message.text)
        raise Trouble

    async with Broker() as broker, broker.client() as client, broker.working(worker):
        await client.publish("orders", "a")
        await broker.advance(60)
        assert seen == ["a", "a"]
        assert broker.counts("orders").dropped == 1


@played
async def test_no_more_messages_are_at_work_than_there_are_hands() -> None:
    worker, go_on = Worker(), asyncio.Event()
    at_work, most = 0, 0

    @worker.handle("orders", concurrency=3)
    async def handle(message: Message) -> None:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await go_on.wait()
        at_work -= 1

    async with Broker() as broker, broker.client() as client:
        await client.publish_many("orders", ["x"] * 10)
        async with broker.working(worker):
            assert (at_work, broker.counts("orders").leased) == (3, 3)
            go_on.set()
            await broker.settle()
        assert (most, broker.counts("orders").finished) == (3, 10)


@pytest.mark.parametrize(
    ("backoff", "times"),
    [
        (Backoff(first=1, most=5), [0, 1, 3, 7, 12, 17]),
        ([2, 10], [0, 2, 12, 22]),
        (None, [0, 4, 8, 12]),
    ],
)
@played
async def test_a_failure_is_tried_again_after_the_back_off(
    backoff: Backoff | list[float] | None, times: list[int]
) -> None:
    worker, began = Worker(), list[float]()

    @worker.handle("orders", backoff=backoff)
    def handle(message: Message) -> None:
        began.append(broker.now())
        raise Trouble

    async with Broker([{"match": "orders", "backoff_s": [4]}]) as broker, broker.client() as client:
        await client.publish("orders", "a")
        async with broker.working(worker):
            await broker.advance(times[-1])
            assert [round(at - began[0]) for at in began] == times
            assert broker.counts("orders").failed == len(times)


@played
async def test_retry_comes_again_and_is_no_failure() -> None:
    worker, seen = Worker(), list[tuple[int, int]]()

    @worker.handle("orders")
    def handle(message: Message) -> None:
        seen.append((message.deliveries, message.failures))
        if message.deliveries < 3:
            raise Retry(after=60)

    async with Broker() as broker, broker.client() as client, broker.working(worker):
        await client.publish("orders", "a")
        await broker.advance(119)
        assert seen == [(1, 0), (2, 0)]
        await broker.advance(1)
        assert seen[2:] == [(3, 0)]
        assert broker.counts("orders").finished == 1


@played
async def test_drop_is_the_end_of_a_message() -> None:
    worker = Worker()

    @worker.handle("orders")
    def handle(message: Message) -> None:
        raise Drop("nobody wants it")

    async with Broker() as broker, broker.client() as client, broker.working(worker):
        await client.publish("orders", "a")
        await broker.settle()
        assert broker.counts("orders").finished == 1


@played
async def test_a_handler_may_end_its_message_itself() -> None:
    worker = Worker()

    @worker.handle("orders")
    async def handle(message: Message) -> None:
        if message.deliveries == 1:
            await message.release(delay=5)

    async with Broker() as broker, broker.client() as client, broker.working(worker):
        await client.publish("orders", "a")
        await broker.settle()
        assert broker.counts("orders").delayed == 1
        await broker.advance(5)
        assert broker.counts("orders").finished == 1


@played
async def test_a_handler_can_be_given_bodies_of_a_type() -> None:
    worker, seen = Worker(), list[int]()

    @worker.handle("orders", of=Order, backoff=[60])
    async def handle(order: Order) -> None:
        seen.append(order.number)

    async with Broker() as broker, broker.client() as client, broker.working(worker):
        await client.publish("orders", json={"number": 7})
        await client.publish("orders", "no order")
        await broker.settle()
        assert seen == [7]
        assert (broker.counts("orders").finished, broker.counts("orders").failed) == (1, 1)


@played
async def test_a_lease_does_not_run_out_under_a_slow_handler() -> None:
    worker, done = Worker(), asyncio.Event()

    @worker.handle("orders", lease=10)
    async def handle(message: Message) -> None:
        await done.wait()

    async with Broker() as broker, broker.client() as client, broker.working(worker):
        await client.publish("orders", "a")
        await broker.advance(3_600)
        done.set()
        await broker.settle()
        assert (broker.counts("orders").finished, broker.counts("orders").delivered) == (1, 1)


@played
async def test_two_handlers_serve_two_queues() -> None:
    worker, seen = Worker(), list[str]()

    def handler(name: str) -> Callable[[Message], None]:
        return lambda message: seen.append(f"{name} {message.text}")

    worker.handle("a")(handler("first"))
    worker.handle("b")(handler("second"))
    async with Broker() as broker, broker.client() as client, broker.working(worker):
        await client.publish("a", "x")
        await client.publish("b", "y")
        await broker.settle()
    assert sorted(seen) == ["first x", "second y"]


@pytest.mark.parametrize("trouble", ["cut", "restart"])
@played
async def test_a_worker_goes_on_after_a_broken_connection(trouble: str) -> None:
    worker, go_on, seen = Worker(), asyncio.Event(), list[str]()

    @worker.handle("orders", concurrency=2)
    async def handle(message: Message) -> None:
        seen.append(message.text)
        await go_on.wait()

    async with Broker() as broker, broker.client() as client, broker.working(worker):
        await client.publish("orders", "a")
        await broker.settle()
        await getattr(broker, trouble)()
        go_on.set()
        await broker.advance(1)
        publishing = asyncio.create_task(client.publish("orders", "b"))
        await broker.advance(1)
        await publishing
        assert seen == ["a", "b"]
        assert (broker.counts("orders").finished, broker.counts("orders").failed) == (2, 0)


# -- the end


@played
async def test_a_handler_that_ends_within_the_grace_time_is_waited_for() -> None:
    worker, go_on = Worker(grace=30), asyncio.Event()

    @worker.handle("orders")
    async def handle(message: Message) -> None:
        await go_on.wait()

    async with Broker() as broker, broker.client() as client:
        await client.publish_many("orders", ["a", "b"])
        serving = asyncio.create_task(worker.serve(client))
        await broker.settle()
        worker.stop()
        await broker.advance(29)
        assert not serving.done()
        go_on.set()
        await broker.settle()
        await serving
        counts = broker.counts("orders")
        assert (counts.finished, counts.ready, counts.failed) == (1, 1, 0)


@played
async def test_a_handler_that_does_not_is_interrupted_and_burns_no_failure() -> None:
    worker, ended = Worker(grace=30), list[str]()

    @worker.handle("orders", concurrency=2)
    async def handle(message: Message) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(message.text)

    async with Broker() as broker, broker.client() as client:
        await client.publish_many("orders", ["a", "b"])
        serving = asyncio.create_task(worker.serve(client))
        await broker.settle()
        worker.stop()
        await broker.advance(31)
        await serving
        counts = broker.counts("orders")
        assert sorted(ended) == ["a", "b"]
        assert (counts.ready, counts.failed, counts.leased) == (2, 0, 0)


@played
async def test_a_second_stop_grants_no_more_grace() -> None:
    worker = Worker(grace=3_600)

    @worker.handle("orders")
    async def handle(message: Message) -> None:
        await asyncio.Event().wait()

    async with Broker() as broker, broker.client() as client:
        await client.publish("orders", "a")
        serving = asyncio.create_task(worker.serve(client))
        await broker.settle()
        worker.stop()
        worker.stop()
        await broker.settle()
        await serving
        assert (broker.counts("orders").ready, broker.counts("orders").failed) == (1, 0)


@played
async def test_a_worker_whose_task_is_cancelled_gives_its_messages_back() -> None:
    worker = Worker()

    @worker.handle("orders")
    async def handle(message: Message) -> None:
        await asyncio.Event().wait()

    async with Broker() as broker, broker.client() as client:
        await client.publish("orders", "a")
        serving = asyncio.create_task(worker.serve(client))
        await broker.settle()
        serving.cancel()
        await broker.advance(1)
        with pytest.raises(asyncio.CancelledError):
            await serving
        assert (broker.counts("orders").ready, broker.counts("orders").failed) == (1, 0)


@played
async def test_a_handler_that_cancels_itself_has_failed() -> None:
    worker = Worker()

    @worker.handle("orders", backoff=[60])
    async def handle(message: Message) -> None:
        raise asyncio.CancelledError

    async with Broker() as broker, broker.client() as client, broker.working(worker):
        await client.publish("orders", "a")
        await broker.settle()
        assert (broker.counts("orders").failed, broker.counts("orders").delayed) == (1, 1)


@played
async def test_a_stopped_worker_can_serve_again() -> None:
    worker, seen = Worker(), list[str]()
    worker.handle("orders")(lambda message: seen.append(message.text))
    async with Broker() as broker, broker.client() as client:
        for body in ("a", "b"):
            await client.publish("orders", body)
            async with broker.working(worker):
                await broker.settle()
    assert seen == ["a", "b"]


def test_a_worker_serves_in_one_loop_after_another() -> None:
    worker, seen = Worker(), list[str]()
    worker.handle("orders")(lambda message: seen.append(message.text))

    @played
    async def play(body: str) -> None:
        async with Broker() as broker, broker.client() as client, broker.working(worker):
            await client.publish("orders", body)
            await broker.settle()

    play("a")
    play("b")
    assert seen == ["a", "b"]


@played
async def test_a_worker_that_was_stopped_before_it_began_ends_at_once() -> None:
    worker = Worker()
    worker.handle("orders")(lambda message: None)
    worker.stop()
    async with Broker() as broker, broker.client() as client:
        serving = asyncio.create_task(worker.serve(client))
        await broker.settle()
        assert serving.done()


@played
async def test_what_is_handed_out_while_the_worker_stops_goes_back() -> None:
    worker = Worker()
    worker.handle("orders")(lambda message: None)
    async with fake_server() as server:
        server.answers |= {"release": ends("released"), "create": says("notice", notice="ready")}
        async with Client(server.url) as client:
            serving = asyncio.create_task(worker.serve(client))
            await server.until(lambda server: server.types() == ["reserve"])
            server.on_goodbye = lambda line: gives("a")(line, server.heard[0]) if len(server.heads) == 1 else None
            worker.stop()
            await serving
            await server.until(lambda server: "release" in server.types())
    assert not server.heard[1]["failed"]
    assert server.types() == ["reserve", "release"]


@pytest.mark.parametrize("options", [{"concurrency": 0}, {"lease": 0}, {"backoff": []}])
def test_options_that_make_no_sense_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="above 0"):
        Worker().handle("orders", **options)  # type: ignore[arg-type]
