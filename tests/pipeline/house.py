"""An archive and its lake in a directory, and the lake's tables against the oracle's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from penstock.pipeline.jobs.run import Pipeline, run
from penstock.pipeline.jobs.tables import names_in, open_tables
from penstock.pipeline.lake import Lake, Run
from tests.pipeline import oracle
from tests.pipeline.histories import Fact
from tests.pipeline.oracle import Row

ORACLES = {
    "silver.lives": oracle.lives,
    "silver.attempts": oracle.attempts,
    "gold.queue_minute": oracle.queue_minutes,
    "gold.cost": oracle.costs,
}


class House:
    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.spark = spark
        self.archive = root / "archive"
        self.lake = Lake(root / "lake")

    def run(self, **said: Any) -> list[Run]:
        return run(Pipeline(self.spark, self.archive, self.lake, lambda title, number, total: None, **said))

    def sql(self, query: str, then_us: int | None = None) -> DataFrame:
        open_tables(self.spark, self.archive, self.lake, self.lake.manifest(), then_us, names_in(query))
        return self.spark.sql(query)

    def rows(self, query: str, then_us: int | None = None) -> list[Row]:
        return [row.asDict(recursive=True) for row in self.sql(query, then_us).collect()]

    def agrees_with(self, history: Sequence[Fact]) -> None:
        for table, expected in ORACLES.items():
            assert in_order(self.rows(f"SELECT * FROM {table}"), expected(history)) == in_order(expected(history))


def in_order(rows: Iterable[Row], like: Sequence[Row] = ()) -> list[Row]:
    """Of the columns that the other side has, in an order of their own."""
    names = like[0] if like else None
    found = [{name: row[name] for name in names} if names else row for row in rows]
    return sorted(found, key=lambda row: [str(value) for value in row.values()])
