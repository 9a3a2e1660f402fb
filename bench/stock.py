"""Stock RSMQ from npm, unmodified, on penstock and on the Redis it takes the place of. Most of it is node's time."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
from pathlib import Path
from typing import Final

from bench import servers
from bench.rounds import Bench, fresh
from bench.servers import Start
from bench.tables import Table, at_least, spread
from harness import node

NAME: Final = "stock"
HEADS: Final = ("npm's rsmq, write", "penstock /s", "Redis, AOF everysec /s", "ratio", "spread", "at least", "verdict")
SCRIPT: Final = Path(__file__).with_name("stock.js")
LANES: Final = (1, 50)
SIDES: Final[dict[str, Start]] = {
    "penstock": servers.penstock("write", "rsmq"),
    "redis": servers.redis("--appendonly", "yes", "--appendfsync", "everysec"),
}


def measure(bench: Bench, rounds: int) -> Table:
    told = [_line(lanes, [_round(bench, lanes) for _ in range(rounds)]) for lanes in LANES]
    return Table(NAME, HEADS, told, [cells[-1] for cells in told])


def _round(bench: Bench, lanes: int) -> dict[str, float]:
    return {side: _rate(bench, SIDES[side], lanes) for side in random.sample(list(SIDES), len(SIDES))}


def _rate(bench: Bench, start: Start, lanes: int) -> float:
    with fresh(bench.directory) as place, start(place) as server:
        words = node.command(SCRIPT, server.port, lanes, bench.seconds)
        told = subprocess.run(words, env=node.environment(), stdout=subprocess.PIPE, check=True).stdout
        rate: float = json.loads(told)["rate"]
        return rate


def _line(lanes: int, rounds: list[dict[str, float]]) -> list[str]:
    ratios = [rates["penstock"] / rates["redis"] for rates in rounds]
    ratio = statistics.median(ratios)
    rates = [f"{statistics.median(rates[side] for rates in rounds):,.0f}" for side in SIDES]
    return [f"{lanes} at once", *rates, f"{ratio:.2f}", spread(ratios, ".2f"), "1", at_least(ratio, 1, 1)]
