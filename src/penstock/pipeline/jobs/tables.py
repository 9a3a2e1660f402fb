"""The lake as tables of a Spark session: parts below, what people ask above. Only what is asked about is made, for each
table costs time before the first row is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

from penstock.pipeline.histogram import FUNCTION, FUNCTION_NAME
from penstock.pipeline.jobs.batch import SCRATCH
from penstock.pipeline.lake import Lake, Manifest
from penstock.pipeline.schema import PARTS
from penstock.pipeline.views import VIEWS, named

_GLOB: Final = re.compile(r"([\\\[\]{}*?,^])")  # what a path's characters must not mean
_DATABASES: Final = ("lake", "bronze", "silver", "gold", "asof")
_SELECTS: Final = re.compile(r"\s*(select|with)\b", re.IGNORECASE)

# session -> what it has -> the statements that made it
_made: Final[WeakKeyDictionary[SparkSession, dict[str, tuple[str, ...]]]] = WeakKeyDictionary()


def open_tables(
    spark: SparkSession,
    archive: Path,
    lake: Lake,
    manifest: Manifest,
    then_us: int | None = None,
    names: set[str] | None = None,
) -> None:
    """As the manifest has them: those of these names, and what they are made from; by default all. `then_us`: the
    moment that `asof` tables show; by default that of the last fact."""
    made = _made.setdefault(spark, {})
    for name, statements in _statements(archive, lake, manifest, then_us):
        if made.get(name) != statements and (names is None or name in _DATABASES or name in names):
            for statement in statements:
                spark.sql(statement)
            made[name] = statements


def names_in(query: str) -> set[str] | None:
    """What a query asks about. None: it may be about anything, as SHOW and DESCRIBE are."""
    if _SELECTS.match(query) is None:
        return None
    return named(query) | ({FUNCTION_NAME} if FUNCTION_NAME in query.lower() else set())


def _statements(
    archive: Path, lake: Lake, manifest: Manifest, then_us: int | None
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is made, and how. In this order: a view knows those before it."""
    for name in _DATABASES:
        yield name, (f"CREATE DATABASE IF NOT EXISTS {name}",)
    for name, columns in PARTS.items():
        if name not in SCRATCH:
            yield _table(name, columns, lake.root, [part.path for part in manifest.parts.get(name, [])])
    yield _table("archive", PARTS["facts"], archive, [file.path for file in manifest.files])
    moment = f"SELECT {manifest.now_us}L AS now_us, {manifest.now_us if then_us is None else then_us}L AS then_us"
    yield "lake.moment", (f"CREATE OR REPLACE VIEW lake.moment AS {moment}",)
    for name, statement in VIEWS.items():
        yield name, (statement,)
    yield FUNCTION_NAME, (FUNCTION,)


def _table(name: str, columns: str, root: Path, paths: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Of no parts, a table of a directory that does not exist: without rows."""
    base = _GLOB.sub(r"\\\1", str(root))
    path = f"{base}/{{{','.join(paths)}}}" if paths else f"{base}/none"
    created = f"CREATE TABLE lake.{name} ({columns}) USING parquet OPTIONS (path {_quoted(path)})"
    return f"lake.{name}", (f"DROP TABLE IF EXISTS lake.{name}", created)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
