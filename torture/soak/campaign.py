"""An hour of mixed traffic in all dialects at a steady, moderate rate: memory, latency and disk are flat, no law of the
clients' history is broken, and everything can be worked off in the end."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from harness.server import Server, serving
from penstock.dialects.table import DIALECTS
from torture.crowd.clients import drain
from torture.crowd.history import TABLES, History
from torture.kill import Queues, settled
from torture.soak import scenes
from torture.soak.flatness import Row, judge
from torture.soak.gauges import Gauges
from torture.soak.probe import probing
from torture.soak.scenes import Players
from torture.soak.steady import Pace, Passing, Steady

NAMES = tuple(row.name for row in DIALECTS)
ENDS = ("finished", "dropped", "expired", "deleted")
LIVE = ("delayed", "ready", "parked", "leased")
LOOK_S = 1.0  # so often what grows and goes quickly is looked at


@dataclass(frozen=True)
class Plan:
    """How long, in what steps, and how small the journal is, so that it is folded often."""

    seconds: float = 3_600.0
    row_s: float = 60.0
    segment_bytes: int = 4 << 20
    snapshot_bytes: int = 32 << 20
    seal_s: float = 10.0
    pace: Pace = field(default_factory=Pace)

    def flags(self, config: Path) -> list[str]:
        config.write_text(f'[[policy]]\nmatch = "default"\nlease_s = {self.pace.lease_s}\n' + scenes.POLICY)
        said = {
            "--config": config,
            "--confirm": "write",
            "--limits-segment-bytes": self.segment_bytes,
            "--journal-snapshot-bytes": self.snapshot_bytes,
            "--archive-seal-s": self.seal_s,
            "--archive-keep-days": 1,
        }
        return [str(word) for option in said.items() for word in option]


@dataclass
class Outcome:
    rows: list[Row] = field(default_factory=list)
    turns: int = 0
    played: int = 0  # scenes
    answers: int = 0
    broken: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()


class Totals(Protocol):
    """Says how the tables of a directory differ, in sum, from what its server counted and its clients were told."""

    def totals(self, data: Path, history: History, queues: Queues) -> list[str]: ...


Progress = Callable[[Row], None]


def campaign(plan: Plan, seed: int, tables: Totals | None = None, progress: Progress = lambda row: None) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="penstock-soak-") as directory:
        data = Path(directory, "data")
        flags = plan.flags(Path(directory, "penstock.toml"))
        with serving(data, *flags, listen=NAMES) as server:
            return on_server(server, plan, seed, tables, progress)


def on_server(server: Server, plan: Plan, seed: int, tables: Totals | None, progress: Progress) -> Outcome:
    history = Passing(plan.pace.lease_s, finals=True)
    steady = Steady(server.ports, history, random.Random(seed), plan.pace)
    players = Players(server.ports, seed)
    rows = [*watched(server, plan, steady, players, progress)]
    players.stop()
    steady.end()
    history.drained(drain(server.ports["deferred"], history, patience_s=3 * plan.pace.lease_s + 30))
    verdict = judge(rows)
    broken = (*history.broken, *players.broken, *ledger(server), *verdict.broken, *ended(server, history, tables))
    return Outcome(rows, steady.turns, players.played.total(), history.answers, broken, verdict.doubtful)


def watched(server: Server, plan: Plan, steady: Steady, players: Players, progress: Progress) -> Iterator[Row]:
    """A row for each part of the time, until it is over or a law is broken."""
    end_s = time.monotonic() + plan.seconds
    with probing(server.ports["pinpriq"]) as probe:
        gauges = Gauges(server, probe, plan.snapshot_bytes)
        while time.monotonic() < end_s and not steady.history.broken and not players.broken:
            row_s = min(time.monotonic() + plan.row_s, end_s)
            while (now_s := time.monotonic()) < row_s and not steady.history.broken:
                steady.run(min(now_s + LOOK_S, row_s))
                gauges.look()
            row = gauges.read()
            progress(row)
            yield row


def ended(server: Server, history: History, tables: Totals | None) -> Iterator[str]:
    """What is wrong with its end, and with the tables of all that it did."""
    queues = settled(server)
    if server.stop() != 0:
        yield "the server did not stop cleanly"
    elif tables is not None:
        yield from (f"{TABLES}: {words}" for words in tables.totals(server.data, history, queues))


def ledger(server: Server) -> list[str]:
    """Every message has come to one end, and none is left."""
    status = server.get("/api/v1/status")
    counts = status["counts"]
    left = sum(counts[name] for name in LIVE)
    ended = sum(counts[name] for name in ENDS)
    broken = [] if left == 0 else [f"{left} messages are left: {counts}"]
    if counts["published"] != ended + left:
        broken.append(f"the ledger is off: {counts}")
    failed = {row["name"]: row["failed"] for row in status["listeners"] if row["failed"]}
    return broken + ([f"connections failed: {failed}"] if failed else [])
