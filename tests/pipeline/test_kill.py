"""A run that is killed anywhere has changed nothing, whatever it leaves lying about; the next one makes it all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline.jobs.run import Pipeline, run
from tests.pipeline.histories import Fact, cut, random_history, write_segment
from tests.pipeline.house import House
from tests.pipeline.sparing import SPARING

KILLED_S = 250
DRIVER = f"""
import os, signal, sys
from pathlib import Path
from penstock.pipeline.jobs.run import Pipeline, run
from penstock.pipeline.lake import Lake
from penstock.pipeline.session import open_session

root, fatal = Path(sys.argv[1]), sys.argv[2]

def tell(title, number, total):
    if title == fatal:
        os.kill(os.getpid(), signal.SIGKILL)

run(Pipeline(open_session("local[2,4]", "1g", {SPARING!r}), root / "archive", Lake(root / "lake"), tell))
"""


class Killed(BaseException):
    """No code may catch this and tidy up."""


def ruin(house: House) -> None:
    """What does not count may as well be rubbish."""
    named = {house.lake.root / path for path in house.lake.manifest().paths()}
    for file in house.lake.root.rglob("*.parquet"):
        if file.parent not in named:
            file.write_bytes(b"rubbish")


def run_until(house: House, fatal: str) -> None:
    """Killed when it tells of that."""

    def tell(title: str, number: int, total: int) -> None:
        if title == fatal:
            raise Killed

    with pytest.raises(Killed):
        run(Pipeline(house.spark, house.archive, house.lake, tell, compact=True))
    ruin(house)


@pytest.fixture
def house(spark: SparkSession, tmp_path: Path) -> House:
    return House(spark, tmp_path)


def begin(house: House, history: list[Fact]) -> None:
    """One batch is there, and two segments wait."""
    first, second, third = cut(history, 70, 50)
    write_segment(house.archive, 1, first)
    house.run()
    write_segment(house.archive, 2, second)
    write_segment(house.archive, 3, third)


def test_killed_at_one_step_after_the_other_it_is_done_at_last(house: House) -> None:
    """In reading, in each stage of a batch, and in the midst of a compaction."""
    history = random_history(31, 150).facts  # of one day, so that its parts are compacted
    begin(house, history)
    before = house.lake.manifest()
    for fatal in ("archive", "counts", "times"):
        run_until(house, fatal)
        assert house.lake.manifest() == before
    run_until(house, "compacting tally")
    assert house.lake.manifest().batch == before.batch + 1
    house.run(compact=True)
    house.agrees_with(history)


def test_kill_9_of_the_driver_leaves_the_tables_as_they_were(house: House) -> None:
    history = random_history(32, 200).facts
    begin(house, history)
    before = house.lake.manifest()
    words = [sys.executable, "-c", DRIVER, str(house.archive.parent), "times"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run(words, check=False, env=environment, timeout=KILLED_S)
    assert killed.returncode == -signal.SIGKILL
    assert house.lake.manifest() == before
    assert list(house.lake.root.glob("*/batch=2"))
    house.run()
    house.agrees_with(history)
