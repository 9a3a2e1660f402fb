"""What a long past costs: as many messages live as in the backlog, but far more have come and gone before them.

Real load through a real server, with its archivist beside it; then how long a start takes, and how much is kept.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench.backlog import FLAGS, LISTEN, State, restarted
from bench.calm import await_that, counted, is_settled, live_bytes
from bench.rounds import Bench, fresh
from bench.rows import Shape
from bench.servers import Running
from harness.server import Server
from penstock.model.limits import SNAPSHOT_BYTES

SHAPE: Final = Shape(4, 100)
LONGER: Final = 10  # than other measurements: each leaves a few messages behind
LAG_FACTS: Final = 10_000_000  # so far the archivist may be behind: what it has not folded takes room on the disk
LIVE: Final = ("delayed", "ready", "leased")


@dataclass(frozen=True)
class Past:
    """Seconds to ready, and megabytes of the journal with what they may be."""

    facts: int
    made_s: float
    killed_s: list[float]
    stopped_s: list[float]
    journal_mb: float
    journal_max_mb: float


def outlive(bench: Bench, messages: int, facts: int, rounds: int) -> Past:
    """`facts`: at least so many."""
    with fresh(bench.directory) as place:
        server = Server(place / "data", *FLAGS, listen=LISTEN)
        try:
            begun = time.monotonic()
            State("waiting", messages).fill(server)
            come_and_go(bench, server, facts)
            await_that(lambda: is_settled(server))
            made_s = time.monotonic() - begun
            journal, live, lived = journal_bytes(server.data), live_bytes(server), counted(server, LIVE)
            server, killed, stopped = restarted(server, rounds)
            if counted(server, LIVE) != lived:
                raise RuntimeError(f"{counted(server, LIVE)} messages live after all this instead of {lived}")
        finally:
            server.kill()
            server.wait()
    return Past(facts, made_s, killed, stopped, journal / 1e6, journal_max_bytes(live) / 1e6)


def come_and_go(bench: Bench, server: Server, facts: int) -> None:
    """The oldest is reserved and finished, and another published: what lives is always as much, and ever new."""
    bench = replace(bench, seconds=LONGER * bench.seconds)
    while made_facts(server) < facts:
        bench.load("deferred", Running(server.pid, server.ports["deferred"]), SHAPE)
        await_that(lambda: (server.get("/api/v1/status")["archive"]["behind_facts"] or 0) < LAG_FACTS)


def made_facts(server: Server) -> int:
    return int(server.get("/api/v1/status")["journal"]["next_fact"]) - 1


def journal_max_bytes(live: int) -> int:
    return 3 * live + SNAPSHOT_BYTES


def journal_bytes(data: Path) -> int:
    with os.scandir(data / "journal") as entries:
        return sum(entry.stat().st_size for entry in entries)
