"""A real server, its archivist and their kills: the journal stays small, and what lives is there after every one."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from harness.server import Server, serving
from penstock.journal.disk import OsDisk
from penstock.journal.segment import segment_numbers
from penstock.journal.snapshot import snapshot_numbers
from tests.history.test_process import archived
from tests.live.lines import Lines
from tests.live.test_archive import eventually, status

SMALL = ("--archive-seal-s", "0.3", "--limits-segment-bytes", "65536", "--journal-snapshot-bytes", "65536")
KILLS = 5


def disk(data: Path) -> OsDisk:
    return OsDisk(str(data / "journal"))


def snapshot(server: Server) -> dict[str, Any]:
    found: dict[str, Any] = server.get("/api/v1/status")["snapshot"]
    return found


def live(server: Server) -> int:
    queues = server.get("/api/v1/queues")["queues"]
    return sum(queue["counts"]["ready"] + queue["counts"]["delayed"] for queue in queues)


def come_and_go(client: Lines, times: int) -> None:
    for _ in range(times):
        client.publish(b"x" * 1_000)
        assert client.ask(b"DELETE " + client.ask(b"RESERVE").split(b" ")[1]) == b"ok"


def test_the_journal_follows_what_lives_and_the_archive_keeps_the_rest(data: Path) -> None:
    with serving(data, *SMALL, "--confirm", "write") as server, Lines(server.port) as client:
        kept = [client.publish(b"kept %d" % number, delay_ms=3_600_000) for number in range(5)]
        come_and_go(client, 400)
        eventually(lambda: snapshot(server)["segment"] and snapshot(server)["sealed_bytes"] < 200_000)
        assert len(kept) == live(server)
        assert len(snapshot_numbers(disk(data))) == 1
        assert segment_numbers(disk(data))[0] > 1
    facts = archived(data)
    assert [row["seq"] for row in facts] == [*range(1, len(facts) + 1)]
    assert len([row for row in facts if row["fact"] == "published"]) == 405
    with serving(data, *SMALL) as server:
        assert live(server) == 5
        assert '"snapshot":0' not in server.log().splitlines()[-1]


def test_neither_a_killed_archivist_nor_a_killed_server_loses_anything(data: Path) -> None:
    published = 0
    for turn in range(KILLS):
        with serving(data, *SMALL, "--confirm", "write") as server, Lines(server.port) as client:
            assert live(server) == published
            for _ in range(120):
                client.publish(b"y" * 900)
                published += 1
            eventually(lambda: isinstance(status(server)["pid"], int))
            if turn % 2:
                eventually(lambda: bool(snapshot(server)["segment"]))
                os.kill(status(server)["pid"], signal.SIGKILL)
            client.publish(b"still served")
            published += 1
            server.kill()
            server.wait()
    with serving(data, *SMALL) as server:
        assert live(server) == published
        eventually(lambda: bool(snapshot(server)["segment"]))


def test_without_an_archive_the_journal_stays_small_too(data: Path) -> None:
    flags = (*SMALL, "--no-archive-enabled", "--confirm", "write")
    with serving(data, *flags) as server, Lines(server.port) as client:
        come_and_go(client, 400)
        eventually(lambda: bool(snapshot(server)["segment"]) and len(segment_numbers(disk(data))) <= 3)
    assert not (data / "archive").exists()
