"""Reading and writing parts of the lake with Spark. A part that is written again is written over."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from penstock.pipeline.lake import Lake, Manifest, Part
from penstock.pipeline.schema import PARTS

_ARROW: Final = {"bigint": pa.int64(), "int": pa.int32(), "string": pa.string()}


def read(spark: SparkSession, lake: Lake, table: str, parts: Sequence[Part]) -> DataFrame:
    """Rows of some parts; of none, no rows."""
    if not parts:
        return spark.sql(f"SELECT {_nothing(table)} WHERE false")
    return spark.read.schema(PARTS[table]).parquet(*lake.paths(parts))


def read_archive(spark: SparkSession, archive: Path, paths: Sequence[str]) -> DataFrame:
    if not paths:
        return read(spark, Lake(archive), "facts", [])
    return spark.read.schema(PARTS["facts"]).parquet(*[str(archive / path) for path in paths])


def read_facts(spark: SparkSession, archive: Path, lake: Lake, manifest: Manifest) -> DataFrame:
    """All that was ever taken in: what was compacted, and what still lies in the archive."""
    paths = [*lake.paths(manifest.parts.get("facts", [])), *[str(archive / file.path) for file in manifest.files]]
    return spark.read.schema(PARTS["facts"]).parquet(*paths)


def conform(rows: DataFrame, table: str, *more: str) -> DataFrame:
    """Exactly the columns of a part, in their order and of their types, and those that are named beside."""
    return rows.selectExpr(*[f"cast({name} AS {kind}) AS {name}" for name, kind in _columns(table)], *more)


def _nothing(table: str) -> str:
    return ", ".join(f"cast(NULL AS {kind}) AS {name}" for name, kind in _columns(table))


def _columns(table: str) -> list[tuple[str, str]]:
    pairs = (column.split() for column in PARTS[table].split(","))
    return [(name, kind) for name, kind in pairs]


def write(rows: DataFrame, path: Path, *by: str) -> None:
    """`by`: columns whose values become directories."""
    rows.write.mode("overwrite").partitionBy(*by).parquet(str(path))


def write_rows(rows: Sequence[tuple[Any, ...]], table: str, path: Path) -> None:
    """A few rows that are at hand: no job is needed for them."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    fields = [pa.field(name, _ARROW[kind]) for name, kind in _columns(table)]
    columns = [pa.array(values, field.type) for values, field in zip(zip(*rows, strict=True), fields, strict=True)]
    pq.write_table(pa.Table.from_arrays(columns, schema=pa.schema(fields)), path / "rows.parquet")
