"""One row per message: its life, as the rows of its deliveries add up to it. Pure: DataFrame in, DataFrame out."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from penstock.pipeline import codes
from penstock.pipeline.attempts import ENDED_AT

KEY: Final = "message_seq"

_FIRST: Final = "published_at_us IS NOT NULL"  # the row that the publish is in
# column -> what a row of attempts adds to it
_ADDED: Final = {
    "queue_id": "queue_id",
    "published_at_us": "published_at_us",
    "dialect_code": "dialect_code",
    "priority": "priority",
    "size": "size",
    "parked": "parked",
    "expires_at_us": "expires_at_us",
    "principal_code": "principal_code",
    "dead_of": "dead_of",
    "dead_letter": "bigint(NULL)",
    "first_ready_seq": f"if({_FIRST}, ready_seq, NULL)",
    "first_ready_at_us": f"if({_FIRST}, ready_at_us, NULL)",
    "first_leased_at_us": "leased_at_us",
    "last_leased_at_us": "leased_at_us",
    "end_at_us": "end_at_us",
    "end_fact": "end_fact",
    "end_reason": "end_reason",
    "wait_us": "if(deliveries > 0, leased_at_us - ready_at_us, 0)",
    "work_us": f"if(leased_seq IS NOT NULL, {ENDED_AT} - leased_at_us, 0)",
    "dialects": "dialects",
    "facts": "facts",
    "journal_bytes": "journal_bytes",
    "deliveries": "deliveries",
    "releases": "releases",
    "failures": "failures",
    "extensions": "extensions",
    "ends": "ends",
    "_segment": "segment",
}
# Of a message that only its dead letter tells of there is nothing to say.
_KNOWN: Final = "queue_id IS NOT NULL"
_SUMS: Final = {
    *("wait_us", "work_us", "facts", "journal_bytes", "deliveries", "releases", "failures", "extensions", "ends")
}
_MERGES: Final = {
    "first_ready_at_us": lambda: fn.max_by("first_ready_at_us", "first_ready_seq"),
    "first_leased_at_us": lambda: fn.min("first_leased_at_us"),
    "dialects": lambda: fn.bit_or("dialects"),
}


def lives(attempts: DataFrame, earlier: DataFrame | None, facts: DataFrame) -> DataFrame:
    """Of all rows of a batch, of the lives that were open before it, and of its facts, which tell of dead letters."""
    added = attempts.selectExpr(KEY, *[f"{value} AS {name}" for name, value in _ADDED.items()])
    added = added.unionByName(_dead_letters(facts), allowMissingColumns=True)
    if earlier is not None:
        added = added.unionByName(earlier.select(added.columns))
    return merged(added).where(_KNOWN)


def _dead_letters(facts: DataFrame) -> DataFrame:
    letters = facts.where(f"{codes.PUBLISHED} AND dead_of IS NOT NULL")
    return letters.selectExpr(f"dead_of AS {KEY}", "message_seq AS dead_letter")


def merged(rows: DataFrame) -> DataFrame:
    return rows.groupBy(KEY).agg(*[_merge(name).alias(name) for name in rows.columns if name != KEY])


def _merge(name: str) -> Column:
    if name in _MERGES:
        return _MERGES[name]()
    return fn.coalesce(fn.sum(name), fn.lit(0)) if name in _SUMS else fn.max(name)
