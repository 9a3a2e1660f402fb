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

KILLED_S = 100
DRIVER = """
import os, signal, sys
from pathlib import Path
from penstock.pipeline.jobs.run import Pipeline, run
from penstock.pipeline.lake import Lake
from penstock.pipeline.session import open_session

root, fatal = Path(sys.argv[1]), sys.argv[2]

def tell(title, number, total):
    if title == fatal:
        os.kill(os.getpid(), signal.SIGKILL)

run(Pipeline(open_session("local[2,4]", "1g"), root / "archive", Lake(root / "lake"), tell))
"""


class Killed(BaseException):
    """No code may catch this and tidy up."""


def ruin(house: House) -> None:
    """What does not count may as well be rubbish."""
    named = {house.lake.root / path for path in house.lake.manifest().paths()}
    for file in house.lake.root.rglob("*.parquet"):
        if file.parent not in named:
            file.write_bytes(b"rubbish")


def run_until(house: House, fatal: int) -> bool:
    """Whether it was killed, at the so many-th thing that it tells."""
    told = 0

    def tell(title: str, number: int, total: int) -> None:
        nonlocal told
        told += 1
        if told == fatal:
            raise Killed

    try:
        run(Pipeline(house.spark, house.archive, house.lake, tell, compact=True))
    except Killed:
        ruin(house)
        return True
    return False


@pytest.fixture
def house(spark: SparkSession, tmp_path: Path) -> House:
    return House(spark, tmp_path)


def begin(house: House, history: list[Fact]) -> None:
    """One batch is there, and two segments wait."""
    first, second, third = cut(history, 100, 100)
    write_segment(house.archive, 1, first)
    house.run()
    write_segment(house.archive, 2, second)
    write_segment(house.archive, 3, third)


def test_killed_at_one_step_after_the_other_it_is_done_at_last(house: House) -> None:
    history = random_history(31, 300).facts
    begin(house, history)
    fatal = 2
    while run_until(house, fatal):
        fatal += 2
    assert fatal > 6
    house.agrees_with(history)


@pytest.mark.parametrize("fatal", ["counts", "times"])
def test_kill_9_of_the_driver_leaves_the_tables_as_they_were(house: House, fatal: str) -> None:
    history = random_history(32, 300).facts
    begin(house, history)
    before = house.lake.manifest()
    words = [sys.executable, "-c", DRIVER, str(house.archive.parent), fatal]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run(words, check=False, env=environment, timeout=KILLED_S)
    assert killed.returncode == -signal.SIGKILL
    assert house.lake.manifest() == before
    assert list(house.lake.root.glob("*/batch=2"))
    house.run()
    house.agrees_with(history)
