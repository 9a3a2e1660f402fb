"""The dialect `etzel` over real sockets: pipelining, wake-ups, large messages, ends of all kinds, and races."""

from __future__ import annotations

import http.client
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import penstock
from harness.server import Server, serving
from tests.dialects.fuzz_etzel import asked
from tests.dialects.websocket_model import PING, PONG, frame, text
from tests.live.lines import Lines
from tests.live.texts import FIN, Texts
from torture import races

PATIENCE_S = 10.0
LARGE = "x" * (1 << 20)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data = tmp_path_factory.mktemp("etzel") / "data"
    with serving(data, "--confirm", "write", listen=("etzel", "deferred")) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[Texts]:
    with Texts(server.ports["etzel"]) as connected:
        yield connected


def test_any_number_of_requests_in_one_segment_are_answered_in_order(client: Texts) -> None:
    client.send(b"".join(asked(cmd="PUB", qname="many", msg=str(at)) for at in range(500)))
    client.send(asked(cmd="FET", qname="many") * 501)
    assert [client.heard() for _ in range(500)] == [{"cmd": "ok"}] * 500
    found = [client.heard() for _ in range(501)]
    assert [one.get("msg") for one in found] == [*map(str, range(500)), None]
    client.send(b"".join(asked(cmd="ACK", qname="many", uid=one["uid"]) for one in found[:-1]))
    assert {client.heard()["cmd"] for _ in range(500)} == {"okack"}


def test_a_request_may_arrive_one_byte_at_a_time(client: Texts) -> None:
    for byte in asked(cmd="PUB", qname="slow", msg="slowly") + asked(cmd="FET", qname="slow"):
        client.send(bytes((byte,)))
        time.sleep(0.001)
    assert client.heard() == {"cmd": "ok"}
    assert client.heard()["msg"] == "slowly"


def test_the_largest_bodies_come_through_as_text_and_as_numbers(client: Texts) -> None:
    for body in (LARGE, "\0" * (1 << 20), [255] * (1 << 20)):
        assert client.ask("PUB", "large", msg=body) == {"cmd": "ok"}
        found = client.ask("FET", "large")
        assert found["msg"] == body
        assert client.ask("ACK", "large", uid=found["uid"])["cmd"] == "okack"


def test_a_message_that_is_too_large_ends_the_connection_before_it_is_sent(client: Texts) -> None:
    client.send(b"\x81\xff" + (1 << 40).to_bytes(8, "big") + bytes(4))
    assert client.is_closed(1_009)


def test_a_ping_is_answered_by_the_server_and_not_by_what_is_under_way(client: Texts) -> None:
    client.send(frame(FIN | PING, b"there?"))
    assert client.frame() == (FIN | PONG, b"there?")


# -- waking


def test_a_worker_is_woken_by_what_another_dialect_publishes(server: Server, client: Texts) -> None:
    assert client.ask("SUB", "default")["cmd"] == "oksub"
    assert client.ask("FET", "default")["cmd"] == "nomsg"
    assert client.ask("ISLP", "default")["cmd"] == "okslp"
    with Lines(server.ports["deferred"]) as publisher:
        publisher.publish(b"now")
        assert client.heard() == {"cmd": "awk", "qname": "default"}
        found = client.ask("FET", "default")
        assert found["msg"] == "now"
        assert publisher.ask(b"DELETE " + found["uid"].removeprefix("etzl").encode()) == b"ok"
        assert client.ask("ISLP", "default")["cmd"] == "okslp"
        publisher.publish(b"later", delay_ms=100)
        assert client.heard() == {"cmd": "awk", "qname": "default"}
        assert client.ask("FET", "default")["msg"] == "later"


