"""Imports in the admin API, through the unix socket: messages with a past, all of a batch or none, one at a time."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest

from penstock.journal import check
from penstock.model import facts
from penstock.model.limits import DELIVERIES_MAX, IMPORT_MAX, SECOND_US
from tests.server.desk import Answer, Desk, with_desk
from tests.server.fakes import HandClock


def message(body: bytes = b"body", foreign_id: str = "elsewhere", **said: object) -> dict[str, object]:
    return {"body64": base64.b64encode(body).decode(), "foreign_id": foreign_id, **said}


async def begin(desk: Desk) -> str:
    status, answer = await desk.post("/api/v1/imports")
    assert status == 201, answer
    return str(answer["import_id"])


async def send(desk: Desk, import_id: object, *messages: dict[str, object], queue: str = "q", **said: object) -> Answer:
    return await desk.post(f"/api/v1/queues/{queue}/import", {"import_id": import_id, "messages": messages, **said})


async def peek(desk: Desk, queue: str = "q") -> list[dict[str, Any]]:
    _, answer = await desk.get(f"/api/v1/queues/{queue}/messages?limit=1000")
    return list(answer["messages"])


def test_messages_come_with_their_past(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        past = message(b"\xff", "their name", deliveries=7, first_leased_us=1_600_000_000_000_000)
        assert await send(desk, await begin(desk), past) == (200, {"name": "q", "imported": 1})
        (shown,) = await peek(desk)
        assert (shown["body64"], shown["deliveries"], shown["failures"]) == ("/w==", 7, 0)
        assert (shown["foreign_id"], shown["dialect"]) == ("their name", "admin")
        (leased,) = await desk.reserve("q")
        assert leased["deliveries"] == 8

    with_desk(tmp_path, scenario)


def test_what_is_unsaid_a_message_does_not_have_whatever_the_queue_says(tmp_path: Path) -> None:
    hand = HandClock()

    async def scenario(desk: Desk) -> None:
        import_id = await begin(desk)
        said = message(b"said", delay_s=5, ttl_s=60, lease_s=7)
        await send(desk, import_id, message(b"plain"), said)
        plain = (await peek(desk))[0]
        now_us = plain["published_us"]
        assert (plain["body"], plain["ready_us"], plain["expires_us"]) == ("plain", now_us, None)
        assert (await desk.reserve("q"))[0]["until_us"] == now_us + 30 * SECOND_US
        hand.elapsed_us = 5 * SECOND_US
        (late,) = await desk.reserve("q", max=5)
        assert (late["body"], late["until_us"]) == ("said", now_us + (5 + 7) * SECOND_US)

    policy = '[[policy]]\nmatch = "q"\ndelay_s = 9\nttl_s = 9\nlease_s = 30\n'
    with_desk(tmp_path, scenario, hand.clock(), policy)


def test_their_order_is_kept(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        import_id = await begin(desk)
        for first in (0, IMPORT_MAX):
            batch = [message(b"%d" % number) for number in range(first, first + IMPORT_MAX)]
            assert (await send(desk, import_id, *batch))[0] == 200
        found = [(await desk.reserve("q", max=1_000)) for _ in range(2)]
        assert [int(shown["body"]) for part in found for shown in part] == list(range(2 * IMPORT_MAX))

    with_desk(tmp_path, scenario)


def test_all_of_a_batch_or_none(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        import_id = await begin(desk)
        status, answer = await send(desk, import_id, *[message()] * 3)
        assert (status, answer["error"]) == (507, "full")
        assert (await desk.get("/api/v1/queues"))[1]["queues"] == []
        assert (await send(desk, import_id, *[message()] * 2))[0] == 200

    with_desk(tmp_path, scenario, text='[[policy]]\nmatch = "q"\nmax_length = 2\n')


def test_an_import_that_begins_ends_those_before_it(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        first = await begin(desk)
        assert (await send(desk, first, message()))[0] == 200
        second = await begin(desk)
        assert first != second
        status, answer = await send(desk, first, message())
        assert (status, answer["error"]) == (409, "superseded")
        assert (await send(desk, second, message()))[0] == 200
        assert len(await peek(desk)) == 2

    with_desk(tmp_path, scenario)


@pytest.mark.parametrize("import_id", ["", "0", "0123456789abcdef"])
def test_an_import_that_never_began_is_refused(tmp_path: Path, import_id: str) -> None:
    async def scenario(desk: Desk) -> None:
        assert (await send(desk, import_id, message()))[0] == 409
        await begin(desk)
        assert (await send(desk, import_id, message()))[0] == 409

    with_desk(tmp_path, scenario)


@pytest.mark.parametrize("confirm", ["ready", "write", "sync"])
def test_by_the_time_one_begins_the_journal_has_all_of_those_before(tmp_path: Path, confirm: str) -> None:
    async def scenario(desk: Desk) -> None:
        def published() -> list[bytes]:
            return [fact.body for fact in check.read(desk.store.journal_disk) if fact.kind == facts.PUBLISHED]

        async def begin_and_look() -> list[bytes]:
            await begin(desk)
            return published()

        for turn in range(20):
            import_id, body = await begin(desk), b"%d" % turn
            (status, _), seen = await asyncio.gather(send(desk, import_id, message(body)), begin_and_look())
            assert (status, body in seen) in ((200, True), (409, False))
            assert published() == seen

    with_desk(tmp_path, scenario, text=f'confirm = "{confirm}"\n')


@pytest.mark.parametrize(
    "said",
    [
        {"body64": "???"},
        {"foreign_id": ""},
        {"deliveries": -1},
        {"deliveries": DELIVERIES_MAX + 1},
        {"first_leased_us": -1},
        {"delay_s": -1},
        {"body": "text"},
    ],
)
def test_a_bad_message_is_refused_and_so_is_its_batch(tmp_path: Path, said: dict[str, object]) -> None:
    async def scenario(desk: Desk) -> None:
        status, answer = await send(desk, await begin(desk), message(), message() | said)
        assert (status, answer["error"]) == (400, "bad_request")
        assert (await desk.get("/api/v1/queues"))[1]["queues"] == []

    with_desk(tmp_path, scenario)


def test_a_batch_has_a_limit_and_may_be_empty(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        import_id = await begin(desk)
        assert (await send(desk, import_id, *[message()] * (IMPORT_MAX + 1)))[0] == 400
        assert await send(desk, import_id) == (200, {"name": "q", "imported": 0})

    with_desk(tmp_path, scenario)


# -- queues with a past

QUEUE = {
    "lease_us": 7_000_000,
    "delay_us": 5_000_000,
    "max_body": 1_024,
    "published": 40,
    "delivered": 50,
    "created_us": 1_600_000_000_000_000,
    "modified_us": 1_600_000_000_000_001,
}


async def send_queue(desk: Desk, import_id: str, *messages: dict[str, object], **said: object) -> Answer:
    form = {"import_id": import_id, "messages": messages, "dialect": "rsmq", "queue": QUEUE | said}
    return await desk.post("/api/v1/queues/q/import", form)


def test_a_queue_is_made_as_it_was_and_only_once(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        import_id = await begin(desk)
        assert await send_queue(desk, import_id) == (200, {"name": "q", "imported": 0, "created": True})
        again = await send_queue(desk, import_id, message(), lease_us=9)
        assert again == (200, {"name": "q", "imported": 1, "created": False})
        _, shown = await desk.get("/api/v1/queues/q")
        assert (shown["dialect"], shown["policy"]) == ("rsmq", {"lease_s": 7, "delay_s": 5, "max_body": 1_024})
        assert shown["counts"]["published"] == 1

    with_desk(tmp_path, scenario)


def test_a_message_may_have_been_ready_long_ago(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        later = message(b"later", "two", ready_us=1_600_000_000_000_002)
        await send(desk, await begin(desk), later, message(b"first", "one", ready_us=1_600_000_000_000_001))
        found = await peek(desk)
        assert [(shown["body"], shown["ready_us"]) for shown in found] == [
            ("first", 1_600_000_000_000_001),
            ("later", 1_600_000_000_000_002),
        ]

    with_desk(tmp_path, scenario)


def test_what_a_queue_took_elsewhere_it_takes_here(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        import_id = await begin(desk)
        await send_queue(desk, import_id)
        assert (await send(desk, import_id, message(bytes(1_025))))[0] == 200
        assert (await desk.post("/api/v1/queues/q/messages", {"body": "x" * 1_025}))[0] == 413

    with_desk(tmp_path, scenario)


def test_of_two_messages_with_one_id_of_rsmq_the_second_is_refused(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        import_id = await begin(desk)
        assert (await send_queue(desk, import_id, message(b"one", "id")))[0] == 200
        assert (await send_queue(desk, import_id, message(b"other", "id")))[1]["error"] == "duplicate"
        assert (await send_queue(desk, import_id, message(b"one", "id")))[0] == 200
        assert [shown["body"] for shown in await peek(desk)] == ["one"]

    with_desk(tmp_path, scenario)


@pytest.mark.parametrize("said", [{"lease_us": -1}, {"created_us": -1}, {"max_body": 1.5}, {"more": 1}])
def test_a_bad_queue_is_refused(tmp_path: Path, said: dict[str, object]) -> None:
    async def scenario(desk: Desk) -> None:
        assert (await send_queue(desk, await begin(desk), **said))[0] == 400
        assert (await send(desk, await begin(desk), message(), dialect="klingon"))[0] == 400
        assert (await desk.get("/api/v1/queues"))[1]["queues"] == []

    with_desk(tmp_path, scenario)
