"""What a report lists: what failed, what is stuck, the slowest messages and their deliveries. Of the queues `told`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

from pyspark.sql import SparkSession

from penstock.pipeline.report.numbers import Attempt, Failing, Slow, Span, Stuck

SLOWEST: Final = 12
SLOWEST_EACH: Final = 4  # of a queue: one slow queue must not hide the others
STUCK_MOST: Final = 200


def tried(spark: SparkSession, span: Span) -> list[Any]:
    return spark.sql(
        f"""
        SELECT queue, dialect, count(*) AS messages, sum(retries) AS retries, count_if(outcome = 'dropped') AS dropped
        FROM silver.lives LEFT SEMI JOIN told USING (queue_id)
        WHERE {_published_within(span)}
        GROUP BY queue, dialect
        """
    ).collect()


def failing(rows: Sequence[Any], by: str) -> list[Failing]:
    """Added up by queue or by dialect, the worst first."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in rows:
        known = sums[row[by] or ""]
        for place, count in enumerate((row["messages"], row["retries"], row["dropped"])):
            known[place] += count
    found = [Failing(name, *counts) for name, counts in sums.items()]
    return sorted(found, key=lambda row: (-row.retries - row.dropped, row.name))


def stuck(spark: SparkSession) -> list[Stuck]:
    rows = spark.sql(
        f"""
        SELECT kind, queue, message_seq, holder, since_us, age_us, usual_us, deliveries
        FROM gold.stuck LEFT SEMI JOIN told USING (queue_id) ORDER BY age_us DESC LIMIT {STUCK_MOST}
        """
    ).collect()
    return [Stuck(*[row[0], row[1] or "", *row[2:]]) for row in rows]


def slowest(spark: SparkSession, span: Span) -> list[Slow]:
    lives = spark.sql(
        f"""
        SELECT message_seq, queue, dialect, outcome, published_at_us, ended_at_us
        FROM (
            SELECT *, row_number() OVER (PARTITION BY queue_id ORDER BY life_us DESC, message_seq) AS place
            FROM silver.lives LEFT SEMI JOIN told USING (queue_id)
            WHERE {_published_within(span)} AND outcome IN ('finished', 'dropped', 'expired')
        )
        WHERE place <= {SLOWEST_EACH}
        ORDER BY life_us DESC, message_seq LIMIT {SLOWEST}
        """
    ).collect()
    attempts = _attempts(spark, [row.message_seq for row in lives])
    return [
        Slow(
            row.message_seq,
            row.queue or "",
            row.dialect,
            row.outcome,
            row.published_at_us,
            row.ended_at_us,
            attempts[row.message_seq],
        )
        for row in lives
    ]


def _attempts(spark: SparkSession, messages: Sequence[int]) -> dict[int, list[Attempt]]:
    found: dict[int, list[Attempt]] = defaultdict(list)
    if not messages:
        return found
    rows = spark.sql(
        f"""
        SELECT message_seq, ready_at_us, leased_at_us, ended_at_us, ended, reason, dialect, holder
        FROM silver.attempts WHERE message_seq IN ({", ".join(map(str, messages))}) AND leased_at_us IS NOT NULL
        ORDER BY message_seq, attempt
        """
    ).collect()
    for row in rows:
        ready_us = row.leased_at_us if row.ready_at_us is None else row.ready_at_us
        end = (row.ended_at_us, row.ended or "", row.reason or "")
        found[row.message_seq].append(Attempt(ready_us, row.leased_at_us, *end, row.dialect, row.holder or 0))
    return found


def _published_within(span: Span) -> str:
    return f"published_at_us >= {span.from_us} AND published_at_us < {span.to_us}"
