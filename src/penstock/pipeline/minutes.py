"""What happened minute by minute: counts, times as histograms, and stretches in which something waited. Pure.

All three add up over batches: counts and histograms by sum, stretches side by side.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as fn

from penstock.pipeline import codes
from penstock.pipeline.attempts import ENDED_AT
from penstock.pipeline.histogram import bucket
from penstock.pipeline.schema import MINUTE_US

_TALLY_KEYS: Final = ("minute_us", "queue_id", "dialect_code", "fact_code", "reason_code", "failure", "again")
_TIMES_KEYS: Final = ("queue_id", "minute_us", "work", "bucket")


def _minute(at_us: str) -> str:
    return f"bigint({at_us} DIV {MINUTE_US} * {MINUTE_US})"


def tally(facts: DataFrame) -> DataFrame:
    """Facts counted by everything they are counted by."""
    rows = facts.withColumns(
        {"minute_us": fn.expr(_minute("at_us")), "again": fn.expr(f"{codes.DELIVERED} AND attempt > 1")}
    )
    return rows.groupBy(*_TALLY_KEYS).agg(
        fn.count("*").alias("facts"),
        fn.sum(fn.col("size").cast("bigint")).alias("body_bytes"),
        fn.sum(fn.col("journal_bytes").cast("bigint")).alias("journal_bytes"),
    )


def times(attempts: DataFrame) -> DataFrame:
    """Waits in the minute of handing out, work times in the minute of their end. Each is counted in one batch only."""
    waits = attempts.where("deliveries > 0 AND ready_at_us IS NOT NULL").selectExpr(
        "queue_id", f"{_minute('leased_at_us')} AS minute_us", "false AS work", "leased_at_us - ready_at_us AS us"
    )
    works = attempts.where(f"leased_seq IS NOT NULL AND {ENDED_AT} IS NOT NULL").selectExpr(
        "queue_id", f"{_minute(ENDED_AT)} AS minute_us", "true AS work", f"{ENDED_AT} - leased_at_us AS us"
    )
    both = waits.unionAll(works).withColumn("bucket", fn.expr(bucket("us")))
    return both.groupBy(*_TIMES_KEYS).agg(fn.count("*").alias("n"))


def merged_tally(tallies: DataFrame) -> DataFrame:
    return tallies.groupBy(*_TALLY_KEYS).agg(
        fn.sum("facts").alias("facts"),
        fn.sum("body_bytes").alias("body_bytes"),
        fn.sum("journal_bytes").alias("journal_bytes"),
        fn.max("_batch").alias("_batch"),
    )


def merged_times(times: DataFrame) -> DataFrame:
    return times.groupBy(*_TIMES_KEYS).agg(fn.sum("n").alias("n"), fn.max("_batch").alias("_batch"))


def waits_over(attempts: DataFrame, waiting: DataFrame) -> DataFrame:
    """Waits that ended in this batch: handed out, or void because the message ended. What is parked is never ready."""
    handed = attempts.where("deliveries > 0").selectExpr("queue_id", "parked", "ready_at_us", "leased_at_us AS over_us")
    void = waiting.where("void_at_us IS NOT NULL").selectExpr("queue_id", "parked", "ready_at_us", "void_at_us")
    return handed.unionAll(void).where("NOT coalesce(parked, false) AND ready_at_us IS NOT NULL").drop("parked")


def oldest(waits: DataFrame) -> DataFrame:
    """Stretches of minutes at whose end one message had been ready longest, by queue.

    In the order of getting ready, only a wait that ends later than all before it can ever be the oldest: from when the
    last of those ended until it ends itself. So there are never more stretches than minutes.
    """
    crossing = waits.where(f"ready_at_us DIV {MINUTE_US} < over_us DIV {MINUTE_US}")
    before = Window.partitionBy("queue_id").orderBy("ready_at_us", fn.desc("over_us"))
    latest = fn.max("over_us").over(before.rowsBetween(Window.unboundedPreceding, -1))
    since = crossing.withColumn("since_us", fn.greatest("ready_at_us", latest))
    stretches = since.selectExpr(
        "queue_id",
        f"{_minute('since_us')} AS first_minute",
        f"{_minute('over_us')} - {MINUTE_US} AS last_minute",
        "ready_at_us",
    )
    return stretches.where("first_minute <= last_minute")
