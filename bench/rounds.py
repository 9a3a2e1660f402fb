"""The rounds: every system that the rows need, measured once a round on a fresh server, all in shuffled order.

Systems that are compared stand in one group, so that a slow minute of the machine meets both sides of a ratio.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.rows import Row, Shape, System
from bench.servers import Running

Result = dict[str, float]
Results = dict[tuple[System, Shape], list[Result]]

WARM_SHARE: Final = 0.3  # of a measurement, before it
_GENERATOR: Final = "import sys; from bench.load import main; main(sys.argv[1:])"


@dataclass(frozen=True)
class Bench:
    """Where the generator is, where servers keep their files, and how long a measurement takes."""

    directory: Path
    generator: Path
    seconds: float

    def measure(self, system: System, shape: Shape) -> Result:
        with fresh(self.directory) as place, system.start(place) as server:
            return self.load(system.tongue, server, shape)

    def load(self, tongue: str, server: Running, shape: Shape, queues: int = 1) -> Result:
        """What the generator tells of a running server."""
        words = {
            "tongue": tongue,
            "port": server.port,
            "pid": server.pid,
            "connections": shape.connections,
            "in_flight": shape.in_flight,
            "queues": queues,
            "warm_s": self.seconds * WARM_SHARE,
            "seconds": self.seconds,
        }
        command = [sys.executable, "-c", _GENERATOR, *(f"{name}={value}" for name, value in words.items())]
        told = subprocess.run(command, cwd=self.generator, stdout=subprocess.PIPE, check=True).stdout
        result: Result = json.loads(told)
        return result


def groups(rows: list[Row]) -> list[list[tuple[System, Shape]]]:
    """What must be measured, each once, by durability and shape."""
    wanted: dict[tuple[str, Shape], dict[tuple[System, Shape], None]] = {}
    for row in rows:
        group = wanted.setdefault((row.ours.durability, row.shape), {})
        group[row.ours, row.shape] = None
        group[row.peer, row.shape] = None
    return [list(group) for group in wanted.values()]


def one_round(bench: Bench, rows: list[Row], results: Results) -> None:
    """Adds one result for every system and shape."""
    wanted = groups(rows)
    for group in random.sample(wanted, len(wanted)):
        for system, shape in random.sample(group, len(group)):
            results.setdefault((system, shape), []).append(bench.measure(system, shape))


@contextlib.contextmanager
def fresh(under: Path) -> Iterator[Path]:
    """A directory for one server. Nothing of the one before is left to be written behind its back."""
    os.sync()
    directory = Path(tempfile.mkdtemp(dir=under))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)
