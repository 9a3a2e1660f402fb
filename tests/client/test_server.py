"""The client against the real server: the promises, kill -9, leases, and a worker's process that is told to stop."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.server import Server, serving
from penstock import Client, Disconnected, Message, Retry, Worker
from penstock.sync import Client as SyncClient
from tests.client.fake import played

PATIENCE_S = 20.0
KILLS = 3
CONFIG = """
[[policy]]
match = "*"
dedup_s = 120
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server") / "data", listen=("glovebox",)) as server:
        yield server


@pytest.fixture
def queue(request: pytest.FixtureRequest) -> str:
    """Each test has its own."""
    return str(request.node.name)


def url(server: Server) -> str:
    return f"ws://127.0.0.1:{server.port}"


@pytest.mark.parametrize("stage", ["ready", "write", "sync"])
@played
async def test_a_message_is_published_reserved_and_finished(server: Server, queue: str, stage: str) -> None:
    async with Client(url(server), stage=stage) as client:  # type: ignore[arg-type]
        told = await client.publish(queue, b"\xff\x00", key="k", priority=3)
        (message,) = await client.reserve(queue)
        assert (message.id, message.body, message.key, message.priority) == (told.id, b"\xff\x00", b"k", 3)
        assert (message.deliveries, message.failures) == (1, 0)
        assert abs(message.published_us / 1e6 - time.time()) < 60
        assert await message.finish()
        assert not await message.finish()
        assert await client.reserve(queue) == []


@played
async def test_a_release_counts_as_a_failure_only_where_it_is_one(server: Server, queue: str) -> None:
    async with Client(url(server)) as client:
        await client.publish(queue, "a")
        for failed, failures in ((False, 0), (True, 1), (False, 1)):
            (message,) = await client.reserve(queue, wait=5)
            assert await message.release(delay=0.01, failed=failed)
            (message,) = await client.reserve(queue, wait=5)
            assert message.failures == failures
            await message.release()


@played
async def test_a_batch_of_a_thousand_goes_in_and_out(server: Server, queue: str) -> None:
    async with Client(url(server)) as client:
        bodies = [f"{number} {'x' * 200}" for number in range(1_000)]
        await client.publish_many(queue, bodies)
        messages: list[Message] = []
        while got := await client.reserve(queue, max=1_000):
            messages += got
        assert [message.text for message in messages] == bodies
        assert all(await client.finish(messages))


@played
async def test_a_lease_outlives_its_length_while_the_message_is_worked_on(server: Server, queue: str) -> None:
    async with Client(url(server)) as client, Client(url(server)) as other:
        await client.publish(queue, "a")
        async with client.work(queue, lease=0.4):
            assert await other.reserve(queue, wait=1.5) == []
        assert await other.reserve(queue) == []


@played
async def test_without_that_it_runs_out(server: Server, queue: str) -> None:
    async with Client(url(server)) as client, Client(url(server)) as other:
        await client.publish(queue, "a")
        (message,) = await client.reserve(queue, lease=0.3)
        (again,) = await other.reserve(queue, wait=10)
        assert (again.deliveries, again.failures) == (2, 1)
        assert not await message.finish()
        assert message.lost


@played
async def test_a_call_of_a_thousand_tasks_at_once(server: Server, queue: str) -> None:
    async with Client(url(server), stage="write", in_flight=100) as client:
        told = await asyncio.gather(*(client.publish(queue, str(number)) for number in range(1_000)))
        assert len({one.id for one in told}) == 1_000


def test_the_blocking_client_does_the_same(server: Server, queue: str) -> None:
    with SyncClient(url(server)) as client:
        client.publish(queue, json={"a": 1})
        with client.work(queue, wait=10) as message:
            assert message.json() == {"a": 1}
        assert client.reserve(queue) == []


@played
async def test_what_is_held_can_be_finished_after_a_broken_connection(server: Server, queue: str) -> None:
    async with Client(url(server)) as client:
        await client.publish(queue, "a")
        (message,) = await client.reserve(queue)
        before = client.id
        wire = client._link._wire
        assert wire is not None
        wire.cut(Disconnected("by the test"))
        assert await message.finish()
        assert client.id == before


