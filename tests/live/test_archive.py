"""A real server and its archivist: what happened is in the archive soon, whole, whoever of them is killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.server import Server, serving
from penstock.dialects.table import NAMES
from penstock.journal.disk import OsDisk
from tests.history.histories import told_by
from tests.history.test_process import archived, is_alive
from tests.live.lines import Lines

SOON = ("--archive-seal-s", "0.5", "--limits-segment-bytes", "65536", "--confirm", "write")
PATIENCE_S = 60.0


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def status(server: Server) -> dict[str, Any]:
    found: dict[str, Any] = server.get("/api/v1/status")["archive"]
    return found


def is_current(server: Server) -> bool:
    return bool(status(server)["behind_facts"] == 0)


def assert_whole(data: Path) -> None:
    """The archive says of every fact up to its last what the journal says."""
    rows = archived(data)
    assert rows == told_by(OsDisk(str(data / "journal")), NAMES)[: len(rows)]


def test_what_happened_is_in_the_archive_soon(data: Path) -> None:
    with serving(data, *SOON) as server, Lines(server.port) as client:
        ids = [client.publish(b"body %d" % number) for number in range(20)]
        eventually(lambda: is_current(server))
        published = [row for row in archived(data) if row["fact"] == "published"]
        assert [row["body"] for row in published] == [b"body %d" % number for number in range(20)]
        assert {(row["queue"], row["dialect"]) for row in published} == {("default", "deferred")}
        assert len(ids) == 20
        assert_whole(data)
    assert len(archived(data)) == len(told_by(OsDisk(str(data / "journal")), NAMES))


def test_neither_a_killed_archivist_nor_a_killed_server_loses_or_repeats_anything(data: Path) -> None:
    with serving(data, *SOON) as server, Lines(server.port) as client:
        for turn in range(3):
            for number in range(50):
                client.publish(b"x" * 400 + b"%d %d" % (turn, number))
            eventually(lambda: isinstance(status(server)["pid"], int))
            os.kill(status(server)["pid"], signal.SIGKILL)
            assert client.publish(b"still served")
        server.kill()
        server.wait()
    with serving(data, *SOON) as server:
        eventually(lambda: is_current(server))
        pid = status(server)["pid"]
        assert_whole(data)
        server.kill()
        server.wait()
        eventually(lambda: not is_alive(pid))
    assert len([row for row in archived(data) if row["fact"] == "published"]) == 153


def test_switched_off_there_is_no_archive(data: Path) -> None:
    with serving(data, *SOON, "--no-archive-enabled") as server, Lines(server.port) as client:
        client.publish(b"unremembered")
        assert status(server)["enabled"] is False
    assert not (data / "archive").exists()
