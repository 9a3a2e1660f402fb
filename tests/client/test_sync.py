"""The blocking client: the same calls, from any thread. Here on a scripted server that has a loop of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock import Disconnected, NoQueue
from penstock.client.portal import Portal
from penstock.sync import Client
from tests.client.fake import FakeServer, ends, gives, publishes, refuses


async def _made() -> FakeServer:
    server = FakeServer()
    await server.start()
    return server


@pytest.fixture
def server() -> Iterator[FakeServer]:
    portal = Portal()
    server = portal.run(_made())
    yield server
    portal.run(server.stop())
    portal.close()


def test_the_calls_are_the_same(server: FakeServer) -> None:
    server.answers |= {
        "publish": publishes,
        "reserve": gives("a", "b"),
        "finish": ends("finished"),
        "release": ends("released"),
        "extend": ends("extended"),
    }
    with Client(server.url) as client:
        assert client.publish("q", json=[1]).id == "1/0"
        assert len(client.publish_many("q", ["a", "b"])) == 2
        first, second = client.reserve("q", max=2)
        assert (first.text, second.text) == ("a", "b")
        assert first.extend(5)
        assert first.finish()
        assert second.release(delay=1)
        assert client.finish([first, second]) == [True, True]
    assert server.types() == ["publish", "publish", "reserve", "extend", "finish", "release", "finish"]


def test_a_refusal_is_the_same_exception(server: FakeServer) -> None:
    server.answers["reserve"] = refuses("NoObject")
    with Client(server.url) as client, pytest.raises(NoQueue):
        client.reserve("q")


def test_work_finishes_what_went_well_and_releases_what_did_not(server: FakeServer) -> None:
    server.answers |= {"reserve": gives("a"), "finish": ends("finished"), "release": ends("released")}
    with Client(server.url) as client:
        with client.work("q") as message:
            assert message.text == "a"
        with pytest.raises(ZeroDivisionError), client.work("q"):
            raise ZeroDivisionError
        with pytest.raises(KeyboardInterrupt), client.work("q"):
            raise KeyboardInterrupt
        with client.work("q") as message:
            message.release()
    assert server.types() == ["reserve", "finish", *["reserve", "release"] * 3]
    assert [frame["failed"] for frame in server.heard if frame["type"] == "release"] == [True, False, False]


def test_a_lease_is_kept_while_the_caller_is_busy(server: FakeServer) -> None:
    extended = threading.Event()

    def answer(line: object, frame: dict[str, object]) -> None:
        ends("extended")(line, frame)  # type: ignore[arg-type]
        extended.set()

    server.answers |= {"reserve": gives("a"), "finish": ends("finished"), "extend": answer}
    with Client(server.url) as client, client.work("q", lease=0.2):
        assert extended.wait(10)


def test_many_threads_share_one_client(server: FakeServer) -> None:
    server.answers["publish"] = publishes
    with Client(server.url) as client, ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: client.publish("q", str(number)), range(200)))
    bodies = {frame["messages"][0]["body"] for frame in server.heard}
    assert bodies == {str(number) for number in range(200)}


def test_a_client_without_a_server_says_so_and_leaves_no_thread() -> None:
    before = threading.active_count()
    with pytest.raises(Disconnected), Client("ws://127.0.0.1:1", timeout=0.1):
        pass
    assert threading.active_count() == before


def test_a_client_that_is_not_open_says_so(server: FakeServer) -> None:
    client = Client(server.url)
    with pytest.raises(Disconnected):
        client.publish("q", "a")
    with client:
        pass
    with pytest.raises(Disconnected):
        client.publish("q", "a")


def test_a_client_is_opened_once_and_closed_as_often_as_one_likes(server: FakeServer) -> None:
    server.answers["publish"] = publishes
    client = Client(server.url)
    with client:
        with pytest.raises(Disconnected, match="already"):
            client.open()
        client.publish("q", "a")
        client.close()


def test_a_call_under_way_ends_when_another_thread_closes_the_client(server: FakeServer) -> None:
    heard = threading.Event()
    server.answers["publish"] = lambda line, frame: heard.set()
    client = Client(server.url)
    client.open()
    with ThreadPoolExecutor(1) as thread:
        publishing = thread.submit(client.publish, "q", "a")
        assert heard.wait(10)
        client.close()
        assert isinstance(publishing.exception(10), Disconnected)
