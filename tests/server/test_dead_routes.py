"""Dead letters in the admin API, through the unix socket: looked through, redriven, purged; nothing lost or doubled."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from penstock.dialects.table import ADMIN
from penstock.model.limits import BODY_MAX, PAGE_BYTES_MAX, SECOND_US
from penstock.model.message import Origin
from penstock.model.options import Publishing
from penstock.model.stages import READY
from penstock.server.asking import AskingSession
from tests.server.desk import Desk, with_desk
from tests.server.fakes import HandClock

DEAD = "/api/v1/queues/dead/dead"
POLICY = '[[policy]]\nmatch = "orders*"\nattempts = 1\ndead_letter = "dead"\n'


async def kill(desk: Desk, *bodies: str, queue: str = "orders", **said: object) -> list[str]:
    """Publishes messages that fail once too often; the ids of the dropped ones."""
    ids = [await desk.publish(queue, body=body, **said) for body in bodies]
    for _ in bodies:  # one answer may not hold them all
        await desk.reserve(queue, max=len(bodies) + 1)
    for message_id in ids:
        status, _ = await desk.post(f"/api/v1/messages/{message_id}/release", {"failed": True})
        assert status == 200
    return ids


async def letters(desk: Desk, query: str = "") -> list[dict[str, Any]]:
    status, answer = await desk.get(f"{DEAD}{query}")
    assert status == 200, answer
    return list(answer["messages"])


async def ids_of(desk: Desk) -> list[str]:
    return [letter["id"] for letter in await letters(desk)]


async def redrive(desk: Desk, ids: list[str], to: str | None = None) -> list[dict[str, Any]]:
    status, answer = await desk.post(f"{DEAD}/redrive", {"ids": ids, "to": to})
    assert status == 200, answer
    assert [result["id"] for result in answer["messages"]] == ids
    return list(answer["messages"])


async def counts(desk: Desk, queue: str) -> dict[str, int]:
    _, shown = await desk.get(f"/api/v1/queues/{queue}")
    return {name: count for name, count in shown["counts"].items() if count and name in ("ready", "deleted", "leased")}


# -- looking through them


def test_a_letter_tells_what_died_and_where_and_when(tmp_path: Path) -> None:
    hand = HandClock()

    async def scenario(desk: Desk) -> None:
        (died,) = await kill(desk, "hällo", queue="orders%2E%FF", key="k", priority=7)
        (letter,) = await letters(desk)
        _, answer = await desk.get(f"/api/v1/messages/{died}")
        assert letter == {
            "id": letter["id"],
            "dead_of": died,
            "dead_from": "orders.%FF",
            "died_us": answer["timeline"][-1]["at_us"],
            "priority": 7,
            "key": "k",
            "body": "hällo",
        }
        _, answer = await desk.get(f"/api/v1/messages/{letter['id']}")
        assert (answer["live"]["dead_of"], answer["live"]["dead_from"]) == (died, "orders.%FF")

    async def after_a_restart(desk: Desk) -> None:
        assert [letter["dead_from"] for letter in await letters(desk)] == ["orders.%FF"]

    with_desk(tmp_path, scenario, hand.clock(), POLICY)
    with_desk(tmp_path, after_a_restart, hand.clock(), POLICY)


def test_what_is_no_dead_letter_or_in_somebodys_hands_is_passed_over(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await kill(desk, "held", priority=9)
        await desk.reserve("dead")
        await kill(desk, "a", "b")
        await desk.publish("dead", body="published here", priority=5)
        assert [letter["body"] for letter in await letters(desk)] == ["a", "b"]

    with_desk(tmp_path, scenario, text=POLICY)


def test_pages_go_through_all_of_them_even_where_those_behind_are_gone(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await kill(desk, "low 1", "low 2", "low 3")
        await kill(desk, "high 1", "high 2", priority=3)
        await desk.publish("dead", body="no dead letter")
        found, after = [], ""
        while after is not None:
            _, page = await desk.get(f"{DEAD}?limit=2{after}")
            found += [letter["body"] for letter in page["messages"]]
            await redrive(desk, [letter["id"] for letter in page["messages"]])
            after = page["next"] and f"&after={page['next']}"
        assert found == ["high 1", "high 2", "low 1", "low 2", "low 3"]

    with_desk(tmp_path, scenario, text=POLICY)


def test_a_page_holds_no_more_than_one_answer_may(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        bodies = [f"{number}" * BODY_MAX for number in range(PAGE_BYTES_MAX // BODY_MAX + 2)]
        await kill(desk, *bodies)
        _, page = await desk.get(f"{DEAD}?limit=50")
        assert sum(len(letter["body"]) for letter in page["messages"]) == PAGE_BYTES_MAX
        rest = await letters(desk, f"?limit=50&after={page['next']}")
        assert [letter["body"] for letter in [*page["messages"], *rest]] == bodies

    with_desk(tmp_path, scenario, text=POLICY)


# -- redriving


def test_a_redriven_letter_is_a_new_message_of_the_queue_it_came_from(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await kill(desk, "x", key="k", priority=7, lease_s=40, ttl_s=3600)
        (result,) = await redrive(desk, await ids_of(desk))
        assert (result["redriven"], result["queue"]) == (True, "orders")
        (message,) = await desk.reserve("orders")
        assert (message["id"], message["body"], message["key"]) == (result["new_id"], "x", "k")
        assert (message["priority"], message["deliveries"], message["failures"]) == (7, 1, 0)
        _, answer = await desk.get(f"/api/v1/messages/{message['id']}")
        assert answer["live"]["expires_us"] is None
        assert message["until_us"] - answer["live"]["leased_us"] == 40 * SECOND_US
        assert await counts(desk, "dead") == {"deleted": 1}

    with_desk(tmp_path, scenario, text=POLICY)


def test_its_end_and_its_new_beginning_are_one_commit(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await kill(desk, "x")
        (letter,) = await ids_of(desk)
        (result,) = await redrive(desk, [letter])
        _, before = await desk.get(f"/api/v1/messages/{letter}")
        _, after = await desk.get(f"/api/v1/messages/{result['new_id']}")
        end, beginning = before["timeline"][-1], after["timeline"][0]
        assert (end["kind"], beginning["kind"]) == ("deleted", "published")
        assert (beginning["fact"], beginning["at_us"]) == (end["fact"] + 1, end["at_us"])

    with_desk(tmp_path, scenario, HandClock().clock(), POLICY)


def test_delay_and_ttl_are_those_of_its_queue(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await kill(desk, "x", delay_s=0)
        (result,) = await redrive(desk, await ids_of(desk))
        _, answer = await desk.get(f"/api/v1/messages/{result['new_id']}")
        live = answer["live"]
        assert live["ready_us"] - live["published_us"] == 5 * SECOND_US
        assert live["expires_us"] - live["published_us"] == 60 * SECOND_US

    with_desk(tmp_path, scenario, text=POLICY + "delay_s = 5\nttl_s = 60")


def test_one_letter_is_redriven_once_however_many_ask(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await kill(desk, "a", "b", "c")
        ids = await ids_of(desk)
        results = await asyncio.gather(*[redrive(desk, [*ids, *ids]) for _ in range(4)])
        assert sum(result["redriven"] for one in results for result in one) == 3
        refused = {result["error"] for one in results for result in one if not result["redriven"]}
        assert refused == {"no_message"}
        assert await counts(desk, "orders") == {"ready": 3}

    with_desk(tmp_path, scenario, text=POLICY)


def test_a_letter_in_somebodys_hands_stays_there(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await kill(desk, "held")
        (letter,) = await ids_of(desk)
        await desk.reserve("dead")
        for verb in ("redrive", "purge"):
            _, answer = await desk.post(f"{DEAD}/{verb}", {"ids": [letter]})
            assert answer["messages"][0]["error"] == "no_message"
        assert await counts(desk, "dead") == {"leased": 1}
        assert await counts(desk, "orders") == {}

    with_desk(tmp_path, scenario, text=POLICY)


def test_what_is_no_dead_letter_of_this_queue_is_not_redriven(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await kill(desk, "x")
        ids = [await desk.publish("dead", body="plain"), await desk.publish("other", body="x"), "nonsense"]
        assert [result["error"] for result in await redrive(desk, ids)] == ["no_message"] * 3
        assert await counts(desk, "dead") == {"ready": 2}

    with_desk(tmp_path, scenario, text=POLICY)


def test_a_full_queue_takes_as_many_as_fit_and_the_others_stay(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await kill(desk, "a", "b", "c")
        await desk.patch("/api/v1/queues/orders", {"max_length": 2})
        results = await redrive(desk, await ids_of(desk))
        assert [result["redriven"] for result in results] == [True, True, False]
        assert (results[2]["error"], results[2]["message"]) == ("full", "the queue has reached its limit")
        assert [letter["body"] for letter in await letters(desk)] == ["c"]

    with_desk(tmp_path, scenario, text=POLICY)


def test_a_letter_whose_queue_is_gone_stays_and_can_go_elsewhere(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await kill(desk, "x")
        await desk.delete("/api/v1/queues/orders")
        ids = await ids_of(desk)
        assert (await redrive(desk, ids))[0]["error"] == "no_queue"
        assert (await redrive(desk, ids, to="nowhere"))[0]["error"] == "no_queue"
        await desk.put("/api/v1/queues/other", {})
        assert (await redrive(desk, ids, to="other"))[0]["queue"] == "other"
        assert await counts(desk, "other") == {"ready": 1}

    with_desk(tmp_path, scenario, text=POLICY)


def test_a_letter_that_does_not_know_where_it_came_from_has_to_be_told_where_to_go(tmp_path: Path) -> None:
    """As a journal from before that was written down gives them."""

    async def scenario(desk: Desk) -> None:
        origin = Origin()
        origin.dead_of, origin.trace, origin.principal = 1, b"trace", b"who"
        broker = desk.store.embedded.broker
        session = AskingSession(ADMIN, desk.heart)
        await session.ask(broker.publish, b"dead", b"old", -1, Publishing(origin=origin), READY)
        (letter,) = await letters(desk)
        assert letter["dead_from"] is None
        (result,) = await redrive(desk, [letter["id"]])
        assert (result["error"], result["message"]) == (
            "unknown_queue",
            "the queue it was dropped from is not known; say `to`",
        )
        await desk.put("/api/v1/queues/orders", {})
        (result,) = await redrive(desk, [letter["id"]], to="orders")
        _, answer = await desk.get(f"/api/v1/messages/{result['new_id']}")
        assert (answer["live"]["trace"], answer["live"]["principal"]) == ("trace", "who")
        assert "dead_of" not in answer["live"]

    with_desk(tmp_path, scenario)


# -- purging


def test_letters_are_purged_by_their_ids_and_nothing_else_is(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await kill(desk, "a", "b")
        plain = await desk.publish("dead", body="plain")
        first, _ = await ids_of(desk)
        _, answer = await desk.post(f"{DEAD}/purge", {"ids": [first, plain, first]})
        assert [result["purged"] for result in answer["messages"]] == [True, False, False]
        assert [letter["body"] for letter in await letters(desk)] == ["b"]
        assert await counts(desk, "dead") == {"ready": 2, "deleted": 1}

    with_desk(tmp_path, scenario, text=POLICY)


# -- refusals


@pytest.mark.parametrize(
    "after", ["", "x", "1.2", "1.2.nonsense", "1.x.0000000001", "1.-2.0000000001", f"1.{10**30}.0000000001"]
)
def test_a_page_begins_only_where_another_ended(tmp_path: Path, after: str) -> None:
    async def scenario(desk: Desk) -> None:
        await kill(desk, "x")
        status, answer = await desk.get(f"{DEAD}?after={after}")
        assert (status, answer["message"]) == (400, "after must be what another page gave as `next`")

    with_desk(tmp_path, scenario, text=POLICY)


def test_other_refusals_have_their_words(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        calls = [
            (desk.get(DEAD), 404, "no such queue"),
            (desk.get(f"{DEAD}?limit=0"), 400, "limit must be between 1 and 1000"),
            (desk.post(f"{DEAD}/redrive", {}), 400, "Object missing required field `ids`"),
            (
                desk.post(f"{DEAD}/redrive", {"ids": ["x"] * 1001}),
                400,
                "Expected `array` of length <= 1000 - at `$.ids`",
            ),
            (
                desk.post(f"{DEAD}/redrive", {"ids": [], "to": "dead"}),
                400,
                "the dead letters are in that queue already",
            ),
            (desk.post(f"{DEAD}/purge", {"ids": [], "to": "dead"}), 400, "Object contains unknown field `to`"),
        ]
        for call, status, words in calls:
            told = await call
            assert (told[0], told[1]["message"]) == (status, words)

    with_desk(tmp_path, scenario)
