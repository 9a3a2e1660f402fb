"""The dialect `glovebox` over real sockets: requests by the thousand, waits on time, sessions that outlive a kill."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.server import Server, serving
from tests.dialects.gloves import request
from tests.live.gloves import Gloves
from tests.live.lines import Lines

MANY = 2_000
SPEAKS = ("glovebox", "deferred")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("glovebox") / "data", "--confirm", "write", listen=SPEAKS) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[Gloves]:
    with Gloves(server.ports["glovebox"]) as connected:
        yield connected


def status(server: Server, path: str) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.ports["glovebox"], timeout=10)
    connection.request("GET", path)
    answer = connection.getresponse()
    found = answer.status, json.loads(answer.read())
    connection.close()
    return found


def test_any_number_of_requests_in_one_segment_are_each_answered(client: Gloves) -> None:
    client.ask("create", queue="many")
    posts = [request("post", queue="many", message=f"m{at}", label=at, notify=["ready", "sync"]) for at in range(MANY)]
    client.socket.sendall(b"".join(posts))
    told = [client.hear() for _ in range(2 * MANY)]
    assert [one["label"] for one in told if one["notice"] == "ready"] == list(range(MANY))
    assert sorted(one["label"] for one in told if one["notice"] == "sync") == list(range(MANY))
    client.socket.sendall(b"".join([request("pop", queue="many", label=at) for at in range(MANY + 1)]))
    bodies = {one["label"]: one.get("body") for one in (client.hear() for _ in range(MANY + 1))}
    assert bodies == {at: f"m{at}" for at in range(MANY)} | {MANY: None}


def test_a_request_may_arrive_one_byte_at_a_time(client: Gloves) -> None:
    for byte in request("create", queue="bytes", label=3):
        client.socket.sendall(bytes((byte,)))
        time.sleep(0.0005)
    assert client.hear() == {"type": "notice", "label": 3, "notice": "ready"}


def test_one_that_waits_is_told_on_time_that_nothing_came(client: Gloves) -> None:
    client.ask("create", queue="empty")
    began = time.monotonic()
    assert client.ask("pop", queue="empty", timeout=0.3, label=1) == {"type": "nomessage", "label": 1}
    assert 0.3 <= time.monotonic() - began < 1.0


def test_one_that_waits_is_served_by_another_dialect(server: Server, client: Gloves) -> None:
    client.ask("create", queue="default")
    client.send("fetch", queue="default", block_timeout=10, work_timeout=10, label=1)
    with Lines(server.ports["deferred"]) as lines:
        lines.publish(b"from there")
        given = client.hear()
        assert given["body"] == "from there"
        place = {name: given[name] for name in ("shard", "sequence")}
        assert client.ask("finish", queue="default", **place, label=2)["notice"] == "finish"
        assert lines.ask(b"STATS").startswith(b"TASKS 0 RESERVED 0 ")


def test_a_status_tells_what_is_there_and_who_waits(server: Server, client: Gloves) -> None:
    client.ask("create", queue="a/b c")
    client.ask("publish", queue="a/b c", messages=[{"body": "x"}])
    assert status(server, "/status/a/b%20c")[1]["length"] == 1
    client.ask("pop", queue="a/b c")
    client.send("pop", queue="a/b c", timeout=10)
    client.send("create", queue="a/b c")
    client.hear()
    code, found = status(server, "/status/a%2Fb%20c")
    assert (code, found["length"], found["readers_waiting"]) == (200, 0, 1)
    assert status(server, "/status/none")[0] == 404


def test_large_bodies_come_through_whole(client: Gloves) -> None:
    client.ask("create", queue="large")
    body = "x" * (1 << 20)
    for label in range(20):
        assert client.ask("post", queue="large", message=body, label=label, notify=["ready"])["label"] == label
    client.socket.sendall(request("pop", queue="large") * 20)
    assert {client.hear()["body"] for _ in range(20)} == {body}
    assert client.ask("reserve", queue="large", max=10)["messages"] == []


def test_a_goodbye_is_returned_and_the_connection_ends(client: Gloves) -> None:
    client.send("pop", queue="none", timeout=60)
    assert client.hear()["code"] == "NoObject"
    client.say_goodbye(3_000)
    with pytest.raises(EOFError, match="closed with 3000"):
        client.hear()
    with pytest.raises(EOFError, match="ended"):
        client.hear()


def test_a_client_that_is_gone_is_free_for_another_at_once(server: Server) -> None:
    first = Gloves(server.ports["glovebox"])
    first.say_goodbye()
    with pytest.raises(EOFError):
        first.hear()
    with Gloves(server.ports["glovebox"], reconnect_as=first.id) as again:
        assert again.id == first.id
    first.close()


def test_a_thousand_short_connections_leave_nothing_behind(server: Server) -> None:
    before = server.get("/api/v1/status")["resident_bytes"]
    for _ in range(1_000):
        with Gloves(server.ports["glovebox"]):
            pass
    assert server.get("/api/v1/status")["resident_bytes"] - before < 8 << 20
    with Gloves(server.ports["glovebox"]) as client:
        assert client.ask("pop", queue="none")["code"] == "NoObject"


def test_what_a_poster_was_told_is_written_survives_a_kill_and_so_do_its_name_and_its_leases(data: Path) -> None:
    with (
        serving(data, "--confirm", "write", listen=SPEAKS) as server,
        Gloves(server.ports["glovebox"], durable_session=1) as poster,
    ):
        poster.ask("create", queue="q")
        for label in range(100):
            poster.send("post", queue="q", message=f"m{label}", label=label, notify=["write", "finish"])
            assert poster.hear() == {"type": "notice", "label": label, "notice": "write"}
        with Gloves(server.ports["glovebox"]) as worker:
            held = worker.ask("fetch", queue="q", work_timeout=60, sync="write")
            server.kill()
            server.wait()
    with serving(data, "--confirm", "write", listen=SPEAKS) as again:
        port = again.ports["glovebox"]
        with Gloves(port, reconnect_as=worker.id) as back:
            assert back.id == worker.id
            place = {name: held[name] for name in ("shard", "sequence")}
            assert back.ask("finish", queue="q", **place, label=7, response="write")["notice"] == "finish"
            bodies = [back.ask("pop", queue="q")["body"] for _ in range(99)]
            assert sorted([*bodies, held["body"]]) == sorted(f"m{label}" for label in range(100))
        with Gloves(port, reconnect_as=poster.id) as back:
            assert back.id == poster.id
            assert sorted(back.hear()["label"] for _ in range(100)) == list(range(100))


def test_a_server_that_stops_says_that_it_goes_away(data: Path) -> None:
    with serving(data, listen=SPEAKS) as server, Gloves(server.ports["glovebox"]) as client:
        client.ask("create", queue="q")
        client.send("pop", queue="q", timeout=60)
        server.process.terminate()
        with pytest.raises(EOFError, match="closed with 1001"):
            client.hear()
        assert server.wait() == 0
