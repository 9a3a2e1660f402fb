"""kill -9 of the pipeline's driver and its Java, at any moment, again and again on one lake: the next run goes on from
what is left, and at last the tables are what the facts say, nothing lacking and nothing twice."""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.pipeline.house import House

KILLS = 40
KILLS_A_LAKE = 8
STEPS = 4_000  # of a history
ALIVE_S = 300.0  # no run takes longer
COMMAND = (sys.executable, "-m", "penstock.cli.main", "pipeline", "run", "--memory", "1g", "--compact", "--data")


@dataclass
class Outcome:
    kills: int = 0
    spared: int = 0  # runs that ended before their moment
    batches: int = 0
    lakes: int = 0
    broken: tuple[str, ...] = ()


def campaign(house: Callable[[Path], House], kills: int, seed: int, progress: Callable[[Outcome], None]) -> Outcome:
    """A fresh lake every few kills."""
    outcome = Outcome()
    while outcome.kills < kills and not outcome.broken:
        wanted = min(kills, outcome.kills + KILLS_A_LAKE)
        with tempfile.TemporaryDirectory(prefix="penstock-driver-") as root:
            Trial(house(Path(root)), seed + outcome.kills, outcome).run(wanted)
        outcome.lakes += 1
        progress(outcome)
    return outcome


class Trial:
    """One history: a piece more of it is archived before each run, and each run is killed but the last."""

    def __init__(self, house: House, seed: int, outcome: Outcome) -> None:
        from tests.pipeline.histories import random_history

        self._house = house
        self._facts = random_history(seed, STEPS).facts
        self._chance = random.Random(seed)
        self._outcome = outcome
        self._written = 0
        self._segments = 0
        self._whole_s = 0.0  # what a run takes that nobody kills

    def run(self, kills: int) -> None:
        self._whole_s = self._lasts()
        while self._outcome.kills < kills and not self._outcome.broken:
            self._one_kill()
        self._archive(len(self._facts))
        self._lasts()
        self._outcome.batches += self._house.lake.manifest().batch
        self._compare()

    def _one_kill(self) -> None:
        before = self._house.lake.manifest().batch
        driver = self._started()
        time.sleep(self._chance.uniform(0.3, self._whole_s))
        os.killpg(driver.pid, signal.SIGKILL)
        if driver.wait() == -signal.SIGKILL:
            self._outcome.kills += 1
        else:
            self._outcome.spared += 1
        after = self._house.lake.manifest().batch
        if after not in (before, before + 1):
            self._outcome.broken += (f"batch {before} became {after} in one run",)

    def _lasts(self) -> float:
        """Seconds of a run to its end."""
        began_s = time.monotonic()
        code = self._started().wait(ALIVE_S)
        if code:
            self._outcome.broken += (f"a run that nobody killed ended with {code}",)
        return time.monotonic() - began_s

    def _started(self) -> subprocess.Popen[bytes]:
        self._archive(self._chance.randrange(1, len(self._facts) // (KILLS_A_LAKE + 2)))
        return subprocess.Popen(
            [*COMMAND, str(self._house.archive.parent)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # the driver and its Java end together
        )

    def _archive(self, facts: int) -> None:
        """So many more, as one segment."""
        from tests.pipeline.histories import write_segment

        piece = self._facts[self._written : self._written + facts]
        if piece:
            self._segments += 1
            write_segment(self._house.archive, self._segments, piece)
            self._written += len(piece)

    def _compare(self) -> None:
        try:
            self._house.agrees_with(self._facts)
        except AssertionError as error:
            self._outcome.broken += (f"the tables are not what the facts say: {error}"[:2_000],)


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kills", type=int, default=KILLS, help="kills (default %(default)s)")


def run(asked: argparse.Namespace) -> tuple[str, ...]:
    from penstock.pipeline.session import QUICK, session
    from tests.pipeline.house import House

    print(f"kill -9 of the pipeline's driver, {asked.kills} kills, seed {asked.seed}", flush=True)
    start_s = time.monotonic()

    def progress(outcome: Outcome) -> None:
        print(
            f"  {outcome.kills:5} kills  {outcome.spared:3} came too late  {outcome.lakes:3} lakes compared  "
            f"{outcome.batches:4} batches  {len(outcome.broken)} broken  {time.monotonic() - start_s:6.0f} s",
            flush=True,
        )

    with session("local[1]", "1g", QUICK) as spark:
        return campaign(lambda root: House(spark, root), asked.kills, asked.seed, progress).broken
