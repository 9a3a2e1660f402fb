"""A real server on a real disk of a few megabytes that is filled to the last byte, and emptied again.

Where the machine does not allow a file system to be mounted, these are skipped and say so; the same laws are held up on
a simulated disk in tests/server/test_room.py and tests/journal/test_journal.py.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.server import Server, serving
from tests.live.lines import Lines
from tests.live.test_archive import eventually

SIZE = 8 << 20
FLAGS = (
    *("--limits-segment-bytes", "262144", "--journal-snapshot-bytes", "262144"),
    *("--archive-seal-s", "1", "--confirm", "write"),
)
RESUMES_S = 5.0


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "small"
    place.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mount.returncode:
        pytest.skip("this machine does not allow a file system to be mounted: no real disk was filled")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def room(server: Server) -> dict[str, Any]:
    found: dict[str, Any] = server.get("/api/v1/status")["room"]
    return found


def fill(place: Path) -> Path:
    """Somebody else takes every byte that is left."""
    other = place / "other"
    with other.open("wb") as file:
        try:
            while True:
                file.write(bytes(65_536))
                file.flush()
        except OSError:
            pass
    return other


def publish_until_refused(client: Lines) -> list[bytes]:
    ids: list[bytes] = []
    while True:
        answer = client.ask(b"ADD 0 " + b"x" * 2_000)
        if answer == b"queue full":
            return ids
        ids.append(answer.split(b" ")[1])


def finish_all(client: Lines, count: int) -> None:
    for _ in range(count):
        assert client.ask(b"DELETE " + client.ask(b"RESERVE").split(b" ")[1]) == b"ok"


def test_a_server_that_fills_its_disk_refuses_and_resumes(small: Path) -> None:
    with serving(small / "data", *FLAGS) as server, Lines(server.port) as client:
        ids = publish_until_refused(client)
        assert len(ids) > 500
        assert room(server)["refusing"] == "disk"
        finish_all(client, len(ids))
        eventually(lambda: room(server)["refusing"] == "")
        assert client.publish(b"again")
        assert server.process.poll() is None


def test_where_others_fill_the_disk_all_that_lives_can_end_and_publishing_resumes_soon(small: Path) -> None:
    with serving(small / "data", *FLAGS) as server, Lines(server.port) as client:
        ids = [client.publish(b"y" * 300) for _ in range(1_000)]
        other = fill(small)
        eventually(lambda: room(server)["refusing"] == "disk")
        assert client.ask(b"ADD 0 more") == b"queue full"
        assert client.ask(b"RETURN " + client.ask(b"RESERVE").split(b" ")[1] + b" 0") == b"ok"
        finish_all(client, len(ids))
        assert client.ask(b"RESERVE") == b"nil"
        other.unlink()
        returned = time.monotonic()
        while client.ask(b"ADD 0 more") == b"queue full":
            assert time.monotonic() - returned < RESUMES_S
            time.sleep(0.05)
        assert server.stop() == 0
    with serving(small / "data", *FLAGS) as server:
        assert server.get("/api/v1/queues/default")["counts"]["ready"] == 1