class Restarted:
    """A server that is killed and comes back, on the same port."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = 0
        (folder / "penstock.toml").write_text(CONFIG)
        self.start()
        self._port = self.server.port

    def start(self) -> None:
        flags = ("--config", str(self._folder / "penstock.toml"), "--listen", f"glovebox=127.0.0.1:{self._port}")
        self.server = Server(self._folder / "data", *flags, listen=())

    def kill(self) -> None:
        self.server.kill()
        self.server.wait()


@pytest.fixture
def restarted(tmp_path: Path) -> Iterator[Restarted]:
    house = Restarted(tmp_path)
    yield house
    if house.server.process.poll() is None:
        house.kill()


class Traffic:
    """Publishers and a consumer who go on whatever happens, and what they were told."""

    def __init__(self, producer: Client, consumer: Client) -> None:
        self.published: list[str] = []
        self.finished: list[str] = []
        self._producer = producer
        self._consumer = consumer
        self._over = False
        self._tasks = [asyncio.create_task(self._publish(number)) for number in range(4)]
        self._tasks.append(asyncio.create_task(self._consume()))

    async def more(self, count: int) -> None:
        goal = len(self.published) + count
        while len(self.published) < goal:
            await asyncio.sleep(0.01)

    async def end(self) -> None:
        """What could not be finished yet is, as far as it can be reserved."""
        self._over = True
        await asyncio.gather(*self._tasks)
        while await self._take(wait=0):
            pass

    async def _publish(self, number: int) -> None:
        while not self._over:
            body = f"{number} {len(self.published)}"
            assert not (await self._producer.publish("q", body)).duplicate
            self.published.append(body)

    async def _consume(self) -> None:
        while not self._over:
            await self._take(wait=1)

    async def _take(self, wait: float) -> int:
        messages = await self._consumer.reserve("q", max=20, wait=wait)
        done = await self._consumer.finish(messages)
        self.finished += [message.text for message, ended in zip(messages, done, strict=True) if ended]
        return len(messages)


def test_nothing_told_is_lost_or_doubled_over_kills_of_the_server(restarted: Restarted) -> None:
    """The answer to each call is the truth."""

    async def play() -> Traffic:
        address = url(restarted.server)
        async with Client(address, timeout=60, stage="write") as producer, Client(address, timeout=60) as consumer:
            await producer.create("q")
            traffic = Traffic(producer, consumer)
            for _ in range(KILLS):
                await traffic.more(50)
                await asyncio.to_thread(restarted.kill)
                await asyncio.to_thread(restarted.start)
            await traffic.end()
        return traffic

    traffic = asyncio.run(play())
    counts = restarted.server.get("/api/v1/queues/q")["counts"]
    assert counts["published"] == len(traffic.published)
    assert len(set(traffic.finished)) == len(traffic.finished)
    # What was handed out in an answer that a kill swallowed is leased yet, and comes again when that is over.
    assert len(traffic.published) - len(traffic.finished) == counts["leased"]


@played
async def test_a_worker_tries_again_and_gives_up_as_the_queue_says(server: Server, queue: str) -> None:
    worker, seen = Worker(url(server)), list[tuple[str, int]]()

    @worker.handle(queue, concurrency=2, attempts=2, backoff=[0.05])
    def handle(message: Message) -> None:
        seen.append((message.text, message.deliveries))
        if message.text == "poison":
            raise ZeroDivisionError
        if message.deliveries == 1:
            raise Retry(after=0.05)

    async with Client(url(server)) as client:
        serving_it = asyncio.create_task(worker.serve())
        while not await created(client, queue):
            await asyncio.sleep(0.01)
        await client.publish_many(queue, ["poison", "good"])
        while sorted(seen) != [("good", 1), ("good", 2), ("poison", 1), ("poison", 2)]:
            await asyncio.sleep(0.01)
        worker.stop()
        await serving_it
        assert await client.reserve(queue, wait=0.2) == []


async def created(client: Client, queue: str) -> bool:
    """By the worker, with its attempts: nobody else may make it before."""
    try:
        await client.reserve(queue)
    except Exception:
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_is_told_to_stop_gives_back_what_it_cannot_end(
    server: Server, queue: str, tmp_path: Path, number: signal.Signals
) -> None:
    lines = tmp_path / "handled"
    command = [sys.executable, "-m", "tests.client.workers", str(server.port), queue, str(lines)]
    process = subprocess.Popen(command)
    try:
        with SyncClient(url(server)) as client:
            client.publish_many(queue, ["slow", "quick"])
            await_lines(lines, {"slow", "quick"})
            process.send_signal(number)
            assert process.wait(PATIENCE_S) == 0
            (message,) = client.reserve(queue, max=10)
            assert (message.text, message.deliveries, message.failures) == ("slow", 2, 0)
    finally:
        process.kill()
        process.wait()


def await_lines(path: Path, expected: set[str]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not path.exists() or set(path.read_text().split()) != expected:
        assert time.monotonic() < deadline, "the worker did not come to it"
        time.sleep(0.01)
