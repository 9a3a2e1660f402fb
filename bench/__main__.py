"""`python -m bench`: every row of the table, peers and penstock interleaved in shuffled order, ratios with spread."""

from __future__ import annotations

import argparse
import json
import platform
import random
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from bench import peers


@dataclass
class Row:
    """One comparison: how both are started, and the load."""

    durability: str
    peer: str
    start_peer: Callable[[], AbstractContextManager[peers.Running]]
    connections: int
    in_flight: int
    results: dict[str, list[dict[str, float]]] = field(default_factory=lambda: {"penstock": [], "peer": []})

    def name(self) -> str:
        return f"{self.durability:5} {self.peer:20} {self.connections:3} x {self.in_flight}"


SHAPES = ((1, 1), (50, 1), (4, 100))
DURABILITIES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("ready", "beanstalkd", ()),
    ("write", "beanstalkd -b -f50", ("-f50",)),
    ("sync", "beanstalkd -b -f0", ("-f0",)),
)


def rows() -> list[Row]:
    return [
        Row(confirm, peer, lambda flags=flags: peers.beanstalkd(*flags), connections, in_flight)  # type: ignore[misc]
        for confirm, peer, flags in DURABILITIES
        for connections, in_flight in SHAPES
    ]


def measure(row: Row, side: str, seconds: float) -> None:
    """One round of one side, on a fresh server."""
    start = (lambda: peers.penstock(row.durability)) if side == "penstock" else row.start_peer
    name = "penstock" if side == "penstock" else row.peer.split()[0]
    with start() as server:
        before = server.cpu_seconds()
        load = [name, str(server.port), str(row.connections), str(row.in_flight), str(seconds)]
        command = [sys.executable, "-m", "bench.load", *load]
        result: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        result["server_us"] = (server.cpu_seconds() - before) / (result["ops"] * 1.1) * 1e6
    row.results[side].append(result)


def summary(row: Row) -> str:
    ours = [result["rate"] for result in row.results["penstock"]]
    theirs = [result["rate"] for result in row.results["peer"]]
    ratios = sorted(one / other for one, other in zip(ours, theirs, strict=True))
    cpu = statistics.median(result["server_us"] for result in row.results["penstock"])
    peer_cpu = statistics.median(result["server_us"] for result in row.results["peer"])
    load = max(result["load_cpu"] for results in row.results.values() for result in results)
    return (
        f"{row.name()}  penstock {statistics.median(ours):9,.0f}/s  peer {statistics.median(theirs):9,.0f}/s  "
        f"ratio {statistics.median(ratios):5.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})  "
        f"server CPU {cpu:5.2f} against {peer_cpu:5.2f} us/op  load {load:4.0%}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each row (median is told)")
    parser.add_argument("--seconds", type=float, default=3.0, help="length of one round")
    parser.add_argument("--only", default="", help="rows whose name holds this text, e.g. 'write' or '4 x 100'")
    asked = parser.parse_args()
    if shutil.which("beanstalkd") is None:
        print("bench: beanstalkd is not installed (Debian: apt-get install beanstalkd)", file=sys.stderr)
        return 2
    table = [row for row in rows() if asked.only in row.name()]
    print(f"{platform.machine()}, Python {platform.python_version()}, {asked.rounds} rounds of {asked.seconds} s")
    for row in table:
        for _ in range(asked.rounds):
            for side in random.sample(["penstock", "peer"], 2):
                measure(row, side, asked.seconds)
        print(summary(row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
