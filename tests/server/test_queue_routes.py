"""Whole queues in the admin API, through the unix socket: every route, every shape, every refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.codecs import names
from penstock.model.limits import QUEUE_NAME_MAX
from tests.server.desk import Desk, with_desk


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


# -- what is said of them

ORDERS = "/api/v1/queues/orders"
CONFIGURED = '[[policy]]\nmatch = "orders*"\nlease_s = 2.5\nattempts = 5'


def test_a_queue_is_made_once_with_what_is_said_of_it(tmp_path: Path) -> None:
    said = {"lease_s": 0.5, "attempts": 3, "backoff_s": [1, 5], "dead_letter": "d%FF", "max_length": 9, "dedup_s": 60}

    async def scenario(desk: Desk) -> None:
        status, queue = await desk.put(ORDERS, said)
        assert (status, queue["name"], queue["policy"], queue["dialect"]) == (201, "orders", said, "admin")
        assert await desk.get(ORDERS) == (200, queue)
        status, answer = await desk.put(ORDERS, {})
        assert (status, answer["error"]) == (409, "queue_exists")

    with_desk(tmp_path, scenario)


def test_every_field_that_holds_tells_who_said_it(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        _, queue = await desk.put(ORDERS, {"lease_s": 30})
        assert queue["effective"] == {"lease_s": 30, "attempts": 5}
        assert queue["sources"] == {"lease_s": "queue", "attempts": "config orders*"}

    with_desk(tmp_path, scenario, text=CONFIGURED)


def test_what_is_set_overrides_and_what_is_null_is_said_no_longer(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.put(ORDERS, {"lease_s": 30, "ttl_s": 60})
        status, queue = await desk.patch(ORDERS, {"lease_s": None, "attempts": 1, "delay_s": None})
        assert (status, queue["policy"]) == (200, {"ttl_s": 60, "attempts": 1})
        assert queue["effective"] == {"lease_s": 2.5, "ttl_s": 60, "attempts": 1}
        assert queue["modified_us"] >= queue["created_us"]

    async def after_a_restart(desk: Desk) -> None:
        _, queue = await desk.get(ORDERS)
        assert queue["policy"] == {"ttl_s": 60, "attempts": 1}

    with_desk(tmp_path, scenario, text=CONFIGURED)
    with_desk(tmp_path, after_a_restart, text=CONFIGURED)


def test_all_that_is_wrong_with_a_policy_is_told_and_nothing_changes(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        wrong = {"leese_s": 1, "attempts": -1, "backoff_s": 5, "dead_letter": "orders"}
        words = (
            "leese_s: no such key; did you mean `lease_s`?; "
            "attempts: must be between 0 and 4,294,967,295, not -1; "
            "backoff_s: must be a list of seconds, such as [1, 5, 30], not 5; "
            "dead_letter: a queue cannot be its own dead-letter queue"
        )
        refusal = (400, {"error": "bad_policy", "message": words})
        assert await desk.put(ORDERS, wrong) == refusal
        assert (await desk.get(ORDERS))[0] == 404
        _, before = await desk.put(ORDERS, {})
        assert await desk.patch(ORDERS, wrong) == refusal
        assert await desk.get(ORDERS) == (200, before)

    with_desk(tmp_path, scenario)


# -- whether they hand out, and what goes


def test_a_paused_queue_hands_out_nothing_until_it_is_resumed(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.publish("orders", body="x")
        for _ in range(2):
            status, queue = await desk.post(f"{ORDERS}/pause")
            assert (status, queue["paused"]) == (200, True)
        assert await desk.reserve("orders") == []
        _, queue = await desk.post(f"{ORDERS}/resume")
        assert queue["paused"] is False
        assert len(await desk.reserve("orders")) == 1

    with_desk(tmp_path, scenario)


def test_a_purge_deletes_what_nobody_holds_and_says_how_many(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        held = await desk.publish("orders", body="held")
        await desk.reserve("orders")
        await desk.publish("orders", body="ready")
        await desk.publish("orders", body="delayed", delay_s=60)
        assert await desk.post(f"{ORDERS}/purge") == (200, {"name": "orders", "deleted": 2})
        assert (await desk.post(f"/api/v1/messages/{held}/finish"))[0] == 200

    with_desk(tmp_path, scenario)


def test_a_queue_is_deleted_with_all_that_is_in_it(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.publish("orders", body="held")
        await desk.reserve("orders")
        await desk.publish("orders", body="ready")
        assert await desk.delete(ORDERS) == (200, {"name": "orders", "deleted": 2})
        assert (await desk.get(ORDERS))[0] == 404

    with_desk(tmp_path, scenario)


def test_what_is_not_there_cannot_be_changed(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        for call in (
            desk.patch(ORDERS, {"lease_s": 1}),
            desk.delete(ORDERS),
            *[desk.post(f"{ORDERS}/{verb}") for verb in ("pause", "resume", "purge")],
        ):
            status, answer = await call
            assert (status, answer["error"]) == (404, "no_queue")

    with_desk(tmp_path, scenario)
