"""Messages in the admin API, through the unix socket: every route and every shape."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

from penstock.model.limits import SECOND_US
from tests.server.desk import Desk, with_desk
from tests.server.fakes import HandClock


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
