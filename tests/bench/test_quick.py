"""The whole bench once, short: real peers, a real server, every shape. What it measures is not looked at."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench import compiled
from bench.__main__ import arguments, chosen

ROOT = Path(__file__).parents[2]
NUMBER = r"[\d,]+"


def bench(*words: str) -> str:
    environment = {**os.environ, "PENSTOCK_COMPILE": "0"}
    command = [sys.executable, "-m", "bench", "--quick", "--report", *words]
    made = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return made.stdout


def test_deferred_and_pinpriq_stand_against_the_peers_that_are_installed() -> None:
    """beanstalkd and redis-server must be: `make test` installs them."""
    peers = ["beanstalkd", "RSMQ", "pinpriq", *(["NATS"] if shutil.which("nats-server") else [])]
    told = bench("--rows", "4 x 100", "--peers", ",".join(peers))
    for peer in peers:
        assert re.search(rf"{peer}.*  4 x 100 +{NUMBER} +{NUMBER} ", told), told


def test_the_websocket_dialects_stand_against_a_bare_echo_and_bincode_against_json() -> None:
    told = bench("--rows", "write", "--peers", "etzel,glovebox")
    for pair in ("etzel ÷ picows echo", "glovebox ÷ picows echo", "glovebox bincode ÷ glovebox"):
        for shape in ("1 x 1", "50 x 1", "4 x 100"):
            assert re.search(rf"{pair} +{shape} +{NUMBER} +{NUMBER} ", told), told


def test_stock_rsmq_stands_on_penstock_and_on_redis() -> None:
    told = bench("stock")
    for lanes in ("1 at once", "50 at once"):
        assert re.search(rf"{lanes} +{NUMBER} +{NUMBER} ", told), told


def test_a_backlog_is_weighed_and_loaded() -> None:
    told = bench("backlog")
    for title in ("resident MB", "kill -9", "clean stop", "ready messages", "delayed messages", "queues, all used"):
        assert title in told
    for figure in ("seconds to ready after kill -9", "seconds to ready after a clean stop", "MB of the journal"):
        assert f"after 100,000 facts: {figure}" in told


def test_the_archive_and_the_pipeline_are_measured() -> None:
    """Spark and DuckDB must agree on what they made, or it fails."""
    told = bench("archiving", "pipeline")
    for title in (
        "µs of processor a fact",
        "with ÷ without the archive",
        "Spark ÷ DuckDB",
        "time a fact",
        "resident MB of",
    ):
        assert title in told


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_generator_compiles() -> None:
    assert compiled.place() != ROOT


def test_rows_and_peers_are_picked_by_words() -> None:
    picked = [str(row) for row in chosen(arguments(["--rows", "50 x 1", "--peers", "beanstalkd"]))]
    assert picked == [
        "ready beanstalkd 50 x 1",
        "write beanstalkd -b -f50 50 x 1",
        "sync beanstalkd -b -f0 50 x 1",
    ]
    assert chosen(arguments(["backlog"])) == []
