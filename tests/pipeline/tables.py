"""Small tables for tests of transformations: facts as rows, and rows told by the columns that matter."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from penstock.pipeline.facts import NARROW
from penstock.pipeline.schema import ARCHIVE_COLUMNS, PARTS
from tests.pipeline.histories import Fact
from tests.pipeline.oracle import Row

_TYPES = {column.name: column.type for column in ARCHIVE_COLUMNS}


def fact_table(spark: SparkSession, facts: Sequence[Fact]) -> DataFrame:
    """With the columns that transformations are given."""
    ddl = ", ".join(f"{name} {_TYPES[name]}" for name in NARROW)
    rows = [tuple(1 if name == "segment" else fact.get(name) for name in NARROW) for fact in facts]
    return spark.createDataFrame(rows, ddl)


def part_table(spark: SparkSession, table: str, *rows: Row) -> DataFrame:
    """What is not said is null."""
    names = [column.split()[0] for column in PARTS[table].split(",")]
    return spark.createDataFrame([tuple(row.get(name) for name in names) for row in rows], PARTS[table])
