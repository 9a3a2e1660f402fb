"""The lake as tables of a Spark session: parts below, what people ask above, and functions for moments of the past."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from penstock.pipeline import views
from penstock.pipeline.jobs.batch import SCRATCH
from penstock.pipeline.lake import Lake, Manifest
from penstock.pipeline.schema import PARTS, TABLES

_GLOB: Final = re.compile(r"([\\\[\]{}*?,^])")  # what a path's characters must not mean
_DATABASES: Final = ("lake", "bronze", "silver", "gold", "asof")


def open_tables(spark: SparkSession, archive: Path, lake: Lake, manifest: Manifest, then_us: int | None = None) -> None:
    """As the manifest has them. `then_us`: the moment that `asof` tables show; by default that of the last fact."""
    for statement in _statements(archive, lake, manifest):
        spark.sql(statement)
    moment = f"SELECT {manifest.now_us}L AS now_us, {manifest.now_us if then_us is None else then_us}L AS then_us"
    spark.sql(f"CREATE OR REPLACE VIEW lake.moment AS {moment}")
    if not spark.catalog.tableExists(TABLES[-1].name):
        for statement in (*views.VIEWS, *views.FUNCTIONS):
            spark.sql(statement)


def _statements(archive: Path, lake: Lake, manifest: Manifest) -> Iterator[str]:
    for name in _DATABASES:
        yield f"CREATE DATABASE IF NOT EXISTS {name}"
    for name, columns in PARTS.items():
        if name not in SCRATCH:
            yield from _table(name, columns, lake.root, [part.path for part in manifest.parts.get(name, [])])
    yield from _table("archive", PARTS["facts"], archive, [file.path for file in manifest.files])


def _table(name: str, columns: str, root: Path, paths: Sequence[str]) -> Iterator[str]:
    """Of no parts, a table of a directory that does not exist: without rows."""
    base = _GLOB.sub(r"\\\1", str(root))
    path = f"{base}/{{{','.join(paths)}}}" if paths else f"{base}/none"
    yield f"DROP TABLE IF EXISTS lake.{name}"
    yield f"CREATE TABLE lake.{name} ({columns}) USING parquet OPTIONS (path {_quoted(path)})"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
