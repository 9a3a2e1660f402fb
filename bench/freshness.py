"""How soon a fact is in gold: a server with its defaults, `penstock pipeline run --every 30s` beside it, and somebody
who publishes now and then and looks when each message is in the tables that count."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from harness.server import Server, serving
from penstock.pipeline.lake import Lake
from penstock.sync import Client

EVERY: Final = "30s"
QUEUE: Final = "q"
_STEP_S: Final = 0.25


def waits(place: Path, seconds: float) -> list[float]:
    """How long each message waited, over so long, once the first batch is there."""
    with serving(place / "data", listen=("glovebox",)) as server, _publisher(server) as client:
        client.publish(QUEUE, b"to begin with")
        with _going_on(place / "data") as job:
            assert job.stdout is not None
            job.stdout.readline()
            return list(_watched(server, client, Lake(place / "data" / "lake"), time.monotonic() + seconds))


def _watched(server: Server, client: Client, lake: Lake, end: float) -> Iterator[float]:
    waiting: list[tuple[int, float]] = []
    while time.monotonic() < end:
        client.publish(QUEUE, b"news")
        waiting.append((server.get("/api/v1/status")["journal"]["next_fact"] - 1, time.monotonic()))
        time.sleep(_STEP_S)
        last, now = lake.manifest().last_fact(), time.monotonic()
        yield from [now - happened for fact, happened in waiting if fact <= last]
        waiting = [one for one in waiting if one[0] > last]


@contextmanager
def _publisher(server: Server) -> Iterator[Client]:
    with Client(f"ws://127.0.0.1:{server.ports['glovebox']}") as client:
        client.create(QUEUE)
        yield client


@contextmanager
def _going_on(data: Path) -> Iterator[subprocess.Popen[str]]:
    words = ["pipeline", "run", "--data", str(data), "--every", EVERY, "--output", "json"]
    command = [sys.executable, "-m", "penstock.cli.main", *words]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as job:
        try:
            yield job
        finally:
            job.terminate()