def test_everyone_who_sleeps_is_woken_once(server: Server, client: Texts) -> None:
    sleepers = [Texts(server.ports["etzel"]) for _ in range(200)]
    for one in sleepers:
        one.say("SUB", "bed")
        one.say("ISLP", "bed")
    for one in sleepers:
        assert [one.heard()["cmd"], one.heard()["cmd"]] == ["oksub", "okslp"]
    client.ask("PUB", "bed", msg="1")
    client.ask("PUB", "bed", msg="2")
    assert all(one.heard() == {"cmd": "awk", "qname": "bed"} for one in sleepers)
    found = [one.ask("FET", "bed")["cmd"] for one in sleepers]
    assert found.count("msg") == 2
    assert found.count("nomsg") == 198
    for one in sleepers:
        one.close()


def test_a_sleeper_that_is_gone_is_forgotten(server: Server, client: Texts) -> None:
    with Texts(server.ports["etzel"]) as gone:
        gone.ask("SUB", "left alone")
        gone.ask("ISLP", "left alone")
        assert client.ask("FET", "left alone")["cmd"] == "nomsg"
    deadline_s = time.monotonic() + PATIENCE_S
    while client.ask("FET", "left alone")["cmd"] != "nok":
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def test_whatever_the_moment_of_a_publish_no_wake_up_is_lost() -> None:
    """The short version of `make torture ARGS=races`."""
    outcome = races.campaign(count=2_000, seed=20_260_101)
    assert outcome.broken == ()
    assert outcome.races >= 2_000
    assert outcome.wakes >= outcome.races // 2


# -- ends


def test_goodbye_is_answered_after_everything_that_was_asked(client: Texts) -> None:
    client.send(asked(cmd="PUB", qname="bye", msg="x") * 100)
    client.say_goodbye(4_000)
    assert [client.heard() for _ in range(100)] == [{"cmd": "ok"}] * 100
    assert client.is_closed(4_000)


def test_nonsense_is_answered_and_lost_framing_ends_the_connection(client: Texts) -> None:
    client.send(text(b"nonsense") + b"\x81\x00")
    assert client.heard() == {"cmd": "nok", "err": "BAD_REQUEST"}
    assert client.is_closed(1_002)


def test_a_server_that_stops_says_that_it_goes_away(data: Path) -> None:
    with serving(data, listen=("etzel",)) as server, Texts(server.port) as client, Texts(server.port) as sleeper:
        sleeper.ask("SUB")
        sleeper.ask("ISLP")
        client.say("PUB", msg="the last one")
        assert client.heard() == {"cmd": "ok"}
        server.process.send_signal(signal.SIGTERM)
        assert sleeper.heard() == {"cmd": "awk", "qname": "q"}
        assert client.is_closed(1_001)
        assert sleeper.is_closed(1_001)
        assert server.wait() == 0


def test_what_was_told_survives_a_kill_and_so_does_a_uid(data: Path) -> None:
    server = Server(data, "--confirm", "write", listen=("etzel",))
    with Texts(server.port) as client:
        client.ask("PUB", msg="held", timeout=60)
        uid = client.ask("FET")["uid"]
        client.send(b"".join(asked(cmd="PUB", qname="q", msg=str(at)) for at in range(1_000)))
        assert [client.heard() for _ in range(1_000)] == [{"cmd": "ok"}] * 1_000
        server.kill()
        server.wait()
    with serving(data, "--confirm", "write", listen=("etzel",)) as again, Texts(again.port) as client:
        assert [client.ask("FET")["msg"] for _ in range(1_000)] == [*map(str, range(1_000))]
        assert client.ask("FET")["cmd"] == "nomsg"
        assert client.ask("ACK", uid=uid)["cmd"] == "okack"
        counts = again.get("/api/v1/status")["counts"]
        assert (counts["finished"], counts["leased"]) == (1, 1_000)


# -- pages


def test_a_browser_is_told_what_this_is(server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.ports["etzel"], timeout=PATIENCE_S)
    connection.request("GET", "/")
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    about = json.loads(answer.read())
    assert about == {"name": "penstock", "version": penstock.__version__, "dialect": "etzel", "connect": "/connect"}
    connection.request("GET", "/elsewhere")
    assert connection.getresponse().status == 404
