"""The dialect `pinpriq` over real sockets: pipelining, pushes to subscribers, a full queue, ends of all kinds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.server import Server, serving
from tests.dialects.fuzz_pinpriq import READY, pop, push, subscribe
from tests.live.lines import Lines
from tests.live.packets import Packets

PATIENCE_S = 10.0
ROOM = 50  # messages that the queue `full` has room for
BODY = b"b" * 60_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("pinpriq")
    config = folder / "penstock.toml"
    config.write_text(f'[[policy]]\nmatch = "full"\nmax_length = {ROOM}\n')
    with serving(folder / "data", "--config", str(config), listen=("pinpriq", "deferred")) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[Packets]:
    with Packets(server.ports["pinpriq"]) as connected:
        yield connected


def until(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s, "waited in vain"
        time.sleep(0.01)


def published(server: Server, queue: str) -> int:
    queues = {row["name"]: row["counts"]["published"] for row in server.get("/api/v1/queues")["queues"]}
    return int(queues.get(queue, 0))


def popped(client: Packets, queue: bytes, count: int) -> list[int]:
    """Keys, as many as there should be."""
    found: list[int] = []
    deadline_s = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline_s:
        found += [int(key) for key, _ in client.pop(queue)]
        time.sleep(0.01)
    return found


def waiting(server: Server) -> int:
    found: int = server.get("/api/v1/status")["waiting"]
    return found


def test_any_number_of_requests_in_one_segment_are_answered_in_order(client: Packets) -> None:
    client.send(b"".join(push(b"q", 0, 1, b"%d" % at, b"payload %d" % at) for at in range(500)) + pop(b"q") * 501)
    found = [client.answer() for _ in range(501)]
    assert found == [[(b"%d" % at, b"payload %d" % at)] for at in reversed(range(500))] + [[]]


def test_a_request_may_arrive_one_byte_at_a_time(client: Packets) -> None:
    for byte in bytes.fromhex("70 0001 03e8 01 0001 0002 6b 6869 71  50 0001 71"):
        client.send(bytes((byte,)))
        time.sleep(0.001)
    assert client.answer() == [(b"k", b"hi")]


def test_a_subscriber_is_sent_what_others_publish_in_another_dialect(server: Server, client: Packets) -> None:
    client.send(subscribe(b"default") + READY * 3)
    with Lines(server.ports["deferred"]) as publisher:
        for body in (b"one", b"two", b"three"):
            publisher.publish(body)
            assert client.answer() == [(b"", body)]
        publisher.publish(b"one too many")
        assert publisher.ask(b"STATS").startswith(b"TASKS 1 RESERVED 0 ")
        assert client.pop(b"default") == [(b"", b"one too many")]
        publisher.publish(b"later", delay_ms=100)
        client.send(READY)
        assert client.answer() == [(b"", b"later")]


def test_what_is_pushed_here_is_worked_on_in_another_dialect(server: Server, client: Packets) -> None:
    client.push(b"any\nbytes\xff", b"default")
    assert client.pop(b"always empty") == []
    with Lines(server.ports["deferred"]) as worker:
        _, id, word, _ = worker.ask(b"RESERVE").split(b" ")
        assert word == b"BODY64"
        assert client.pop(b"default") == []
        assert worker.ask(b"RETURN %b 0" % id) == b"ok"
    assert client.pop(b"default") == [(b"k", b"any\nbytes\xff")]


def test_an_unknown_opcode_ends_the_connection_after_what_was_asked_before(client: Packets) -> None:
    client.send(pop(b"q") * 100 + b"\0" + pop(b"q"))
    assert [client.answer() for _ in range(100)] == [[]] * 100
    assert client.is_closed()


def test_after_a_half_close_everything_asked_is_answered_and_then_the_server_closes(client: Packets) -> None:
    """Far more than is under way at once, so that much of it is still held back when the end comes."""
    client.send(b"".join(push(b"q", 0, 1, b"%d" % at, b"x") for at in range(100)) + pop(b"q") * 40_000 + b"P\0")
    client.half_close()
    found = [client.answer() for _ in range(40_000)]
    assert sum(map(len, found)) == 100
    assert client.is_closed()


def test_many_large_answers_come_through_one_segment(client: Packets) -> None:
    for at in range(100):
        client.push(BODY, key=b"%d" % (at // 50))
    client.send(pop(b"q") * 3)
    first, second, third = client.answer(), client.answer(), client.answer()
    assert [len(first), len(second), len(third)] == [50, 50, 0]
    assert {payload for _, payload in first + second} == {BODY}


def test_a_subscriber_that_is_gone_takes_nothing_with_it(server: Server, client: Packets) -> None:
    gone = Packets(server.ports["pinpriq"])
    gone.send(subscribe(b"q") + READY * 10)
    until(lambda: waiting(server) == 1)
    gone.close()
    until(lambda: waiting(server) == 0)
    client.push(b"x")
    assert client.pop() == [(b"k", b"x")]


# -- a queue without room


def test_a_full_queue_stops_the_reading_and_nothing_is_lost(server: Server, client: Packets) -> None:
    """So many bytes that no buffer on the way holds them: the client feels it, others do not."""
    data = b"".join(push(b"full", 0, 1, b"%d" % at, BODY) for at in range(4 * ROOM))
    sender = threading.Thread(target=client.send, args=(data,), daemon=True)
    sender.start()
    until(lambda: published(server, "full") == ROOM)
    sender.join(1.0)
    assert sender.is_alive(), "all of it was taken"
    assert published(server, "full") == ROOM
    with Packets(server.ports["pinpriq"]) as other:
        found = popped(other, b"full", 4 * ROOM)
    assert sorted(found) == list(range(4 * ROOM))
    sender.join(PATIENCE_S)
    assert not sender.is_alive()


@pytest.mark.parametrize("leave", [Packets.half_close, Packets.close])
def test_what_waits_for_room_comes_in_after_its_client_has_sent_its_end(
    server: Server, leave: Callable[[Packets], None]
) -> None:
    with Packets(server.ports["pinpriq"]) as client, Packets(server.ports["pinpriq"]) as other:
        before = published(server, "full")
        client.send(b"".join(push(b"full", 0, 1, b"%d" % at, b"x") for at in range(ROOM + 3)))
        until(lambda: published(server, "full") == before + ROOM)
        leave(client)
        assert sorted(popped(other, b"full", ROOM + 3)) == list(range(ROOM + 3))
        if leave is Packets.half_close:
            assert client.is_closed()


def test_once_a_pop_behind_it_is_answered_a_push_survives_a_kill(data: Path) -> None:
    server = Server(data, "--confirm", "write", listen=("pinpriq",))
    with Packets(server.port) as client:
        client.send(
            b"".join(push(b"q", 0, 1, b"", b"%d" % at) for at in range(1_000)) + push(b"q", 0, 0, b"x", b"parked")
        )
        assert client.pop(b"always empty") == []
        server.kill()
        server.wait()
    with serving(data, listen=("pinpriq",)) as again, Packets(again.port) as client:
        assert client.pop() == [(b"", b"%d" % at) for at in reversed(range(1_000))]
        client.push(b"company", key=b"x")
        assert client.pop() == [(b"x", b"company"), (b"x", b"parked")]
