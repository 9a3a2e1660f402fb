"""What the archive costs: the archivist's time for a fact, and what is left of the server's throughput beside it."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench.rounds import Bench, fresh
from bench.rows import Shape
from bench.servers import Running
from bench.tables import Table, at_least, at_most, spread
from harness.server import serving
from penstock.history.process import Told

NAME: Final = "archiving"
HEADS: Final = ("figure", "measured", "spread", "limit", "verdict")
SHAPE: Final = Shape(4, 100)
FLAGS: Final = ("--confirm", "write")
SILENT: Final = ("--no-archive-enabled",)
BUSY: Final = ("--archive-seal-s", "1")
LONGER: Final = 4  # than other measurements: the archivist takes a second to start, and does so once


def measure(bench: Bench, rounds: int) -> Table:
    bench = replace(bench, seconds=LONGER * bench.seconds)
    shares, costs = [], []
    for _ in range(rounds):
        rates = {flags: _rate(bench, flags) for flags in random.sample((SILENT, BUSY), 2)}
        shares.append(rates[BUSY] / rates[SILENT])
        costs.append(_archivist_us(bench))
    value, share = statistics.median(costs), statistics.median(shares)
    told = [
        ["archivist's µs of processor a fact", f"{value:.2f}", spread(costs, ".2f"), "at most 1", at_most(value, 1, 1)],
        [
            f"throughput with ÷ without the archive, {SHAPE}",
            f"{share:.2f}",
            spread(shares, ".2f"),
            "at least 0.9",
            at_least(share, 0.9, 0.9),
        ],
    ]
    return Table(NAME, HEADS, told, [cells[-1] for cells in told])


def _rate(bench: Bench, flags: tuple[str, ...]) -> float:
    with fresh(bench.directory) as place, serving(place / "data", *FLAGS, *flags) as server:
        rate = bench.load("deferred", Running(server.pid, server.port), SHAPE)["rate"]
        server.kill()
    return rate


def _archivist_us(bench: Bench) -> float:
    """All that a load has left in a journal, archived by a process that does nothing else."""
    with fresh(bench.directory) as place:
        with serving(place / "data", *FLAGS, *SILENT) as server:
            bench.load("deferred", Running(server.pid, server.port), SHAPE)
            journal: dict[str, int] = server.get("/api/v1/status")["journal"]
        return _processor_s(place / "data", journal["segment"] + 1) * 1e6 / (journal["next_fact"] - 1)


def _processor_s(data: Path, sealed_below: int) -> float:
    """By its own clock, segment by segment: a server starts it once. Told of so much that lives that it makes no
    snapshot."""
    words = [sys.executable, "-m", "penstock.history", "--data", str(data)]
    told = b"%d %d %d %d %d\n" % Told(sealed_below, live_bytes=1 << 60, ahead_bytes=0, pressed=0, now_us=0)
    said = subprocess.run(words, input=told, stdout=subprocess.PIPE, check=True).stdout
    spent = [json.loads(line).get("cpu_seconds", 0.0) for line in said.splitlines()]
    if not any(spent):
        raise RuntimeError("the archivist has archived nothing")
    return float(sum(spent))
