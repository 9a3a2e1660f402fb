"""The admin API as a whole, through the unix socket: the server itself, refusals, time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.model.limits import BODY_MAX, SECOND_US
from tests.server.desk import Desk, with_desk
from tests.server.fakes import HandClock


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


def test_the_page_has_every_route_and_no_other(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "admin-api.md").read_text()

    async def scenario(desk: Desk) -> None:
        told = set(re.findall(r"^\| `([A-Z]+ /\S+)`", page, re.MULTILINE))
        assert {f"{method} {path}" for method, path in desk.routes} == told

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
