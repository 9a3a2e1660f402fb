"""`penstock pipeline replay` and the server, killed at any moment: every message of the plan is there once, in order.

The plan is laid ready, so that no Spark is needed here; tests/pipeline makes one from an archive.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from harness.server import Server, serving
from penstock.pipeline.lake import Lake
from penstock.pipeline.plan import Bodiless, Chosen, Plan, Row, Said
from penstock.sync import Client
from tests.pipeline.test_plan import a_part

PATIENCE_S = 60.0
WHERE, TO = "outcome = 'dropped'", "orders"
BODIES = [b"", bytes(range(256)), *(b"%d" % number for number in range(998))]
STORE = "00112233445566778899aabbccddeeff"


def planned(root: Path, bodiless: list[Bodiless] | None = None) -> Path:
    """A lake with nothing but the plan."""
    lake = root / "lake"
    lake.mkdir()
    key = b"\xff"
    rows = [
        Row((3 + number) << 30, "q", "dropped", 1, number % 3, key if number % 5 else None, body)
        for number, body in enumerate(BODIES)
    ]
    chosen = Chosen(len(rows), sum(map(len, BODIES)), bodiless or [])
    part = a_part(root / "part.parquet", rows)
    Plan(Lake(lake), "again").keep(Said("again", WHERE, TO, STORE, 1, chosen), [part])
    return lake


def command(server: Server, lake: Path, *flags: str) -> list[str]:
    said = ["--where", WHERE, "--to", TO, "--id", "again", "--yes", "--output", "json", "--lake", str(lake)]
    url = f"ws://127.0.0.1:{server.ports['glovebox']}"
    return [sys.executable, "-m", "penstock.cli.main", "pipeline", "replay", "--url", url, *said, *flags]


def replayed(server: Server, lake: Path, *flags: str) -> tuple[int, dict[str, Any]]:
    asked = command(server, lake, *flags)
    done = subprocess.run(asked, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    return done.returncode, json.loads(done.stdout) if done.stdout else {"error": done.stderr}


def declared(server: Server) -> None:
    with client_of(server) as client:
        client.create(TO)


def client_of(server: Server) -> Client:
    return Client(f"ws://127.0.0.1:{server.ports['glovebox']}")


def published(server: Server) -> int:
    with client_of(server) as client:
        client.create(TO)
    return int(server.get(f"/api/v1/queues/{TO}")["counts"]["published"])


def bodies_in(server: Server) -> list[bytes]:
    found: list[bytes] = []
    with client_of(server) as client:
        while messages := client.reserve(TO, max=1_000, lease=600):
            found += [message.body for message in messages]
    return found


def by_priority() -> list[bytes]:
    """As they are handed out: the higher priority first, then as they were published."""
    return [body for priority in (2, 1, 0) for body in BODIES[priority::3]]


def test_every_message_is_published_once_and_a_repeat_publishes_none(tmp_path: Path) -> None:
    lake = planned(tmp_path)
    with serving(tmp_path / "data", listen=("glovebox",)) as server:
        declared(server)
        code, told = replayed(server, lake)
        assert (code, told["published"], told["before"], told["messages"]) == (0, len(BODIES), 0, len(BODIES))
        server.stop()
    with serving(tmp_path / "data", listen=("glovebox",)) as server:
        code, told = replayed(server, lake)
        assert (code, told["published"], told["before"]) == (0, 0, len(BODIES))
        assert bodies_in(server) == by_priority()


@pytest.mark.parametrize("seed", range(3))
def test_a_replay_that_is_killed_goes_on_where_it_was(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    lake = planned(tmp_path)
    with serving(tmp_path / "data", listen=("glovebox",)) as server:
        declared(server)
        for part in sorted(dice.sample(range(1, len(BODIES)), 4)):
            kill_at(server, subprocess.Popen(command(server, lake, "--rate", "2000/s")), part)
        code, told = replayed(server, lake)
        assert (code, told["published"] + told["before"]) == (0, len(BODIES))
        assert told["before"] > 0
        assert bodies_in(server) == by_priority()


def kill_at(server: Server, process: subprocess.Popen[bytes], messages: int) -> None:
    """Once so many are there, or it has ended."""
    deadline = time.monotonic() + PATIENCE_S
    while process.poll() is None and published(server) < messages:
        assert time.monotonic() < deadline, "the replay does not come on"
    if process.poll() is None:
        os.kill(process.pid, signal.SIGKILL)
    process.wait(PATIENCE_S)


def test_a_server_that_is_killed_has_the_replay_go_on_by_itself(tmp_path: Path) -> None:
    lake = planned(tmp_path)
    door = ("--listen", f"glovebox=127.0.0.1:{free_port()}")
    with serving(tmp_path / "data", *door, listen=()) as server:
        declared(server)
        process = subprocess.Popen(command(server, lake, "--rate", "1000/s"), stdout=subprocess.PIPE)
        kill_server_at(server, process, 200)
    with serving(tmp_path / "data", *door, listen=()) as server:
        kill_server_at(server, process, 600)
    with serving(tmp_path / "data", *door, listen=()) as server:
        out, _ = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, json.loads(out)["published"]) == (0, len(BODIES))
        assert bodies_in(server) == by_priority()


def kill_server_at(server: Server, process: subprocess.Popen[bytes], messages: int) -> None:
    while published(server) < messages:
        assert process.poll() is None
    server.kill()
    server.wait()


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    lake = planned(tmp_path, [Bodiless("mails", 7, before=False)])
    before = sorted(lake.rglob("*"))
    with serving(tmp_path / "data", listen=("glovebox",)) as server:
        code, told = replayed(server, lake, "--dry-run")
        assert (code, told["dry_run"], told["messages"], told["published"]) == (1, True, len(BODIES), 0)
        assert told["without_body"] == [{"queue": "mails", "messages": 7, "before_archive": False}]
        assert [len(told["sample"]), told["sample"][0]["body"]] == [5, ""]
        assert server.get("/api/v1/queues")["queues"] == []
    assert sorted(lake.rglob("*")) == before


def test_it_says_what_stops_it(tmp_path: Path) -> None:
    lake = planned(tmp_path)
    with serving(tmp_path / "data", listen=("glovebox",)) as server:
        code, told = replayed(server, lake)
        assert (code, "there is no queue orders" in told["error"]) == (1, True)
        code, told = replayed(server, lake, "--to", "other")
        assert (code, "is another one" in told["error"]) == (2, True)
        with client_of(server) as client:
            client.create(TO)
        server.stop()
    policy = tmp_path / "full.toml"
    policy.write_text(f'[[policy]]\nmatch = "{TO}"\nmax_length = 450\n')
    with serving(tmp_path / "data", "--config", str(policy), listen=("glovebox",)) as server:
        code, told = replayed(server, lake)
        assert (code, "400 of 1,000 messages are published" in told["error"]) == (1, True)
