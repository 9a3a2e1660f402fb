"""`etzel` for clients in JavaScript, on npm's `ws`: the protocol, the stock client's habits, and the example."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness.server import Server, serving
from tests.interop.nodes import FOLDER, PATIENCE_S, ROOT, Script, run

SCRIPTS = FOLDER / "etzel"
WORKER = SCRIPTS / "worker.js"
EXAMPLE = ROOT / "examples" / "etzel.js"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("interop") / "data", "--confirm", "write", listen=("etzel",)) as running:
        yield running


@pytest.fixture
def url(server: Server) -> str:
    return f"ws://127.0.0.1:{server.port}/connect"


def publish(url: str, queue: str, count: int, pace: str = "one by one", timeout: int = 60) -> None:
    run(SCRIPTS / "publisher.js", url, queue, count, pace, timeout)


def bodies(heard: list[dict[str, Any]]) -> list[str]:
    return [said["msg"] for said in heard if said["cmd"] == "msg"]


def expected(count: int) -> list[str]:
    return [f"message {number} ü€😀" for number in range(count)]


def words(heard: list[dict[str, Any]]) -> list[str]:
    return [said["cmd"] for said in heard]


def counts(server: Server, queue: str) -> dict[str, int]:
    rows = {row["name"]: row["counts"] for row in server.get("/api/v1/queues")["queues"]}
    return {name: count for name, count in rows[queue].items() if count}


def until(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s, "waited in vain"
        time.sleep(0.01)


def test_somebody_elses_websocket_finds_nothing_amiss(server: Server) -> None:
    assert len(run(SCRIPTS / "protocol.js", server.port).splitlines()) == 9


def test_a_stock_worker_sleeps_is_woken_and_gets_everything(server: Server, url: str) -> None:
    """Started before the queue is there, which must not make it stall."""
    with Script(WORKER, url, "stock") as worker:
        assert words(worker.until("okslp")) == ["oksub", "nomsg", "okslp"]
        publish(url, "stock", 1)
        assert words(worker.until("okslp")) == ["awk", "msg", "okack", "nomsg", "okslp"]
        publish(url, "stock", 50)
        heard: list[dict[str, Any]] = []
        while len(bodies(heard)) < 50:
            heard += worker.until("msg")
        heard += worker.until("okslp")
    assert bodies(heard) == expected(50)
    assert words(heard).count("awk") == words(heard).count("okslp")
    assert counts(server, "stock") == {"published": 51, "delivered": 51, "finished": 51}


def test_several_workers_share_a_burst_and_nothing_is_lost(server: Server, url: str) -> None:
    with (
        Script(WORKER, url, "burst") as one,
        Script(WORKER, url, "burst") as two,
        Script(WORKER, url, "burst") as three,
    ):
        workers = [one, two, three]
        for worker in workers:
            worker.until("okslp")
        publish(url, "burst", 300, "burst")
        until(lambda: counts(server, "burst") == {"published": 300, "delivered": 300, "finished": 300})
        heard = [said for worker in workers for said in worker.rest()]
    assert sorted(bodies(heard)) == sorted(expected(300))


def test_what_a_worker_that_died_had_fetched_another_gets_when_its_time_is_over(url: str) -> None:
    with Script(WORKER, url, "died", "no") as first:
        first.until("okslp")
        publish(url, "died", 1, timeout=5)
        assert first.until("msg")[-1]["error_count"] == 0
    with Script(WORKER, url, "died") as second:
        assert words(second.until("okslp")) == ["oksub", "nomsg", "okslp"]
        assert words(heard := second.until("okslp")) == ["awk", "msg", "okack", "nomsg", "okslp"]
        assert heard[1]["error_count"] == 1


def test_the_example_works_and_is_short(url: str) -> None:
    heard = run(EXAMPLE, url).splitlines()
    assert heard == ["oksub", "nomsg", "okslp", "awk", "msg", "working on hello", "okack"]
    assert len(EXAMPLE.read_text("utf-8").splitlines()) < 40
