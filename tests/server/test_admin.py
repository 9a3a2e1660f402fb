"""The admin API against the real store, through the unix socket: every route, every shape, every refusal."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from yarl import URL

from penstock.codecs import names
from penstock.journal.journal import SyncTicket
from penstock.model.limits import BODY_MAX, QUEUE_NAME_MAX, SECOND_US
from penstock.model.stages import CONFIRMS
from penstock.server import admin, door
from penstock.server.clock import Clock
from penstock.server.config import load
from penstock.server.options import CONFIRM
from penstock.server.store import Store, claim, open_store
from penstock.server.tick import Heart
from tests.server.fakes import HandClock, run

Answer = tuple[int, Any]


class Desk:
    """A caller of the API, and what is behind it."""

    def __init__(self, session: aiohttp.ClientSession, store: Store, heart: Heart[SyncTicket]) -> None:
        self._session = session
        self.store = store
        self.heart = heart
        self.ready = True

    async def get(self, path: str) -> Answer:
        return await self._call("GET", path)

    async def post(self, path: str, said: object = None) -> Answer:
        return await self.post_raw(path, b"" if said is None else json.dumps(said).encode())

    async def post_raw(self, path: str, data: bytes) -> Answer:
        return await self._call("POST", path, data=BytesIO(data))

    async def publish(self, queue: str, **said: object) -> str:
        status, answer = await self.post(f"/api/v1/queues/{queue}/messages", said)
        assert status == 201, answer
        return str(answer["id"])

    async def reserve(self, queue: str, **said: object) -> list[dict[str, Any]]:
        status, answer = await self.post(f"/api/v1/queues/{queue}/reserve", said)
        assert status == 200, answer
        return list(answer["messages"])

    async def _call(self, method: str, path: str, **said: Any) -> Answer:
        async with self._session.request(method, URL(f"http://penstock{path}", encoded=True), **said) as response:
            assert response.content_type == "application/json"
            return response.status, await response.json()


@asynccontextmanager
async def open_desk(data: Path, clock: Clock, text: str = "") -> AsyncIterator[Desk]:
    file = data / "penstock.toml"
    file.write_text(text)
    config = load({"data": str(data), "limits.segment_bytes": 65_536}, {}, file)
    lock = claim(str(data))
    store = open_store(config, clock)
    deaths: list[BaseException] = []
    heart: Heart[SyncTicket] = Heart(asyncio.get_running_loop(), store.embedded, clock, 50_000, deaths.append)
    with door.socket_path(data) as path:
        async with aiohttp.ClientSession(connector=aiohttp.UnixConnector(path)) as session:
            desk = Desk(session, store, heart)
            api = admin.Admin(
                store.embedded.broker,
                heart,
                store.ids,
                CONFIRMS[config[CONFIRM]],
                store.journal_disk,
                lambda: {"version": "test"},
                lambda: desk.ready,
            )
            runner = admin.runner(api)
            await runner.setup()
            await web.SockSite(runner, door.bind(data)).start()
            try:
                yield desk
            finally:
                await runner.cleanup()
                heart.close(wait=True)
                store.embedded.close()
                lock.release()
    assert deaths == []


def with_desk(
    data: Path, scenario: Callable[[Desk], Coroutine[Any, Any, None]], clock: Clock | None = None, text: str = ""
) -> None:
    async def opened() -> None:
        async with open_desk(data, clock or Clock(), text) as desk:
            await scenario(desk)

    run(opened())


# -- messages


def test_publish_reserve_finish(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        published = await desk.publish("orders", body="hällo", key="k", priority=3)
        (message,) = await desk.reserve("orders", lease_s=30)
        assert (message["id"], message["body"], message["key"]) == (published, "hällo", "k")
        assert (message["priority"], message["deliveries"], message["failures"]) == (3, 1, 0)
        assert await desk.post(f"/api/v1/messages/{published}/finish") == (200, {"id": published})
        status, answer = await desk.post(f"/api/v1/messages/{published}/finish")
        assert (status, answer["error"]) == (404, "no_message")

    with_desk(tmp_path, scenario)


def test_bodies_and_keys_that_are_not_text_are_base64(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        data = base64.b64encode(b"\xff\x00").decode()
        await desk.publish("q", body64=data, key64=data)
        (message,) = await desk.reserve("q")
        assert (message["body64"], message["key64"]) == (data, data)
        assert "body" not in message

    with_desk(tmp_path, scenario)


def test_an_empty_queue_gives_an_empty_list(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.publish("q", body="only")
        assert len(await desk.reserve("q")) == 1
        assert await desk.reserve("q") == []
        assert await desk.reserve("q", max=5) == []

    with_desk(tmp_path, scenario)


def test_several_can_be_reserved_at_once(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        for body in "abc":
            await desk.publish("q", body=body)
        assert [message["body"] for message in await desk.reserve("q", max=2)] == ["a", "b"]

    with_desk(tmp_path, scenario)


def test_a_reserve_may_wait(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.publish("q", body="first")
        await desk.reserve("q")
        waiting = asyncio.ensure_future(desk.reserve("q", wait_s=5))
        await until_waiting(desk, 1)
        await desk.publish("q", body="second")
        assert [message["body"] for message in await waiting] == ["second"]

    with_desk(tmp_path, scenario)


async def until_waiting(desk: Desk, number: int) -> None:
    for _ in range(1_000):
        _, answer = await desk.get("/api/v1/status")
        if answer["waiting"] == number:
            return
    raise AssertionError(f"nobody waits, or not {number}")


def test_a_caller_who_leaves_waits_no_longer(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.publish("q", body="first")
        await desk.reserve("q")
        waiting = asyncio.ensure_future(desk.reserve("q", wait_s=60))
        await until_waiting(desk, 1)
        waiting.cancel()
        await until_waiting(desk, 0)

    with_desk(tmp_path, scenario)


def test_a_delayed_message_waits_for_its_time(tmp_path: Path) -> None:
    hand = HandClock()

    async def scenario(desk: Desk) -> None:
        published = await desk.publish("q", body="later", delay_s=60, ttl_s=120)
        assert await desk.reserve("q") == []
        _, answer = await desk.get(f"/api/v1/messages/{published}")
        live = answer["live"]
        assert live["state"] == "delayed"
        assert live["ready_us"] - live["published_us"] == 60 * SECOND_US
        assert live["expires_us"] - live["published_us"] == 120 * SECOND_US
        hand.elapsed_us += 61 * SECOND_US
        assert len(await desk.reserve("q")) == 1

    with_desk(tmp_path, scenario, hand.clock())


def test_release_gives_it_back_and_counts_a_failure_only_if_said(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        published = await desk.publish("q", body="x")
        for failed, failures in ((False, 0), (True, 1)):
            await desk.reserve("q")
            status, _ = await desk.post(f"/api/v1/messages/{published}/release", {"failed": failed})
            assert status == 200
            _, answer = await desk.get(f"/api/v1/messages/{published}")
            assert (answer["live"]["state"], answer["live"]["failures"]) == ("ready", failures)
        status, answer = await desk.post(f"/api/v1/messages/{published}/release", {})
        assert (status, answer["error"]) == (404, "no_message")

    with_desk(tmp_path, scenario)


def test_a_dedup_id_publishes_once_within_its_window(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        said = {"body": "x", "dedup_id": "order 7"}
        status, first = await desk.post("/api/v1/queues/q/messages", said)
        assert (status, first["duplicate"]) == (201, False)
        assert await desk.post("/api/v1/queues/q/messages", said) == (200, {"id": first["id"], "duplicate": True})

    with_desk(tmp_path, scenario, text='[[policy]]\nmatch = "q"\ndedup_s = 60')


def test_the_timeline_tells_every_fact_even_after_the_end(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        published = await desk.publish("q", body="x", priority=2)
        await desk.publish("other", body="not this one")
        await desk.reserve("q", lease_s=30)
        await desk.post(f"/api/v1/messages/{published}/release", {"delay_s": 0, "failed": True})
        await desk.reserve("q")
        await desk.post(f"/api/v1/messages/{published}/finish")
        status, answer = await desk.get(f"/api/v1/messages/{published}")
        assert (status, answer["live"]) == (200, None)
        timeline = answer["timeline"]
        assert [fact["kind"] for fact in timeline] == ["published", "leased", "released", "leased", "finished"]
        assert [fact["reason"] for fact in timeline] == ["", "", "failed", "", "acknowledged"]
        assert {fact["queue"] for fact in timeline} == {"q"}
        assert {fact["dialect"] for fact in timeline} == {"admin"}
        assert timeline[0]["priority"] == 2
        assert timeline[1]["until_us"] - timeline[1]["at_us"] == 30 * SECOND_US
        assert [fact["fact"] for fact in timeline] == sorted(fact["fact"] for fact in timeline)

    with_desk(tmp_path, scenario)


def test_an_id_that_is_none_is_not_found(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        for wrong in ("x", "0000000000", "%FF", "00000000000"):
            for call in (desk.get(f"/api/v1/messages/{wrong}"), desk.post(f"/api/v1/messages/{wrong}/finish")):
                status, answer = await call
                assert (status, answer["error"]) == (404, "no_message")

    with_desk(tmp_path, scenario)


# -- queues


def test_a_queue_shows_its_counts_and_policies(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.publish("orders.eu", body="12345")
        await desk.publish("orders.eu", body="x", delay_s=60)
        status, queue = await desk.get("/api/v1/queues/orders.eu")
        assert status == 200
        assert (queue["name"], queue["paused"], queue["dialect"]) == ("orders.eu", False, "admin")
        assert (queue["counts"]["ready"], queue["counts"]["delayed"], queue["counts"]["body_bytes"]) == (1, 1, 6)
        assert queue["policy"] == {}
        assert queue["effective"] == {"lease_s": 2.5, "attempts": 5, "backoff_s": [1, 0.5], "dead_letter": "a%FF"}
        assert queue["oldest_ready_us"] == queue["created_us"]

    text = '[[policy]]\nmatch = "orders*"\nlease_s = 2.5\nattempts = 5\nbackoff_s = [1, 0.5]\ndead_letter = "a%FF"'
    with_desk(tmp_path, scenario, text=text)


def test_queues_are_listed_by_name(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        for name in ("b", "a", "%FF"):
            await desk.publish(name, body="x")
        _, answer = await desk.get("/api/v1/queues")
        assert [queue["name"] for queue in answer["queues"]] == ["a", "b", "%FF"]

    with_desk(tmp_path, scenario)


@pytest.mark.parametrize(
    "name", [b"", b"a/b", b"\xff\x00", b"100%25", "ünï".encode(), b"..", b"{x}", b"?#&+ ", b"x" * QUEUE_NAME_MAX]
)
def test_any_bytes_may_name_a_queue(tmp_path: Path, name: bytes) -> None:
    async def scenario(desk: Desk) -> None:
        segment = names.in_url(name).replace(".", "%2E")
        await desk.publish(segment, body="x")
        status, queue = await desk.get(f"/api/v1/queues/{segment}")
        assert status == 200
        assert names.parse(queue["name"]) == name
        assert len(await desk.reserve(segment)) == 1

    with_desk(tmp_path, scenario)


def test_peek_shows_what_could_be_taken_and_changes_nothing(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        for body in "abc":
            await desk.publish("q", body=body)
        for _ in range(2):
            status, answer = await desk.get("/api/v1/queues/q/messages?limit=2")
            assert status == 200
            assert [(message["body"], message["state"]) for message in answer["messages"]] == [
                ("a", "ready"),
                ("b", "ready"),
            ]

    with_desk(tmp_path, scenario)


# -- the server


def test_status_tells_the_ledger(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.publish("q", body="x")
        status, answer = await desk.get("/api/v1/status")
        assert (status, answer["version"], answer["queues"]) == (200, "test", 1)
        assert (answer["counts"]["published"], answer["counts"]["ready"]) == (1, 1)

    with_desk(tmp_path, scenario)


def test_health(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        assert await desk.get("/health/live") == (200, {"live": True})
        assert await desk.get("/health/ready") == (200, {"ready": True})
        desk.ready = False
        assert await desk.get("/health/ready") == (503, {"ready": False})

    with_desk(tmp_path, scenario)


# -- refusals


@pytest.mark.parametrize(
    ("path", "said", "words"),
    [
        ("queues/q/messages", {}, "say `body` or `body64`"),
        ("queues/q/messages", {"body": "a", "body64": "YQ=="}, "say only one of `body` and `body64`"),
        ("queues/q/messages", {"body": 7}, "Expected `str | null`, got `int` - at `$.body`"),
        ("queues/q/messages", {"body": "a", "dealy_s": 1}, "Object contains unknown field `dealy_s`"),
        ("queues/q/messages", {"body": "a", "delay_s": -1}, "Expected `float` >= 0.0 - at `$.delay_s`"),
        ("queues/q/messages", {"body": "a", "delay_s": 1e300}, "Expected `float` <= 315360000.0 - at `$.delay_s`"),
        ("queues/q/messages", {"body64": "???"}, "Invalid base64 encoded string - at `$.body64`"),
        ("queues/q/reserve", {"max": 0}, "Expected `int` >= 1 - at `$.max`"),
        ("queues/q/reserve", {"max": 10**30}, "Expected `int` <= 1000 - at `$.max`"),
    ],
)
def test_a_bad_request_is_told_what_is_wrong(tmp_path: Path, path: str, said: object, words: str) -> None:
    async def scenario(desk: Desk) -> None:
        status, answer = await desk.post(f"/api/v1/{path}", said)
        assert (status, answer["error"]) == (400, "bad_request")
        assert words in answer["message"]

    with_desk(tmp_path, scenario)


def test_other_refusals_have_their_status_and_words(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        calls = [
            (desk.post_raw("/api/v1/queues/q/messages", b"{"), 400, "bad_request"),
            (desk.get("/api/v1/queues/none"), 404, "no_queue"),
            (desk.post("/api/v1/queues/none/reserve", {}), 404, "no_queue"),
            (desk.get("/api/v1/queues/none/messages"), 404, "no_queue"),
            (desk.get("/api/v1/queues/none/messages?limit=x"), 400, "bad_request"),
            (desk.get("/api/v1/queues/none/messages?limit=0"), 400, "bad_request"),
            (desk.get("/nowhere"), 404, "not_found"),
            (desk.post("/api/v1/status"), 405, "method_not_allowed"),
            (desk.post("/api/v1/queues/q/messages", {"body": "x" * (BODY_MAX + 1)}), 413, "too_large"),
            (desk.post_raw("/api/v1/queues/q/messages", b"x" * (9 << 20)), 413, "request_entity_too_large"),
            (desk.post("/api/v1/queues/small/messages", {"body": "xy"}), 507, "full"),
        ]
        for call, status, error in calls:
            told = await call
            assert (told[0], told[1]["error"]) == (status, error)
            assert told[1]["message"]

    with_desk(tmp_path, scenario, text='[[policy]]\nmatch = "small"\nmax_bytes = 1')


# -- time


def test_a_paused_process_fails_no_message(tmp_path: Path) -> None:
    hand = HandClock()

    async def scenario(desk: Desk) -> None:
        published = await desk.publish("q", body="x")
        await desk.reserve("q", lease_s=30)
        hand.elapsed_us += 150 * SECOND_US
        _, answer = await desk.get(f"/api/v1/messages/{published}")
        assert (answer["live"]["state"], answer["live"]["failures"]) == ("leased", 0)

    with_desk(tmp_path, scenario, hand.clock())


def test_everything_is_there_after_a_restart_and_ids_stay_valid(tmp_path: Path) -> None:
    ids: list[str] = []

    async def before(desk: Desk) -> None:
        ids.append(await desk.publish("q", body="kept"))

    async def after(desk: Desk) -> None:
        (message,) = await desk.reserve("q")
        assert (message["id"], message["body"]) == (ids[0], "kept")
        ids.append(await desk.publish("q", body="new"))
        assert ids[0] != ids[1]

    with_desk(tmp_path, before)
    with_desk(tmp_path, after)


def test_time_goes_on_from_the_last_fact_where_the_wall_clock_went_back(tmp_path: Path) -> None:
    hand = HandClock()

    async def before(desk: Desk) -> None:
        await desk.publish("q", body="x", delay_s=60)

    async def after(desk: Desk) -> None:
        hand.elapsed_us += 59 * SECOND_US
        assert await desk.reserve("q") == []
        hand.elapsed_us += 1 * SECOND_US
        assert len(await desk.reserve("q")) == 1

    with_desk(tmp_path, before, hand.clock())
    hand.wall_us -= 86_400 * SECOND_US
    with_desk(tmp_path, after, hand.clock())
