"""How Spark does it: grouping hashes, nothing is sorted for it, no row ever visits Python, no body is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from penstock.pipeline.attempts import attempts
from penstock.pipeline.facts import NARROW, sound
from penstock.pipeline.holders import holders
from penstock.pipeline.jobs.parts import read_archive
from penstock.pipeline.lives import lives
from penstock.pipeline.minutes import tally, times
from penstock.pipeline.names import names
from penstock.pipeline.totals import totals
from tests.pipeline.histories import random_history, write_archive
from tests.pipeline.tables import part_table

MADE: dict[str, Callable[[SparkSession, DataFrame], DataFrame]] = {
    "attempts": lambda spark, facts: attempts(facts, part_table(spark, "leased")),
    "lives": lambda spark, facts: lives(part_table(spark, "attempts"), part_table(spark, "open_lives"), facts),
    "tally": lambda spark, facts: tally(facts),
    "names": lambda spark, facts: names(facts),
    "times": lambda spark, facts: times(part_table(spark, "attempts")),
    "holders": lambda spark, facts: holders(part_table(spark, "attempts")),
    "totals": lambda spark, facts: totals(
        *[part_table(spark, table) for table in ("tally", "open_lives", "leased", "names")]
    ),
}


@pytest.fixture(scope="module")
def facts(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    archive = tmp_path_factory.mktemp("plans")
    paths = write_archive(archive, [random_history(1, 50).facts])
    found = read_archive(spark, archive, [path.relative_to(archive).as_posix() for path in paths])
    return sound(found).select(*NARROW)


def plan_of(rows: DataFrame) -> str:
    return str(rows._jdf.queryExecution().executedPlan().toString())


@pytest.mark.parametrize("name", MADE)
def test_grouping_hashes_and_stays_out_of_python(spark: SparkSession, facts: DataFrame, name: str) -> None:
    plan = plan_of(MADE[name](spark, facts))
    assert "HashAggregate" in plan
    assert [node for node in ("SortAggregate", "ObjectHashAggregate", "Sort [", "Python") if node in plan] == []


def test_no_body_is_read(spark: SparkSession, facts: DataFrame) -> None:
    for name, make in MADE.items():
        scans = [line for line in plan_of(make(spark, facts)).splitlines() if "FileScan" in line]
        assert [line for line in scans if "body" in line or "key#" in line] == [], name


def test_a_planted_string_maximum_is_found(spark: SparkSession, facts: DataFrame) -> None:
    plan = plan_of(facts.groupBy("message_seq").agg({"queue": "max"}))
    assert "SortAggregate" in plan


def test_a_body_that_is_asked_for_is_found(spark: SparkSession, tmp_path: Path) -> None:
    paths = write_archive(tmp_path, [random_history(1, 20).facts])
    found = read_archive(spark, tmp_path, [path.relative_to(tmp_path).as_posix() for path in paths])
    assert "body" in plan_of(found.where("length(body) > 3"))
