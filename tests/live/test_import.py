"""kill -9 in the middle of an import, of the command and of the server: run again, every message has come once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harness.server import Server, serving
from penstock.cli import etzel_file
from penstock.cli.remote import Remote
from penstock.codecs.etzel_store import Row
from tests.live.imports import Import, published, wait_until

COUNT = 8_000
QUEUES = (b"one", b"two-")
BODIES = [b"%d" % number for number in range(COUNT)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    half = COUNT // 2
    rows = [Row(QUEUES[number // half], b"uid_%010d" % number, 1, 60, 0, 0, body) for number, body in enumerate(BODIES)]
    etzel_file.write(str(tmp_path / "in.etzel"), rows, force=False)
    return tmp_path / "in.etzel"


def work_off(data: Path, queue: str, most: int) -> list[bytes]:
    """Reserves and finishes; the bodies that came."""
    remote = Remote(str(data))
    found: list[dict[str, Any]] = remote.post(f"/queues/{queue}/reserve", {"max": most, "lease_s": 600})["messages"]
    assert {message["deliveries"] for message in found} <= {2}
    for message in found:
        remote.post(f"/messages/{message['id']}/finish", {})
    return [message["body"].encode() for message in found]


def everything(data: Path) -> list[bytes]:
    found: list[bytes] = []
    for queue in ("one", "two-"):
        while came := _reserved(data, queue):
            found += came
    return found


def _reserved(data: Path, queue: str) -> list[bytes]:
    form = {"max": 1_000, "lease_s": 600}
    messages = Remote(str(data)).post(f"/queues/{queue}/reserve", form)["messages"]
    return [message["body"].encode() for message in messages]


def assert_each_came_once(bodies: list[bytes]) -> None:
    counts = Counter(bodies)
    assert [body for body, count in counts.items() if count > 1] == []
    assert sorted(counts) == sorted(BODIES)


def test_an_import_that_is_killed_again_and_again_is_completed(file: Path, data: Path) -> None:
    done: list[bytes] = []
    with serving(data, "--confirm", "write"):
        for turn in (1, 2):
            running = Import(data, "etzel", str(file))
            wait_until(lambda turn=turn: published(data) >= turn * COUNT // 5)  # type: ignore[misc]
            running.kill()
            assert published(data) < COUNT
            done += work_off(data, "one", 10)
        assert Import(data, "etzel", str(file)).wait() == 0
        assert published(data) == COUNT
        assert_each_came_once(done + everything(data))


def test_a_server_that_is_killed_under_an_import_gets_the_rest_afterwards(file: Path, data: Path) -> None:
    done: list[bytes] = []
    for turn in (1, 2):
        with serving(data, "--confirm", "write") as server:
            running = Import(data, "etzel", str(file))
            _kill_at(server, turn * COUNT // 5)
            assert running.wait() == 1
        with serving(data, "--confirm", "write"):
            assert published(data) < COUNT
            done += work_off(data, "one", 10)
    with serving(data, "--confirm", "write"):
        assert Import(data, "etzel", str(file)).wait() == 0
        assert published(data) == COUNT
        assert_each_came_once(done + everything(data))


def _kill_at(server: Server, count: int) -> None:
    wait_until(lambda: published(server.data) >= count)
    server.kill()
    server.wait()


def test_imports_side_by_side_double_nothing(file: Path, data: Path) -> None:
    with serving(data, "--confirm", "write"):
        together = [Import(data, "etzel", str(file)) for _ in range(3)]
        codes = [running.wait() for running in together]
        assert codes.count(0) >= 1
        assert set(codes) <= {0, 1}
        assert_each_came_once(everything(data))
