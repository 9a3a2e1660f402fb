"""kill -9 under load in all dialects, again and again on one directory, of the server and of its archivist: nothing
told is lost, nothing finished comes back, nothing is early, nothing is with two at once, no id is given twice. After
each directory the tables made of its archive say what the server has counted and the clients were told."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from harness.server import NotStarted, Server
from torture.crowd.clients import drain, drive
from torture.crowd.history import LOST, TABLES, History, tally
from torture.crowd.mix import SPEAKS, crowd
from torture.crowd.talk import Talk
from torture.folding import await_fold

LEASE_S = 2
CYCLES_A_DIRECTORY = 100
SYNC_SHARE = 0.2  # of the servers that confirm at `sync` where `write` was asked for
ARCHIVISTS_SHARE = 0.25  # of the servers whose archivist is killed as well
WORKING_S = 0.5  # and which goes on for so long at most
FOLDING_SHARE = 0.1  # of the other kills come while the archivist writes a snapshot,
MOMENTS_S = (0.1, 0.5, 0.5, 3.0)  # the rest at a random moment within one of these
SMALL = ("--archive-seal-s", "0.3", "--limits-segment-bytes", "131072", "--journal-snapshot-bytes", "131072")
TOLD = ("published", "delivered", "finished")
LIVE = ("delayed", "ready", "parked", "leased")
PATIENCE_S = 60.0

Queues = Sequence[Mapping[str, Any]]


class Compares(Protocol):
    """Says how the tables of a directory differ from what its server counted and its clients were told."""

    def differences(self, data: Path, history: History, queues: Queues) -> list[str]: ...


@dataclass
class Outcome:
    kills: int = 0
    archivists: int = 0  # killed as well
    snapshots: int = 0
    directories: int = 0
    compared: int = 0  # of them, with the tables
    answers: int = 0
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)  # what was told, in which dialect
    broken: tuple[str, ...] = ()
    kept: str = ""  # the directory on which they were

    def total(self, what: str) -> int:
        return sum(count for (name, _), count in self.counts.items() if name == what)

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.kills + other.kills,
            self.archivists + other.archivists,
            self.snapshots + other.snapshots,
            self.directories + other.directories,
            self.compared + other.compared,
            self.answers + other.answers,
            self.counts + other.counts,
            self.broken + other.broken,
            self.kept or other.kept,
        )


def campaign(
    cycles: int,
    seed: int,
    confirm: str = "write",
    tables: Compares | None = None,
    progress: Callable[[Outcome], None] = lambda outcome: None,
) -> Outcome:
    """A fresh directory every few cycles. Stops at the first on which a law is broken, and keeps it."""
    total = Outcome()
    while total.kills < cycles and not total.broken:
        part = min(CYCLES_A_DIRECTORY, cycles - total.kills)
        directory = Path(tempfile.mkdtemp(prefix="penstock-torture-"))
        total += Trial(directory, seed + total.kills, confirm).run(part, tables)
        if total.broken:
            total.kept = str(directory)
        else:
            shutil.rmtree(directory)
        progress(total)
    return total


class Trial:
    """One directory, and the servers that live on it one after the other."""

    def __init__(self, directory: Path, seed: int, confirm: str) -> None:
        self._data = directory / "data"
        self._config = directory / "penstock.toml"
        self._seed = seed
        self._confirm = confirm
        self._history = History(LEASE_S, finals=True)
        self._kills = 0
        self._archivists = 0
        self._compared = False
        self._killed_s = 0.0
        # Leases end by themselves, so that what a killed client held comes back.
        self._config.write_text(f'[[policy]]\nmatch = "default"\nlease_s = {LEASE_S}\n')

    def run(self, cycles: int, tables: Compares | None) -> Outcome:
        """Stops at the first kill after which a law is broken."""
        try:
            while self._kills < cycles and not self._history.broken:
                self._one_kill(random.Random(f"{self._seed} {self._kills}"))
            self._end(tables)
        except NotStarted as error:
            self._history.breaks(LOST, str(error))
        return self._outcome()

    def _end(self, tables: Compares | None) -> None:
        """What is left is worked off, and all that has been is looked at."""
        server = self._start(self._confirm)
        self._history.drained(drain(server.ports["deferred"], self._history, PATIENCE_S))
        queues = settled(server)
        if server.stop() != 0:
            self._history.breaks("end", "the last server did not stop cleanly")
        elif tables is not None:
            self._compared = True
            for words in tables.differences(self._data, self._history, queues):
                self._history.breaks(TABLES, words)

    def _start(self, confirm: str) -> Server:
        return Server(self._data, "--config", str(self._config), "--confirm", confirm, *SMALL, listen=SPEAKS)

    def _one_kill(self, chance: random.Random) -> None:
        self._history.stage = "sync" if chance.random() < SYNC_SHARE else self._confirm
        server = self._start(self._history.stage)
        killer = threading.Thread(target=self._kill, args=(server, random.Random(chance.random())))
        clients = crowd(server.ports, self._history, chance, str(self._kills))
        killer.start()
        drive(clients)
        killer.join()
        if server.wait() != -signal.SIGKILL:
            self._history.breaks("end", "the server ended before it was killed")
        early = [client for client in clients if isinstance(client, Talk) and client.closed_s < self._killed_s]
        for client in early:
            self._history.breaks("end", f"a connection in {client.dialect} ended before the server was killed")
        self._kills += 1

    def _kill(self, server: Server, chance: random.Random) -> None:
        """The server; in some lives its archivist before it."""
        try:
            if chance.random() < ARCHIVISTS_SHARE:
                self._kill_archivist(server, chance)
            elif chance.random() < FOLDING_SHARE:
                await_fold(self._data)
                time.sleep(chance.uniform(0, 0.05))
            else:
                time.sleep(chance.uniform(0.02, chance.choice(MOMENTS_S)))
        finally:
            self._killed_s = time.monotonic()
            server.kill()

    def _kill_archivist(self, server: Server, chance: random.Random) -> None:
        """As it starts, or at its work."""
        before = files(self._data)
        awaited(lambda: bool(children(server.pid)))
        if chance.random() < 0.5:
            awaited(lambda: files(self._data) != before)
        time.sleep(chance.uniform(0.0, WORKING_S))
        self._archivists += kill_all(children(server.pid))
        time.sleep(chance.choice((0.0, chance.uniform(0.0, 0.5))))

    def _outcome(self) -> Outcome:
        log = self._data.with_name(f"{self._data.name}.log").read_text(encoding="utf-8", errors="replace")
        return Outcome(
            self._kills,
            self._archivists,
            log.count('"snapshot written"'),
            1,
            int(self._compared),
            self._history.answers,
            self._history.counts,
            tuple(self._history.broken),
        )


def result(outcome: Outcome) -> list[str]:
    """As tables: what must be zero, and what was told."""
    wrong = tally(outcome.broken)
    archived = f"tables of {outcome.compared} of {outcome.directories} directories compared"
    told = [[str(outcome.counts[what, dialect]) for dialect in SPEAKS] for what in TOLD]
    return [
        f"{outcome.kills} kills, {outcome.archivists} of archivists, {outcome.snapshots} snapshots, {archived}",
        *_table(["", *wrong], [["must be 0", *map(str, wrong.values())]]),
        *_table(["", *SPEAKS], [[what, *counts] for what, counts in zip(TOLD, told, strict=True)]),
        *([f"kept: {outcome.kept}"] if outcome.kept else []),
    ]


def _table(heads: list[str], rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return ["  ".join(word.rjust(width) for word, width in zip(row, widths, strict=True)) for row in (heads, *rows)]


def settled(server: Server) -> Queues:
    """What it says of its queues once nothing lives in them any more, and all of that is archived."""
    awaited(lambda: not any(queue["counts"][place] for queue in asked(server) for place in LIVE))
    queues = asked(server)
    awaited(lambda: server.get("/api/v1/status")["archive"]["behind_facts"] == 0)
    return queues


def asked(server: Server) -> Queues:
    queues: Queues = server.get("/api/v1/queues")["queues"]
    return queues


def awaited(condition: Callable[[], bool]) -> None:
    """Or not: what follows tells."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition() and time.monotonic() < deadline_s:
        time.sleep(0.05)


def files(data: Path) -> set[str]:
    """What an archivist has made."""
    return {file.name for pattern in ("archive/**/*.parquet", "journal/*.snapshot") for file in data.glob(pattern)}


def children(pid: int) -> list[int]:
    """Of a process that may be gone."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = stat.read_text(encoding="latin-1").rpartition(")")[2].split()[1]
            found += [int(stat.parent.name)] if int(parent) == pid else []
    return found


def kill_all(pids: list[int]) -> int:
    """How many were there to be killed."""
    killed = 0
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            killed += 1
    return killed
