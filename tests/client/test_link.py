"""The link through broken connections: what is repeated, what fails, and that nothing is left behind."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from penstock import Client, Denied, Disconnected, Timeout
from penstock.client.outside import Network
from tests.client.fake import (
    FIRST_ID,
    FakeServer,
    Frame,
    Line,
    ends,
    fake_server,
    gives,
    played,
    publishes,
    refuses,
    says,
)


def breaks_once(server: FakeServer, kind: str) -> None:
    """The first request of a kind is heard, and the connection breaks before the answer; later ones are answered."""
    answer = server.answers[kind]
    calls = itertools.count()

    def broken(line: Line, frame: Frame) -> None:
        if next(calls) == 0:
            line.cut()
        else:
            answer(line, frame)

    server.answers[kind] = broken


async def go_away(server: FakeServer, client: Client) -> None:
    """Returns once the client has noticed."""
    await server.stop()
    while client._link._wire is not None:
        await asyncio.sleep(0)


@played
async def test_a_client_says_who_it_is() -> None:
    async with fake_server() as server, Client(server.url, token="secret") as client:
        assert client.id == FIRST_ID
    (head,) = server.heads
    assert head.path == b"/connect"
    assert head.said("durable-session")
    assert head.headers["authorization"] == "Bearer secret"
    assert "reconnect-as" not in head.headers


@played
async def test_a_broken_connection_is_made_anew_under_the_same_id() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.cut()
        await server.until(lambda server: len(server.heads) == 2)
        server.answers["publish"] = publishes
        await client.publish("q", "a")
        assert client.id == FIRST_ID
    assert server.heads[1].headers["reconnect-as"] == str(FIRST_ID)


@played
async def test_an_id_that_is_still_taken_is_asked_for_again_but_not_for_ever() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.keeps_ids = False
        server.cut()
        server.answers["publish"] = publishes
        await client.publish("q", "a")
        assert [head.headers.get("reconnect-as") for head in server.heads[1:]] == [str(FIRST_ID)] * 4
        assert client.id == FIRST_ID + 4


@played
async def test_an_old_id_that_becomes_free_is_kept() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.keeps_ids = False
        server.cut()
        await server.until(lambda server: len(server.heads) == 2)
        server.keeps_ids = True
        server.answers["publish"] = publishes
        await client.publish("q", "a")
        assert client.id == FIRST_ID


@played
async def test_a_publish_is_repeated_with_the_same_dedup_id() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["publish"] = publishes
        breaks_once(server, "publish")
        await client.publish("q", "a")
    first, second = server.heard
    assert first == second


@played
async def test_a_publish_without_a_dedup_id_is_not_repeated() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["publish"] = publishes
        breaks_once(server, "publish")
        with pytest.raises(Disconnected):
            await client.publish("q", "a", dedup_id="")
        await client.publish("q", "b", dedup_id="")
    assert [frame["messages"][0]["body"] for frame in server.heard] == ["a", "b"]


@played
async def test_a_publish_without_a_dedup_id_waits_for_a_connection() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["publish"] = publishes
        await go_away(server, client)
        publishing = asyncio.create_task(client.publish("q", "a", dedup_id=""))
        await asyncio.sleep(0.05)
        await server.start()
        await publishing
    assert len(server.heard) == 1


@played
async def test_a_reserve_is_repeated() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["reserve"] = gives("a")
        breaks_once(server, "reserve")
        assert [message.text for message in await client.reserve("q")] == ["a"]


@played
async def test_a_finish_heard_the_first_time_is_no_loss_when_it_is_repeated() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers |= {"reserve": gives("a"), "finish": ends("finished", False)}
        breaks_once(server, "finish")
        (message,) = await client.reserve("q", lease=30)
        assert await message.finish()
        assert not message.lost
    assert server.types() == ["reserve", "finish", "finish"]


@played
async def test_a_repeated_finish_is_a_loss_where_the_lease_may_have_run_out() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers |= {"reserve": gives("a"), "finish": ends("finished", False)}
        breaks_once(server, "finish")
        (message,) = await client.reserve("q", lease=0.01)
        assert not await message.finish()
        assert message.lost


@played
async def test_a_repeated_finish_is_a_loss_under_another_id() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers |= {"reserve": gives("a"), "finish": ends("finished", False)}
        breaks_once(server, "finish")
        (message,) = await client.reserve("q", lease=30)
        server.keeps_ids = False
        assert not await message.finish()


@played
async def test_calls_wait_for_a_server_that_is_away() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["publish"] = publishes
        await go_away(server, client)
        publishing = [asyncio.create_task(client.publish("q", str(number))) for number in range(3)]
        await asyncio.sleep(0.1)
        await server.start()
        await asyncio.gather(*publishing)
    assert [frame["messages"][0]["body"] for frame in server.heard] == ["0", "1", "2"]


@played
async def test_a_call_does_not_wait_longer_than_its_time_for_a_server_that_is_away() -> None:
    async with fake_server() as server, Client(server.url) as client:
        await go_away(server, client)
        with pytest.raises(Disconnected, match="no connection"):
            await client.publish("q", "a", timeout=0.1)
        await server.start()


@played
async def test_a_client_without_a_server_says_so() -> None:
    async with fake_server() as server:
        await server.stop()
        with pytest.raises(Disconnected, match="no connection"):
            async with Client(server.url, timeout=0.1):
                pass
        await server.start()


@played
async def test_a_client_waits_for_a_server_that_is_starting() -> None:
    async with fake_server() as server:
        await server.stop()
        opening = asyncio.create_task(Client(server.url, timeout=10).open())
        await asyncio.sleep(0.1)
        await server.start()
        await opening


@pytest.mark.parametrize(("status", "error"), [(404, Disconnected), (503, Disconnected)])
@played
async def test_what_is_no_websocket_is_told(status: int, error: type[Exception]) -> None:
    async with fake_server() as server:
        server.refuses_with = status
        with pytest.raises(error, match=str(status)):
            async with Client(server.url, timeout=0.1):
                pass


@played
async def test_nonsense_from_the_server_breaks_the_connection_and_no_more() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["publish"] = publishes
        server.lines[0].say({"type": "weather", "label": 1})
        await server.until(lambda server: len(server.heads) == 2)
        server.lines[-1].say_bytes(b"\xff\xff\xff")
        await server.until(lambda server: len(server.heads) == 3)
        await client.publish("q", "a")


@played
async def test_an_answer_to_nobody_is_passed_over() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.lines[0].say({"type": "published", "label": 99, "messages": []})
        server.lines[0].say({"type": "error", "label": 0, "code": "BadRequest", "key": "?"})
        server.answers["publish"] = publishes
        await client.publish("q", "a")
    assert len(server.heads) == 1


# -- callers who have gone


@played
async def test_a_cancelled_call_that_was_not_sent_never_is() -> None:
    async with fake_server() as server, Client(server.url) as client:
        await go_away(server, client)
        publishing = asyncio.create_task(client.publish("q", "a"))
        await asyncio.sleep(0.05)
        publishing.cancel()
        await server.start()
        server.answers["publish"] = publishes
        await client.publish("q", "b")
    assert [frame["messages"][0]["body"] for frame in server.heard] == ["b"]


@played
async def test_messages_for_a_caller_who_has_gone_go_back_without_a_failure() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["release"] = ends("released")
        reserving = asyncio.create_task(client.reserve("q", max=2, wait=60))
        await server.until(lambda server: "reserve" in server.types())
        reserving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reserving
        gives("a", "b")(server.lines[0], server.heard[0])
        await server.until(lambda server: "release" in server.types())
    release = server.heard[1]
    assert (release["queue"], release["messages"], release["failed"]) == ("q", [[7, 0], [7, 1]], False)


@played
async def test_messages_that_came_after_the_time_out_go_back() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["release"] = ends("released")
        with pytest.raises(Timeout):
            await client.reserve("q", timeout=0.2)
        gives("a")(server.lines[0], server.heard[0])
        await server.until(lambda server: "release" in server.types())


@played
async def test_messages_that_came_in_the_moment_of_the_cancelling_go_back() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.answers["release"] = ends("released")
        reserving = asyncio.create_task(client.reserve("q", wait=60))
        await server.until(lambda server: "reserve" in server.types())
        hear = client._link._hear
        answered = asyncio.Event()

        def cancels_too(said: object) -> None:
            hear(said)  # type: ignore[arg-type]
            reserving.cancel()
            answered.set()

        wire = client._link._wire
        assert wire is not None
        wire._hear = cancels_too
        gives("a")(server.lines[0], server.heard[0])
        await answered.wait()
        with pytest.raises(asyncio.CancelledError):
            await reserving
        wire._hear = hear
        await server.until(lambda server: "release" in server.types())


@played
async def test_a_second_answer_to_a_repeated_reserve_goes_back() -> None:
    """A durable session may still tell what the broken connection did not."""
    async with fake_server() as server, Client(server.url) as client:
        server.answers["release"] = ends("released")
        reserving = asyncio.create_task(client.reserve("q", wait=60))
        await server.until(lambda server: len(server.heard) == 1)
        server.cut()
        await server.until(lambda server: len(server.heard) == 2)
        line = server.lines[0]
        gives("early")(line, server.heard[0])
        assert [message.text for message in await reserving] == ["early"]
        line.say({"type": "reserved", "label": server.heard[0]["label"], "messages": [{"shard": 8, "sequence": 1}]})
        await server.until(lambda server: "release" in server.types())
    assert server.heard[2]["messages"] == [[8, 1]]


# -- the end


@played
async def test_calls_under_way_fail_when_the_client_is_closed() -> None:
    async with fake_server() as server:
        client = Client(server.url)
        await client.open()
        publishing = asyncio.create_task(client.publish("q", "a"))
        await server.until(lambda server: len(server.heard) == 1)
        await client.close()
        with pytest.raises(Disconnected, match="closed"):
            await publishing
        with pytest.raises(Disconnected, match="not open"):
            await client.publish("q", "a")
        await client.close()


@played
async def test_what_came_in_the_last_moment_is_given_back_under_the_same_id() -> None:
    async with fake_server() as server:
        server.answers["release"] = ends("released")
        client = Client(server.url)
        await client.open()
        reserving = asyncio.create_task(client.reserve("q", wait=60))
        await server.until(lambda server: len(server.heard) == 1)
        server.on_goodbye = lambda line: gives("a")(line, server.heard[0]) if len(server.heard) == 1 else None
        await client.close()
        with pytest.raises(Disconnected):
            await reserving
    assert server.types() == ["reserve", "release"]
    assert server.heads[1].headers["reconnect-as"] == str(FIRST_ID)


@played
async def test_a_closed_client_can_be_opened_again() -> None:
    async with fake_server() as server:
        server.answers["publish"] = publishes
        client = Client(server.url)
        for _ in range(2):
            async with client:
                await client.publish("q", "a")


@played
async def test_nothing_runs_on_after_the_end() -> None:
    async with fake_server() as server:
        async with Client(server.url) as client:
            server.answers |= {"publish": refuses("NoObject"), "create": says("notice", notice="ready")}
            await client.create("q")
            server.cut()
        left = [task for task in asyncio.all_tasks() if "penstock/client" in repr(task.get_coro())]
        assert left == []


@played
async def test_a_server_that_falls_silent_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Network, "beat", 0.05)
    async with fake_server() as server, Client(server.url):
        server.pongs = False
        await server.until(lambda server: len(server.heads) == 2)
        server.pongs = True


@played
async def test_a_server_that_answers_pings_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Network, "beat", 0.05)
    async with fake_server() as server, Client(server.url):
        await asyncio.sleep(0.3)
        assert len(server.heads) == 1


@played
async def test_a_token_that_is_refused_is_told_at_once() -> None:
    async with fake_server() as server:
        server.refuses_with = 401
        with pytest.raises(Denied):
            async with Client(server.url, timeout=60):
                pass


@played
async def test_calls_of_a_client_whose_token_is_no_longer_good_are_denied() -> None:
    async with fake_server() as server, Client(server.url) as client:
        server.refuses_with = 403
        server.cut()
        with pytest.raises(Denied):
            await client.publish("q", "a")
        server.refuses_with = 0
