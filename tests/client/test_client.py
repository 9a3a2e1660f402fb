"""The client's calls, against a scripted server: what is sent, what answers mean, what is raised."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from penstock import BadRequest, Client, Denied, Draft, Full, LeaseLost, NoQueue, PenstockError, Timeout
from tests.client.fake import Frame, Line, after_the_wait, ends, fake_server, gives, played, publishes, refuses, says


@played
async def test_a_body_travels_as_text_as_bytes_or_as_json() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["publish"] = publishes
        await client.publish("q", "grüße")
        await client.publish("q", b"plain")
        await client.publish("q", b"\xff\x00")
        await client.publish("q", json={"a": [1, None]})
        await client.publish("q", json=None)
    bodies = [frame["messages"][0] for frame in server.heard]
    assert [body.get("body") for body in bodies] == ["grüße", "plain", None, '{"a":[1,null]}', "null"]
    assert bodies[2]["body64"] == "/wA="


@played
async def test_what_is_not_said_is_not_sent() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["publish"] = publishes
        await client.publish("q", "a", dedup_id="d")
        options: dict[str, Any] = {"delay": 1.5, "ttl": 60, "key": b"\xfe", "priority": 5, "dedup_id": "e"}
        await client.publish("q", "b", create=False, stage="write", **options)
    first, second = server.heard
    assert first == {
        "type": "publish",
        "queue": "q",
        "sync": "sync",
        "label": 1,
        "create": True,
        "messages": [{"body": "a", "dedup_id": "d"}],
    }
    assert (second["sync"], second["create"]) == ("write", False)
    assert second["messages"] == [
        {"body": "b", "key64": "/g==", "delay": 1.5, "ttl": 60.0, "priority": 5, "dedup_id": "e"}
    ]


@pytest.mark.parametrize("draft", [Draft(), Draft("a", json=1)])
@played
async def test_a_message_has_one_body(draft: Draft) -> None:
    async with fake_server() as server, Client(server.url) as client:
        with pytest.raises(TypeError):
            await client.publish_many("q", [draft])
    assert server.heard == []


@pytest.mark.parametrize("delay", [-1.0, float("inf"), float("nan")])
@played
async def test_a_time_is_a_number_of_seconds(delay: float) -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["reserve"] = gives("a")
        (message,) = await client.reserve("q")
        for call in (
            client.publish("q", "a", delay=delay),
            client.publish("q", "a", ttl=delay),
            client.reserve("q", wait=delay),
            client.reserve("q", lease=delay),
            message.release(delay=delay),
            message.extend(delay),
        ):
            with pytest.raises(ValueError, match="seconds"):
                await call
    assert server.types() == ["reserve"]


@played
async def test_a_batch_is_one_request_and_has_an_end() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["publish"] = publishes
        told = await client.publish_many("q", ["a", b"b", Draft(json=3, delay=1)])
        assert [one.id for one in told] == ["1/0", "1/1", "1/2"]
        assert await client.publish_many("q", []) == []
        with pytest.raises(ValueError, match="1,000"):
            await client.publish_many("q", ["x"] * 1_001)
    assert len(server.heard) == 1


@played
async def test_every_message_has_a_dedup_id_of_its_own() -> None:
    async with fake_server() as server, Client(server.url) as one, Client(server.url) as other:
        server.answers["publish"] = publishes
        await asyncio.gather(*(client.publish_many("q", ["a", "b"]) for client in (one, other, one)))
    ids = [message["dedup_id"] for frame in server.heard for message in frame["messages"]]
    assert len(set(ids)) == 6


@played
async def test_an_empty_dedup_id_is_none() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["publish"] = publishes
        await client.publish("q", "a", dedup_id="")
    assert server.heard[0]["messages"] == [{"body": "a"}]


@played
async def test_a_duplicate_is_told_only_of_ids_the_caller_chose() -> None:
    async with fake_server() as server, Client(server.url) as client:
        told = [{"shard": 1, "sequence": 2, "duplicate": True}]
        server.answers["publish"] = says("published", messages=told)
        assert (await client.publish("q", "a", dedup_id="mine")).duplicate
        assert not (await client.publish("q", "a")).duplicate


@played
async def test_a_row_of_a_list_needs_no_dedup_id_and_tells_how_far_the_list_has_come() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["publish"] = says("published", messages=[{"already": 20}, {"shard": 1, "sequence": 2}])
        rows = [Draft("a", mark="list", row=20), Draft("b", mark="list", row=21)]
        told = await client.publish_many("q", rows)
    assert server.heard[0]["messages"] == [
        {"body": "a", "mark": "list", "row": 20},
        {"body": "b", "mark": "list", "row": 21},
    ]
    assert [one.already for one in told] == [20, 0]


@played
async def test_a_reserved_message_shows_what_it_is() -> None:
    async with fake_server() as server, Client(server.url) as client:
        known = {"key": "k", "priority": -3, "deliveries": 2, "failures": 1, "published_us": 17}
        server.answers["reserve"] = gives('{"a":1}', **known)
        (message,) = await client.reserve("q", max=5, lease=2.5, wait=1)
        assert (message.id, message.body, message.text) == ("7/0", b'{"a":1}', '{"a":1}')
        assert (message.json(), message.json(dict[str, int])) == ({"a": 1}, {"a": 1})
        with pytest.raises(msgspec.ValidationError):
            message.json(list[int])
        assert (message.key, message.priority) == (b"k", -3)
        assert (message.deliveries, message.failures, message.published_us) == (2, 1, 17)
    asked = server.heard[0]
    assert (asked["max"], asked["lease"], asked["wait"]) == (5, 2.5, 1.0)


@played
async def test_bytes_and_nothing_come_back_as_they_are() -> None:
    async with fake_server() as server, Client(server.url) as client:
        given = [
            {"shard": 1, "sequence": 1, "body64": "/w==", "key64": "/g=="},
            {"shard": 1, "sequence": 2, "body": ""},
        ]
        server.answers["reserve"] = says("reserved", messages=given)
        first, second = await client.reserve("q", max=2)
        assert (first.body, first.key) == (b"\xff", b"\xfe")
        assert (second.body, second.key) == (b"", None)
        with pytest.raises(UnicodeDecodeError):
            _ = first.text


@pytest.mark.parametrize("count", [0, 1_001])
@played
async def test_no_more_is_reserved_than_one_request_may(count: int) -> None:
    async with fake_server() as server, Client(server.url) as client:
        with pytest.raises(ValueError, match="1,000"):
            await client.reserve("q", max=count)


@played
async def test_messages_are_ended_where_they_came_from_in_one_request_each() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers |= {"reserve": gives("a", "b"), "finish": _second_is_gone}
        mine = await client.reserve("q", max=2)
        other = await client.reserve("p", max=2)
        assert await client.finish([mine[0], other[0], mine[1], other[1]]) == [True, True, False, False]
    finishes = [frame for frame in server.heard if frame["type"] == "finish"]
    assert [(frame["queue"], frame["messages"]) for frame in finishes] == [
        ("q", [[7, 0], [7, 1]]),
        ("p", [[7, 0], [7, 1]]),
    ]


def _second_is_gone(line: Line, frame: Frame) -> None:
    line.say({"type": "finished", "label": frame["label"], "messages": [True, False]})


@played
async def test_more_messages_than_one_request_takes_are_several() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers |= {"reserve": gives(*["x"] * 1_000), "finish": ends("finished")}
        messages = await client.reserve("q", max=1_000)
        messages += await client.reserve("q", max=1_000)
        assert await client.finish(messages) == [True] * 2_000
    assert [len(frame["messages"]) for frame in server.heard if frame["type"] == "finish"] == [1_000, 1_000]


@played
async def test_a_message_can_be_released_and_extended() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers |= {"reserve": gives("a"), "release": ends("released"), "extend": ends("extended")}
        (message,) = await client.reserve("q", lease=12)
        assert await message.extend()
        assert await message.extend(99)
        assert await message.release(delay=3, failed=True)
        (message,) = await client.reserve("q")
        assert await message.release()
    extends = [frame["lease"] for frame in server.heard if frame["type"] == "extend"]
    releases = [(frame.get("delay"), frame["failed"]) for frame in server.heard if frame["type"] == "release"]
    assert (extends, releases) == ([12.0, 99.0], [(3.0, True), (None, False)])


@played
async def test_a_message_that_could_not_be_ended_knows_that_it_is_lost() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers |= {"reserve": gives("a"), "finish": ends("finished", False)}
        (message,) = await client.reserve("q")
        assert not message.lost
        assert not await message.finish()
        assert message.lost


@pytest.mark.parametrize(
    ("code", "key", "error"),
    [
        ("NoObject", "q", NoQueue),
        ("PermissionDenied", "q", Denied),
        ("PermissionDenied", "full", Full),
        ("BadRequest", "priority", BadRequest),
        ("SomethingNew", "q", BadRequest),
    ],
)
@played
async def test_a_refusal_is_an_exception(code: str, key: str, error: type[PenstockError]) -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["publish"] = refuses(code, key)
        with pytest.raises(error):
            await client.publish("q", "a")
        server.answers["publish"] = publishes
        await client.publish("q", "a")


@played
async def test_a_queue_named_full_can_be_denied() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["publish"] = refuses("PermissionDenied", "full")
        with pytest.raises(Denied):
            await client.publish("full", "a")


@played
async def test_a_queue_is_created_once() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["create"] = says("notice", notice="ready")
        assert await client.create("q", retries=3)
        server.answers["create"] = refuses("ObjectAlreadyExists")
        assert not await client.create("q")
    assert [frame.get("retries") for frame in server.heard] == [3, None]


@played
async def test_an_answer_of_another_kind_is_an_error() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["reserve"] = says("notice", notice="ready")
        with pytest.raises(BadRequest):
            await client.reserve("q")


@played
async def test_answers_may_come_in_any_order() -> None:
    async with fake_server() as server, Client(server.url) as client:
        publishing = [asyncio.create_task(client.publish("q", str(number))) for number in range(3)]
        await server.until(lambda server: len(server.heard) == 3)
        for frame in reversed(server.heard):
            told = {"shard": 1, "sequence": int(frame["messages"][0]["body"])}
            server.lines[0].say({"type": "published", "label": frame["label"], "messages": [told]})
        assert [one.sequence for one in await asyncio.gather(*publishing)] == [0, 1, 2]


@played
async def test_a_call_without_an_answer_times_out() -> None:
    async with fake_server() as server, Client(server.url, timeout=60) as client:
        with pytest.raises(Timeout):
            await client.publish("q", "a", timeout=0.05)
        with pytest.raises(TimeoutError):
            await client.reserve("q", wait=0.05, timeout=0.0)


@played
async def test_no_more_calls_are_under_way_than_allowed() -> None:
    async with fake_server() as server, Client(server.url, in_flight=2) as client:
        publishing = [asyncio.create_task(client.publish("q", str(number))) for number in range(4)]
        await server.until(lambda server: len(server.heard) == 2)
        server.answers["reserve"] = gives()
        assert await client.reserve("q") == []
        assert server.types() == ["publish", "publish", "reserve"]
        server.answers["publish"] = publishes
        publishes(server.lines[0], server.heard[0])
        publishes(server.lines[0], server.heard[1])
        await asyncio.gather(*publishing)


@played
async def test_a_request_too_large_for_a_server_is_not_sent() -> None:
    async with fake_server() as server, Client(server.url) as client:
        with pytest.raises(BadRequest, match="bytes"):
            await client.publish_many("q", [b"x" * (1 << 20)] * 9)
    assert server.heard == []


# -- working


@played
async def test_work_finishes_what_went_well() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers |= {"reserve": gives("a"), "finish": ends("finished")}
        async with client.work("q") as message:
            assert message.text == "a"
            assert "finish" not in server.types()
    assert server.types() == ["reserve", "finish"]


@played
async def test_work_releases_what_failed_and_passes_the_exception_on() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers |= {"reserve": gives("a"), "release": ends("released")}
        with pytest.raises(ZeroDivisionError):
            async with client.work("q"):
                raise ZeroDivisionError
    assert server.heard[-1]["failed"]


@played
async def test_whoever_is_cancelled_at_work_has_not_failed() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers |= {"reserve": gives("a"), "release": ends("released")}
        begun = asyncio.Event()

        async def work() -> None:
            async with client.work("q"):
                begun.set()
                await asyncio.sleep(60)

        working = asyncio.create_task(work())
        await begun.wait()
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
    assert (server.types(), server.heard[-1]["failed"]) == (["reserve", "release"], False)


@played
async def test_work_leaves_alone_what_was_ended_in_the_block() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers |= {"reserve": gives("a"), "release": ends("released")}
        async with client.work("q") as message:
            await message.release(delay=60)
    assert server.types() == ["reserve", "release"]


@played
async def test_work_says_when_the_lease_was_lost() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers |= {"reserve": gives("a"), "finish": ends("finished", False)}
        with pytest.raises(LeaseLost):
            async with client.work("q"):
                pass


@played
async def test_work_waits_no_longer_than_it_is_told() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["reserve"] = after_the_wait(gives())
        with pytest.raises(Timeout):
            async with client.work("q", wait=0.05):
                pass


@played
async def test_a_lease_is_extended_by_half_time_while_its_message_is_kept() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers |= {"reserve": gives("a", "b"), "finish": ends("finished"), "extend": ends("extended")}
        first, second = await client.reserve("q", max=2, lease=0.2)
        async with client.keep(first), client.keep(second):
            await server.until(lambda server: server.types().count("extend") == 3)
        await client.finish([first, second])
        extends = [frame for frame in server.heard if frame["type"] == "extend"]
        assert [sorted(frame["messages"]) for frame in extends] == [[[7, 0], [7, 1]]] * 3
        await asyncio.sleep(0.25)
    assert server.types().count("extend") == 3


@played
async def test_a_lease_that_ran_out_is_not_extended_again() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers |= {"reserve": gives("a"), "extend": ends("extended", False), "finish": ends("finished", False)}
        (message,) = await client.reserve("q", lease=0.1)
        async with client.keep(message):
            await server.until(lambda server: "extend" in server.types())
            await asyncio.sleep(0.2)
        assert message.lost
    assert server.types().count("extend") == 1
