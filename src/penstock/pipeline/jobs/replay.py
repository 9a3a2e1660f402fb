"""Which messages a replay is about: lives that a condition chooses, joined with their bodies, as a plan."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from penstock.pipeline import codes
from penstock.pipeline.jobs.tables import open_tables
from penstock.pipeline.lake import Lake
from penstock.pipeline.plan import COLUMNS, FOLDER, Bodiless, Chosen, Plan, Row, Said
from penstock.pipeline.views import named

# A life whose publish is not in the archive has no body either.
_LIVES: Final = f"""
SELECT lives.*, key, body
FROM silver.lives
LEFT JOIN (SELECT message_seq, key, body FROM bronze.facts WHERE {codes.PUBLISHED}) USING (message_seq)
"""


class BadCondition(ValueError):
    """It is no condition over lives; in words."""


@dataclass
class Choice:
    """A condition over a lake's lives. `archive`: where the facts are that were not compacted yet."""

    spark: SparkSession
    archive: Path
    lake: Lake
    where: str

    def open(self) -> None:
        """Raises BadCondition."""
        self.manifest = self.lake.manifest()
        names = named(f"{_LIVES} {self.where}")
        open_tables(self.spark, self.archive, self.lake, self.manifest, names=names)
        try:
            self.rows = self.spark.sql(_LIVES).where(self.where)
        except (AnalysisException, ParseException) as error:
            raise BadCondition(str(error).partition("\n")[0]) from None

    def count(self) -> Chosen:
        by_queue = _counted(self.rows).collect()
        found = [row for row in by_queue if row.has_body]
        lacking = [Bodiless(row.queue or "", row.messages, row.before) for row in by_queue if not row.has_body]
        return Chosen(sum(row.messages for row in found), sum(row.bytes for row in found), lacking)

    def first(self, count: int) -> list[Row]:
        return [_row(row) for row in _with_bodies(self.rows).orderBy("message_seq").limit(count).collect()]

    def keep(self, plan: Plan, name: str, to: str, chosen: Chosen) -> None:
        said = Said(name, self.where, to, self.manifest.store, time.time_ns() // 1_000, chosen)
        folder = self.lake.root / FOLDER / f"{name}.{os.getpid()}.parts"
        try:
            _with_bodies(self.rows).orderBy("message_seq").write.parquet(str(folder))
            plan.keep(said, sorted(folder.glob("part-*.parquet")))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _counted(rows: DataFrame) -> DataFrame:
    """By queue and by why a body is not there, if it is not."""
    told = rows.selectExpr("queue", "body IS NOT NULL AS has_body", "published_at_us IS NULL AS before", "size")
    return told.groupBy("queue", "has_body", "before").agg(
        fn.count("*").alias("messages"), fn.coalesce(fn.sum("size"), fn.lit(0)).alias("bytes")
    )


def _with_bodies(rows: DataFrame) -> DataFrame:
    return rows.where("body IS NOT NULL").select(*COLUMNS.names)


def _row(row: Any) -> Row:
    return Row(**row.asDict())
