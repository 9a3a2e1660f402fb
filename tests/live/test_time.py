"""A real server around which time goes wrong, with clients of all dialects on its sockets: the short version of
`python -m torture time`. Nothing is early, nothing is lost, and nothing counts as a failure that is none."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from harness.clocks import Clocks
from harness.server import Server, serving
from penstock.cli.resp_client import RespClient
from penstock.dialects.table import NAMES
from penstock.journal.disk import OsDisk
from tests.history.histories import told_by
from tests.live.lines import Lines
from tests.live.texts import Texts
from torture.timing import campaign
from torture.timing.waits import LEFT, polled

DAY_S = 86_400.0
STANDS_S = {"set clock": 0.0, "stopped process": 5.5, "sleeping machine": 1_000.0}  # longer than any lease is
LISTEN = ("deferred", "etzel", "rsmq")
WATCHED = ("--dialect-deferred-stuck-timeout-s", "60", "--dialect-deferred-stuck-attempts", "0", "--confirm", "write")


@pytest.mark.parametrize("kind", campaign.KINDS)
def test_whatever_happens_to_time_every_client_has_what_it_waits_for_and_keeps_what_it_holds(kind: str) -> None:
    outcome = campaign.campaign(kind, STANDS_S[kind])
    assert outcome.broken == ()
    assert outcome.failed == LEFT


def server_time_s(server: Server) -> float:
    with RespClient(f"redis://127.0.0.1:{server.ports['rsmq']}") as client:
        seconds, micros = client.call("TIME")
        return int(seconds) + int(micros) / 1e6


def test_restarts_under_another_wall_clock_neither_go_back_nor_fail_a_lease(data: Path, tmp_path: Path) -> None:
    clocks = Clocks(tmp_path / "clocks")
    with serving(data, *WATCHED, listen=LISTEN, program=clocks.program) as server:
        with Lines(server.ports["deferred"]) as client, Texts(server.ports["etzel"]) as texts:
            held = client.publish(b"held")
            client.ask(b"RESERVE")
            texts.ask("PUB", msg="held too", timeout=5)
            uid = texts.ask("FET")["uid"]
            published_s = time.monotonic()
            later = client.publish(b"later", delay_ms=1_000)
        before_s = server_time_s(server)
        server.kill()
    clocks.jump(-10 * DAY_S)
    with serving(data, *WATCHED, listen=LISTEN, program=clocks.program) as server:
        assert 0 <= server_time_s(server) - before_s < 60
        with Lines(server.ports["deferred"]) as client:
            assert polled(lambda: client.ask(b"RESERVE").removeprefix(b"nil")) == b"TASK %b BODY later" % later
            assert time.monotonic() - published_s > 1.0
        server.kill()
    clocks.jump(20 * DAY_S)
    with serving(data, *WATCHED, listen=LISTEN, program=clocks.program) as server:
        assert 0 <= server_time_s(server) - before_s - 10 * DAY_S < 60
        with Lines(server.ports["deferred"]) as client, Texts(server.ports["etzel"]) as texts:
            assert [client.ask(b"DELETE " + id) for id in (held, later)] == [b"ok", b"ok"]
            assert texts.ask("FET")["cmd"] == "nomsg"
            assert texts.ask("ACK", uid=uid)["cmd"] == "okack"
            assert client.publish(b"new") not in (held, later)
        counts = server.get("/api/v1/status")["counts"]
        assert (counts["failed"], counts["finished"]) == (0, 3)
    times_us = [row["at_us"] for row in told_by(OsDisk(str(data / "journal")), NAMES)]
    assert times_us == sorted(times_us)
