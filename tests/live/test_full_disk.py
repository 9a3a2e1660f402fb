"""A real server on a real disk of a few megabytes that is filled to the last byte, and emptied again."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.server import Server, serving
from penstock.journal.disk import OsDisk
from penstock.journal.segment import segment_numbers
from tests.history.histories import journal_of, lives
from tests.history.test_process import Running, archived
from tests.live.lines import Lines
from tests.live.small_disk import fill, small_disk
from tests.live.test_archive import eventually

FLAGS = (
    *("--limits-segment-bytes", "262144", "--journal-snapshot-bytes", "262144"),
    *("--archive-seal-s", "1", "--confirm", "write"),
)
RESUMES_S = 5.0


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "small") as place:
        yield place


def room(server: Server) -> dict[str, Any]:
    found: dict[str, Any] = server.get("/api/v1/status")["room"]
    return found


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


def assert_resumes(server: Server, client: Lines) -> None:
    """The log is not on the disk that is full, and tells why it does not."""
    until = time.monotonic() + RESUMES_S
    while client.ask(b"ADD 0 again") == b"queue full":
        assert time.monotonic() < until, f"{server.get('/api/v1/status')}\n{server.log()}"
        time.sleep(0.05)


def test_a_server_that_fills_its_disk_refuses_and_resumes(small: Path, tmp_path: Path) -> None:
    with serving(small / "data", *FLAGS, log=tmp_path / "log") as server, Lines(server.port) as client:
        ids = publish_until_refused(client)
        assert len(ids) > 500
        assert '"lacks":"disk"' in server.log()
        finish_all(client, len(ids))
        assert_resumes(server, client)
        assert server.process.poll() is None


def test_where_others_fill_the_disk_all_that_lives_can_end_and_publishing_resumes_soon(
    small: Path, tmp_path: Path
) -> None:
    with serving(small / "data", *FLAGS, log=tmp_path / "log") as server, Lines(server.port) as client:
        ids = [client.publish(b"y" * 300) for _ in range(1_000)]
        other = fill(small)
        eventually(lambda: room(server)["refusing"] == "disk")
        assert client.ask(b"ADD 0 more") == b"queue full"
        assert client.ask(b"RETURN " + client.ask(b"RESERVE").split(b" ")[1] + b" 0") == b"ok"
        finish_all(client, len(ids))
        assert client.ask(b"RESERVE") == b"nil"
        other.unlink()
        assert_resumes(server, client)
        assert server.stop() == 0
    with serving(small / "data", *FLAGS) as server:
        assert server.get("/api/v1/queues/default")["counts"]["ready"] == 1


def test_an_archivist_that_is_far_behind_makes_room_segment_by_segment(small: Path) -> None:
    """The archive takes as much as the journal does, and both do not fit beside each other."""
    made = journal_of(lives(40, body=random.Random(1).randbytes(140_000)), 256 << 10)
    (small / "journal").mkdir()
    for name, content in made.contents().items():
        (small / "journal" / name).write_bytes(content)
    below = segment_numbers(made)[-1] + 1
    with Running(small) as running:
        running.tell(below, pressed=1)
        eventually(lambda: segment_numbers(OsDisk(str(small / "journal"))) == [])
    assert len(archived(small)) == 1 + 3 * 40
