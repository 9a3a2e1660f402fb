"""A real server, its archivist, and the tables: what the server said is what the tables say, soon and ever after."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from harness.server import Server, serving
from penstock.cli.pipeline_ledger import counted
from penstock.pipeline.session import QUICK
from tests.live.lines import Lines
from tests.pipeline.house import House
from tests.pipeline.sparing import options

SOON = ("--archive-seal-s", "0.3", "--confirm", "write")
PATIENCE_S = 100.0
FRESH_S = 60.0

Said = tuple[int, dict[str, Any]]


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def shown(server: Server) -> Said:
    """What `penstock queue show` says, and when: nothing else happens meanwhile."""
    counts: dict[str, Any] = server.get("/api/v1/queues/default")["counts"]
    return server.get("/api/v1/status")["now_us"], counts


def some_life(client: Lines, server: Server) -> Iterator[Said]:
    """Different things happen; after each, what the server says."""
    for number in range(5):
        client.publish(b"now %d" % number)
    client.publish(b"later", delay_ms=600_000)
    yield shown(server)
    taken = [client.ask(b"RESERVE").split(b" ")[1] for _ in range(3)]
    yield shown(server)
    client.ask(b"DELETE " + taken[0])
    client.ask(b"RETURN " + taken[1] + b" 0")
    yield shown(server)
    for number in range(20):
        client.publish(b"more %d" % number)
    yield shown(server)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_the_past_is_what_the_server_said_then_and_totals_are_its_counters(spark: SparkSession, data: Path) -> None:
    house = House(spark, data)
    with serving(data, "--confirm", "write") as server, Lines(server.port) as client:
        said = list(some_life(client, server))
        (done,) = house.run(ledger=lambda taken: counted(str(data), taken))
    assert done.compared == 1
    assert len(said) == 4
    for at_us, counts in said:
        (found,) = house.rows("SELECT * FROM asof.queues WHERE queue = 'default'", at_us)
        assert {name: found[name] for name in counts} == counts


@contextmanager
def going_on(data: Path) -> Iterator[subprocess.Popen[str]]:
    words = ["pipeline", "run", "--data", str(data), "--every", "1s", "--memory", "1g", "--output", "json"]
    words += options(QUICK)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "penstock.cli.main", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as job:
        try:
            yield job
        finally:
            if job.poll() is None:
                job.terminate()


def test_a_fact_is_in_gold_soon_after_it_happened(spark: SparkSession, data: Path) -> None:
    house = House(spark, data)
    with serving(data, *SOON) as server, Lines(server.port) as client, going_on(data) as job:
        assert job.stdout is not None
        client.publish(b"to begin with")
        first = json.loads(job.stdout.readline())
        happened = time.monotonic()
        client.publish(b"news")
        last = server.get("/api/v1/status")["journal"]["next_fact"] - 1
        eventually(lambda: house.lake.manifest().last_fact() >= last)
        (found,) = house.rows("SELECT sum(published) AS published FROM gold.queue_minute WHERE queue = 'default'")
        assert time.monotonic() - happened < FRESH_S
        assert (first["batch"], found["published"]) == (1, 2)
        job.terminate()
        assert job.wait(PATIENCE_S) == 0
