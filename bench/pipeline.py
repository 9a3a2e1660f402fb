"""The pipeline against DuckDB, which makes the same tables of the same archive in the same run; and the archivist.

Warm: what is told is a run on a session that has made all tables once. Both write Parquet, on all processors.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from bench import annals, duck, freshness
from bench.backlog import resident_mb
from bench.tables import Table, at_most, spread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME: Final = "pipeline"
HEADS: Final = ("figure", "measured", "spread", "at most", "verdict")
MEMORY: Final = "3g"  # of the driver; what it takes beyond is told
DUCK_MEMORY: Final = "6GB"
GROWTH: Final = 5  # the small archive is so many times smaller
WARM_FACTS: Final = 500_000
FRESH_S: Final = 200.0


@dataclass(frozen=True)
class Sizes:
    """One archive, and how long each side took for it, round by round."""

    facts: int
    spark_s: list[float]
    duck_s: list[float]


@contextmanager
def session(facts: int) -> Iterator[SparkSession]:
    from penstock.pipeline.session import QUICK, default_master, open_session

    spark = open_session(default_master(), MEMORY, QUICK if facts < WARM_FACTS else None)
    try:
        yield spark
    finally:
        spark.stop()


def measure(directory: Path, facts: int, rounds: int, tell: Callable[[str], None]) -> list[Table]:
    """Little, then much, each by both sides in shuffled order in every round. So few that nobody looks at the figures
    are not worth the warming up."""
    with session(facts) as spark:
        if facts >= WARM_FACTS:
            _compare(spark, directory / "warm", WARM_FACTS, 1, tell)
        little = _compare(spark, directory / "little", facts // GROWTH, rounds, tell)
        much = _compare(spark, directory / "much", facts, rounds, tell)
        megabytes = peak_mb(spark)
    waits = freshness.waits(directory / "fresh", FRESH_S) if facts >= WARM_FACTS else []
    return [table(little, much, megabytes, waits)]


def _compare(spark: SparkSession, place: Path, facts: int, rounds: int, tell: Callable[[str], None]) -> Sizes:
    count = annals.write(place / "archive", facts, np.random.default_rng(facts))
    took: dict[str, list[float]] = {"spark": [], "duck": []}
    for number in range(rounds):
        for side in random.sample(list(took), 2):
            took[side].append(_by_spark(spark, place) if side == "spark" else _by_duck(place))
        tell(f"pipeline: {count:,} facts, round {number + 1} of {rounds}")
    agree(spark, place)
    shutil.rmtree(place)
    return Sizes(count, took["spark"], took["duck"])


def _by_spark(spark: SparkSession, place: Path) -> float:
    from penstock.pipeline.jobs.run import Pipeline, run
    from penstock.pipeline.lake import Lake

    shutil.rmtree(place / "lake", ignore_errors=True)
    begun = time.monotonic()
    run(Pipeline(spark, place / "archive", Lake(place / "lake"), lambda title, number, total: None))
    return time.monotonic() - begun


def _by_duck(place: Path) -> float:
    shutil.rmtree(place / "duck", ignore_errors=True)
    begun = time.monotonic()
    duck.build(place / "archive", place / "duck", os.cpu_count() or 1, DUCK_MEMORY)
    return time.monotonic() - begun


def agree(spark: SparkSession, place: Path) -> None:
    """Both have made the same, or there is nothing to compare."""
    from penstock.pipeline.jobs.tables import open_tables
    from penstock.pipeline.lake import Lake

    lake = Lake(place / "lake")
    open_tables(spark, place / "archive", lake, lake.manifest())
    (ours,) = spark.sql("SELECT count(*), sum(deliveries), sum(work_us) FROM silver.lives").collect()
    if tuple(ours) != duck.totals(place / "duck"):
        raise RuntimeError(f"Spark found {tuple(ours)}, DuckDB {duck.totals(place / 'duck')}")


def peak_mb(spark: SparkSession) -> float:
    """Of the process that Spark runs in."""
    handle = spark.sparkContext._jvm.java.lang.ProcessHandle  # type: ignore[union-attr]
    return resident_mb(handle.current().pid(), "VmHWM")


def table(little: Sizes, much: Sizes, megabytes: float, waits: list[float]) -> Table:
    ratios = [ours / theirs for ours, theirs in zip(much.spark_s, much.duck_s, strict=True)]
    grown = [big * little.facts / (small * much.facts) for small, big in zip(little.spark_s, much.spark_s, strict=True)]
    took = f"{statistics.median(much.spark_s):.1f} s, {statistics.median(much.duck_s):.1f} s"
    told = [
        line(f"Spark ÷ DuckDB, {much.facts:,} facts ({took})", ratios, 4, 2.5),
        line(f"time a fact, {much.facts:,} facts ÷ {little.facts:,}", grown, 1.2, 1.0),
        line("resident MB of Spark at its highest", [megabytes], 6_000, 6_000),
    ]
    if waits:
        told.append(line(f"seconds until a fact is in gold at worst, --every {freshness.EVERY}", [max(waits)], 60, 60))
    return Table(NAME, HEADS, told, [cells[-1] for cells in told])


def line(title: str, values: list[float], floor: float, goal: float) -> list[str]:
    value = statistics.median(values)
    limit = f"{floor:g}" if floor == goal else f"{floor:g} → {goal:g}"
    return [title, f"{value:,.2f}", spread(values, ",.2f"), limit, at_most(value, floor, goal)]
