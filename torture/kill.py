"""kill -9 under load, again and again on one directory: nothing told is lost, nothing finished comes back, nothing is
delivered early or to two at once, and no id is given twice."""

from __future__ import annotations

import random
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.server import Server
from torture.clients import drain, drive
from torture.history import History
from torture.mix import SPEAKS, crowd

LEASE_S = 2
CYCLES_A_DIRECTORY = 20


@dataclass
class Outcome:
    cycles: int = 0
    answers: int = 0
    published: int = 0
    finished: int = 0
    posted: int = 0
    broken: tuple[str, ...] = ()

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.cycles + other.cycles,
            self.answers + other.answers,
            self.published + other.published,
            self.finished + other.finished,
            self.posted + other.posted,
            self.broken + other.broken,
        )


def campaign(
    cycles: int, seed: int, confirm: str = "write", progress: Callable[[Outcome], None] = lambda outcome: None
) -> Outcome:
    """A fresh directory every few cycles, so that the time goes into crashes and not into reading old history."""
    total = Outcome()
    while total.cycles < cycles and not total.broken:
        part = min(CYCLES_A_DIRECTORY, cycles - total.cycles)
        total += on_one_directory(part, seed + total.cycles, confirm)
        progress(total)
    return total


def on_one_directory(cycles: int, seed: int, confirm: str) -> Outcome:
    history = History(LEASE_S)
    with tempfile.TemporaryDirectory(prefix="penstock-torture-") as directory:
        data = Path(directory, "data")
        flags = _flags(Path(directory), confirm)
        for cycle in range(cycles):
            _one_cycle(data, flags, history, random.Random(seed * 1_000 + cycle), cycle)
            if history.broken:
                break
        server = Server(data, *flags)
        history.drained(drain(server.port, history, patience_s=30))
        if server.stop() != 0:
            history.broken.append("the last server did not stop cleanly")
    published = sum(life.published for life in history.lives.values())
    finished = sum(life.finished for life in history.lives.values())
    return Outcome(cycles, history.answers, published, finished, history.posts, tuple(history.broken))


def _one_cycle(data: Path, flags: list[str], history: History, chance: random.Random, cycle: int) -> None:
    server = Server(data, *flags, listen=SPEAKS)
    killer = threading.Timer(chance.uniform(0.02, 0.5), server.kill)
    clients = crowd(server.ports, history, chance, str(cycle))
    killer.start()
    drive(clients)
    killer.join()
    server.wait()


def _flags(directory: Path, confirm: str) -> list[str]:
    """Leases end by themselves, so that what a killed client held comes back."""
    config = directory / "penstock.toml"
    config.write_text(f"[dialect.deferred]\nstuck_timeout_s = {LEASE_S}\nstuck_attempts = 1000000\n")
    return ["--config", str(config), "--confirm", confirm]
