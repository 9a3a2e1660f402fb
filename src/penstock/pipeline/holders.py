"""What each holder was handed, and how much of it was finished. Pure: DataFrame in, DataFrame out."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from penstock.model.facts import FINISHED


def holders(attempts: DataFrame) -> DataFrame:
    """In one batch, of those that have a name."""
    finished = f"if(end_fact = {int(FINISHED)} AND released_seq IS NULL, 1L, 0L)"
    rows = attempts.where("holder != 0").selectExpr(
        "queue_id",
        "holder",
        "bigint(deliveries) AS delivered",
        f"{finished} AS finished",
        "leased_at_us AS first_at_us",
        "leased_at_us AS last_at_us",
    )
    return merged(rows)


def merged(rows: DataFrame) -> DataFrame:
    return rows.groupBy("queue_id", "holder").agg(
        fn.sum("delivered").alias("delivered"),
        fn.sum("finished").alias("finished"),
        fn.min("first_at_us").alias("first_at_us"),
        fn.max("last_at_us").alias("last_at_us"),
    )
