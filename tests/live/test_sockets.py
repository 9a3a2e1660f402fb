"""The dialect `deferred` over real sockets: pipelining, cuts, half close, slow readers, many connections."""

from __future__ import annotations

import contextlib
import socket
import time

from harness.server import Server
from tests.live.lines import Lines

OUTPUT_CAP = 8 << 20


def empty(server: Server) -> None:
    """Whatever an earlier test left behind goes."""
    with Lines(server.port) as client:
        while (answer := client.ask(b"RESERVE")) != b"nil":
            client.ask(b"DELETE " + answer.split(b" ")[1])


def test_any_number_of_requests_in_one_segment_are_answered_in_order(server: Server) -> None:
    with Lines(server.port) as client:
        client.send(b"".join(b"ADD 0 body %d\n" % number for number in range(500)) + b"RESERVE\n" * 500)
        published = [line.split(b" ")[1] for line in client.lines(500)]
        reserved = [line.split(b" ", 3) for line in client.lines(500)]
        assert [row[1] for row in reserved] == published
        assert [row[3] for row in reserved] == [b"body %d" % number for number in range(500)]
        client.send(b"".join(b"DELETE %s\n" % id for id in published))
        assert client.lines(500) == [b"ok"] * 500


def test_a_request_may_arrive_one_byte_at_a_time(server: Server) -> None:
    with Lines(server.port) as client:
        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in b"ADD 0 slowly\nRESERVE\n":
            client.send(bytes((byte,)))
            time.sleep(0.001)
        id = client.line().split(b" ")[1]
        assert client.line() == b"TASK %s BODY slowly" % id
        assert client.ask(b"DELETE " + id) == b"ok"


def test_after_a_half_close_everything_asked_is_answered_and_then_the_server_closes(server: Server) -> None:
    with Lines(server.port) as client:
        client.send(b"".join(b"ADD 0 %d\n" % number for number in range(1_000)) + b"ADD 0 this line has no end")
        client.half_close()
        assert all(line.startswith(b"TASK ") for line in client.lines(1_000))
        assert client.line() == b""
    with Lines(server.port) as other:
        assert other.ask(b"STATS").startswith(b"TASKS 1000 RESERVED 0 ")
    empty(server)


def test_a_connection_cut_in_the_middle_of_a_request_changes_nothing(server: Server) -> None:
    for cut in (b"ADD 0 half", b"ADD 0", b"A", b"RESERV"):
        client = Lines(server.port)
        client.send(cut)
        client.close()
    with Lines(server.port) as other:
        assert other.ask(b"STATS").startswith(b"TASKS 0 RESERVED 0 ")


def test_a_closed_connection_releases_nothing(server: Server) -> None:
    with Lines(server.port) as client:
        id = client.publish(b"held")
        assert client.ask(b"RESERVE") == b"TASK %s BODY held" % id
    with Lines(server.port) as other:
        assert other.ask(b"RESERVE") == b"nil"
        assert other.ask(b"DELETE " + id) == b"ok"


def test_a_line_without_end_is_refused_and_the_connection_closed(server: Server) -> None:
    with Lines(server.port) as client:
        with contextlib.suppress(ConnectionError):
            for _ in range(40):
                client.send(b"x" * 65_536)
        with contextlib.suppress(ConnectionError):
            assert client.line() == b""
    with Lines(server.port) as other:
        assert other.ask(b"RESERVE") == b"nil"


def test_a_fast_reader_gets_more_than_the_output_cap_through_one_segment(server: Server) -> None:
    """What is under way is bounded, so a long pipeline of large answers is held back, not cut."""
    body = b"y" * 1_000_000
    with Lines(server.port) as client:
        for _ in range(20):
            assert client.publish(body)
        client.send(b"RESERVE\n" * 20)
        answers = client.lines(20)
        assert sum(map(len, answers)) > 2 * OUTPUT_CAP
        assert all(answer.endswith(body) for answer in answers)
        for answer in answers:
            assert client.ask(b"DELETE " + answer.split(b" ")[1]) == b"ok"


def test_a_client_that_never_reads_is_cut_at_the_cap_and_the_others_do_not_notice(server: Server) -> None:
    body = b"z" * 100_000
    with Lines(server.port) as other, Lines(server.port, receive_buffer=4_096) as slow:
        id = other.publish(body)
        slow.socket.settimeout(0.5)
        start = time.monotonic()
        cut = False
        while not cut and time.monotonic() - start < 30:
            try:
                slow.send(b"RESERVE\nRETURN %s 0\n" % id * 100)
            except TimeoutError:
                continue
            except OSError:
                cut = True
            assert other.ask(b"STATS").startswith(b"TASKS ")
        assert cut
        other.ask(b"RETURN %s 0" % id)  # whoever was cut may have held it
    empty(server)


def test_a_thousand_connections_at_once(server: Server) -> None:
    clients = [Lines(server.port) for _ in range(1_000)]
    try:
        for number, client in enumerate(clients):
            client.send(b"ADD 0 from %d\n" % number)
        ids = {client.line().split(b" ")[1] for client in clients}
        assert len(ids) == 1_000
        assert b" CONNECTIONS 1000 " in clients[0].ask(b"STATS")
        for client in clients:
            client.send(b"RESERVE\n")
        bodies = {client.line().split(b" ", 3)[3] for client in clients}
        assert bodies == {b"from %d" % number for number in range(1_000)}
    finally:
        for client in clients:
            client.close()
    with Lines(server.port) as last:
        for id in ids:
            assert last.ask(b"DELETE " + id) == b"ok"
