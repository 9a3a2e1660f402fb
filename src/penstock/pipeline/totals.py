"""What the tables hold of each queue, in the words of a server's counts. Pure: DataFrame in, DataFrame out."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from penstock.pipeline.codes import COUNTS
from penstock.pipeline.names import QUEUE


def totals(tally: DataFrame, open_lives: DataFrame, leased: DataFrame, names: DataFrame) -> DataFrame:
    """One row for each queue that is not removed."""
    counted = tally.where("queue_id > 0").selectExpr(
        "queue_id", *[f"if({on}, facts, 0L) AS {name}" for name, on in COUNTS.items()]
    )
    living = open_lives.where("published_at_us IS NOT NULL").selectExpr(
        "queue_id", "1L AS open", "bigint(size) AS body_bytes"
    )
    held = leased.selectExpr("queue_id", "1L AS leased")
    rows = counted.unionByName(living, True).unionByName(held, True)
    added = rows.groupBy("queue_id").agg(
        *[fn.coalesce(fn.sum(name), fn.lit(0)).alias(name) for name in rows.columns if name != "queue_id"]
    )
    there = names.where(f"kind = '{QUEUE}'").groupBy("code", "name").agg(fn.max("removed_at_us").alias("removed"))
    queues = there.where("removed IS NULL").selectExpr("code AS queue_id", "name AS queue")
    return added.join(fn.broadcast(queues), "queue_id").withColumn("waiting", fn.expr("open - leased"))
