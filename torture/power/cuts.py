"""Power cuts under load, again and again on one disk: what was told at `sync` is there when the power is back, nothing
finished comes back, nothing is answered once the disk has died, and the server says so and ends by itself."""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.server import PROGRAM, NotStarted, Server
from penstock.journal.segment import JournalDamaged
from penstock.server import exits
from torture.crowd.clients import drain, drive
from torture.crowd.mix import SPEAKS, crowd
from torture.folding import FOLDING_S, await_fold
from torture.power import eaten
from torture.power.loopdisk import DiskBusy, LoopDisk
from torture.power.promises import Promises
from torture.power.remains import bodies

LEASE_S = 2
CUTS_A_DISK = 10
STARTING_SHARE = 0.2  # of the cuts come while the server starts,
FOLDING_SHARE = 0.2  # and of the others while the archivist writes a snapshot;
MOMENTS_S = (0.1, 0.6, 3.0)  # the rest at a random moment within one of these
END_S = 20.0  # so soon after its disk the server has ended, by itself
PATIENCE_S = 60.0
WHAT = ("published", "finished")
ENDS = ("journal died", "not started")  # what a server says of its end, whenever its disk has died
SMALL = ("--archive-seal-s", "0.3", "--limits-segment-bytes", "131072", "--journal-snapshot-bytes", "262144")


@dataclass
class Outcome:
    cuts: int = 0
    answers: int = 0
    told: int = 0
    finished: int = 0
    lost: int = 0
    returned: int = 0
    late: int = 0
    snapshots: int = 0
    slowest_end_s: float = 0.0
    broken: tuple[str, ...] = ()

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.cuts + other.cuts,
            self.answers + other.answers,
            self.told + other.told,
            self.finished + other.finished,
            self.lost + other.lost,
            self.returned + other.returned,
            self.late + other.late,
            self.snapshots + other.snapshots,
            max(self.slowest_end_s, other.slowest_end_s),
            self.broken + other.broken,
        )


Progress = Callable[[Outcome], None]


def campaign(
    cuts: int, seed: int, confirm: str = "sync", eats: bool = False, progress: Progress = lambda outcome: None
) -> Outcome:
    """A fresh disk every few cuts, which `eats` what it is to sync or not. Stops at the first that breaks a law."""
    total = Outcome()
    while total.cuts < cuts and not total.broken:
        part = min(CUTS_A_DISK, cuts - total.cuts)
        with LoopDisk() as disk:
            total += Trial(disk, seed + total.cuts, confirm, eats).run(part)
        progress(total)
    return total


class Trial:
    """One disk, and the servers that live on it one after the other."""

    def __init__(self, disk: LoopDisk, seed: int, confirm: str, eats: bool) -> None:
        self._disk = disk
        self._seed = seed
        self._history = Promises(LEASE_S, confirm, finals=seed % 2 == 1)
        self._data = disk.place / "data"
        self._log = disk.beside / "log"
        self._flags = _flags(disk.beside, confirm)
        self._program = eaten.PROGRAM if eats else PROGRAM
        self._start_s = 1.0  # how long the last start took
        self._slowest_end_s = 0.0
        self._cuts = 0

    def run(self, cuts: int) -> Outcome:
        """Stops at the first cut after which a law is broken."""
        try:
            while self._cuts < cuts and not self._history.broken:
                self._cuts += 1
                self._one_cut(random.Random(f"{self._seed} {self._cuts}"))
            if not self._history.broken:
                self._empty()
        except (NotStarted, DiskBusy) as error:
            self._history.breaks("recovery", str(error))
        return self._outcome()

    def _one_cut(self, chance: random.Random) -> None:
        """Some come while the server starts, on what an earlier cut has left."""
        if self._cuts > 1 and chance.random() < STARTING_SHARE:
            self._starting(chance)
        else:
            self._under_load(chance)
        self._disk.remount()
        self._history.settle(self._there())

    def _there(self) -> set[bytes]:
        """Of a journal that cannot be read, nothing is."""
        try:
            return bodies(self._data)
        except JournalDamaged as damage:
            self._history.breaks("recovery", str(damage))
            return set()

    def _starting(self, chance: random.Random) -> None:
        cutter = threading.Timer(chance.uniform(0.3, 1.1) * self._start_s, self._cut)
        cutter.start()
        try:
            server = self._start()
        except NotStarted as error:
            if self._history.cut_s == math.inf:
                raise
            self._judge_end(error.code)
            return
        finally:
            cutter.join()
        server.kill()
        server.wait()

    def _under_load(self, chance: random.Random) -> None:
        server = self._start()
        cutter = threading.Thread(target=self._cut_at_a_moment, args=(random.Random(chance.random()),))
        patience = threading.Timer(FOLDING_S + END_S, server.process.kill)
        try:
            clients = crowd(server.ports, self._history, chance, str(self._cuts))
            cutter.start()
            patience.start()
            drive(clients)
            cutter.join()
            self._judge_end(server.wait())
        finally:
            patience.cancel()
            server.process.kill()

    def _cut_at_a_moment(self, chance: random.Random) -> None:
        if chance.random() < FOLDING_SHARE:
            await_fold(self._data)
            time.sleep(chance.uniform(0, 0.05))
        else:
            time.sleep(chance.uniform(0.01, chance.choice(MOMENTS_S)))
        self._cut()

    def _start(self) -> Server:
        begin_s = time.monotonic()
        server = Server(self._data, *self._flags, listen=SPEAKS, program=self._program, log=self._log)
        self._start_s = time.monotonic() - begin_s
        return server

    def _cut(self) -> None:
        self._disk.cut()
        self._history.cut_s = time.monotonic()

    def _judge_end(self, code: int) -> None:
        """The last server's log tells why it ended."""
        self._slowest_end_s = max(self._slowest_end_s, time.monotonic() - self._history.cut_s)
        said = self._log.read_text(errors="replace").rpartition('"event":"starting"')[2]
        if code != exits.DISK_DIED or not any(f'"event":"{event}"' in said for event in ENDS):
            self._history.breaks("end", f"after its disk had died the server ended with {code} and said:\n{said}")

    def _empty(self) -> None:
        server = self._start()
        try:
            self._history.drained(drain(server.ports["deferred"], self._history, PATIENCE_S))
            if server.stop() != exits.CLEAN:
                self._history.breaks("end", "the last server did not stop cleanly")
        finally:
            server.process.kill()

    def _outcome(self) -> Outcome:
        history = self._history
        told = {what: sum(count for (word, _), count in history.counts.items() if word == what) for what in WHAT}
        return Outcome(
            self._cuts,
            history.answers,
            told["published"],
            told["finished"],
            history.lost,
            history.returned,
            history.late,
            self._log.read_text(errors="replace").count('"event":"snapshot written"'),
            self._slowest_end_s,
            tuple(history.broken),
        )


def _flags(directory: Path, confirm: str) -> list[str]:
    """Leases end by themselves, so that what the clients of a server that is gone held comes back."""
    config = directory / "penstock.toml"
    config.write_text(f"[dialect.deferred]\nstuck_timeout_s = {LEASE_S}\nstuck_attempts = 1000000\n")
    return ["--config", str(config), "--confirm", confirm, *SMALL]
