"""The pipeline's tables made by DuckDB, in its own way, from the same archive: silver and gold, as Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import duckdb

MINUTE_US: Final = 60_000_000

_BUCKET: Final = "if({0} >= 1, floor(ln({0}) * 20)::int, -1)"

# An attempt is the least and greatest of what its facts say; a release is of two: it ends one and begins the next.
_ATTEMPTS: Final = """
CREATE OR REPLACE TABLE attempts AS
SELECT message_seq, attempt + onto AS attempt, max(queue_id) AS queue_id,
    max(dialect_code) FILTER (fact = 'published') AS published_dialect,
    max(dialect_code) FILTER (delivered) AS dialect,
    max(holder) FILTER (delivered) AS holder,
    max(at_us) FILTER (fact = 'published') AS published_at_us,
    max(expires_at_us) FILTER (fact = 'published') AS expires_at_us,
    max(priority) FILTER (fact = 'published') AS priority,
    bool_or(parked) FILTER (fact = 'published') AS parked,
    max(hash(principal)) FILTER (principal IS NOT NULL) AS principal,
    max(dead_of) FILTER (fact = 'published') AS dead_of,
    max(size) FILTER (fact = 'published') AS size,
    arg_max(greatest(due_at_us, at_us), seq) FILTER (onto = 1) AS ready_at_us,
    max(at_us) FILTER (delivered) AS leased_at_us,
    arg_max(until_us, seq) FILTER (fact = 'leased' OR (fact = 'extended' AND due_at_us IS NULL)) AS until_us,
    max(at_us) FILTER (fact = 'released' AND onto = 0) AS released_at_us,
    max(reason_code) FILTER (fact = 'released' AND onto = 0) AS released_reason,
    max(at_us) FILTER (ended) AS end_at_us,
    max(fact_code) FILTER (ended) AS end_fact,
    max(reason_code) FILTER (ended) AS end_reason,
    bit_or(1::bigint << least(dialect_code, 62)::int) AS dialects,
    count(*) FILTER (fact != 'released' OR onto = 0) AS facts,
    sum(journal_bytes) FILTER (fact != 'released' OR onto = 0) AS journal_bytes,
    count(*) FILTER (fact = 'released' AND onto = 0) AS releases,
    count(*) FILTER (failure AND (fact != 'released' OR onto = 0)) AS failures,
    count(*) FILTER (fact = 'extended') AS extensions
FROM (
    SELECT *, fact = 'leased' OR reason = 'taken' AS delivered,
        fact IN ('finished', 'dropped', 'expired', 'deleted') AS ended,
        unnest(CASE WHEN fact = 'released' THEN [0, 1]
            WHEN fact = 'published' OR (fact = 'extended' AND due_at_us IS NOT NULL) THEN [1] ELSE [0] END) AS onto
    FROM facts WHERE message_seq > 0
)
GROUP BY ALL
"""
_LIVES: Final = """
CREATE OR REPLACE TABLE lives AS
SELECT message_seq, max(queue_id) AS queue_id, max(published_dialect) AS dialect,
    max(published_at_us) AS published_at_us,
    max(expires_at_us) AS expires_at_us, max(priority) AS priority, bool_or(parked) AS parked, max(size) AS size,
    max(principal) AS principal, max(dead_of) AS dead_of,
    max(ready_at_us) FILTER (published_at_us IS NOT NULL) AS first_ready_at_us,
    min(leased_at_us) AS first_leased_at_us, max(leased_at_us) AS last_leased_at_us,
    max(end_at_us) AS ended_at_us, max(end_fact) AS end_fact, max(end_reason) AS end_reason,
    count(leased_at_us) AS deliveries, sum(releases) AS retries, sum(failures) AS failures,
    sum(extensions) AS extensions,
    sum(leased_at_us - ready_at_us) AS wait_us,
    sum(coalesce(released_at_us, end_at_us) - leased_at_us) AS work_us,
    bit_or(dialects) AS dialects, sum(facts) AS facts, sum(journal_bytes) AS journal_bytes
FROM attempts GROUP BY message_seq
"""
_TALLY: Final = f"""
CREATE OR REPLACE TABLE tally AS
SELECT queue_id, dialect_code, at_us // {MINUTE_US} * {MINUTE_US} AS minute_us,
    count(*) FILTER (fact = 'published') AS published,
    count(*) FILTER (fact = 'leased' OR reason = 'taken') AS delivered,
    count(*) FILTER ((fact = 'leased' OR reason = 'taken') AND attempt > 1) AS again,
    count(*) FILTER (fact = 'finished') AS finished, count(*) FILTER (fact = 'released') AS retried,
    count(*) FILTER (failure) AS failed, count(*) FILTER (fact = 'dropped') AS dropped,
    count(*) FILTER (fact = 'expired') AS expired, count(*) FILTER (fact = 'deleted') AS deleted,
    sum(size) AS body_bytes, sum(journal_bytes) AS journal_bytes, count(*) AS facts
FROM facts WHERE queue_id > 0 GROUP BY ALL
"""
_TIMES: Final = f"""
CREATE OR REPLACE TABLE times AS
SELECT queue_id, minute_us, work, {_BUCKET.format("us")} AS bucket, count(*) AS n
FROM (
    SELECT queue_id, leased_at_us // {MINUTE_US} * {MINUTE_US} AS minute_us, false AS work,
        leased_at_us - ready_at_us AS us FROM attempts WHERE leased_at_us IS NOT NULL AND ready_at_us IS NOT NULL
    UNION ALL
    SELECT queue_id, coalesce(released_at_us, end_at_us) // {MINUTE_US} * {MINUTE_US}, true,
        coalesce(released_at_us, end_at_us) - leased_at_us FROM attempts
    WHERE leased_at_us IS NOT NULL AND coalesce(released_at_us, end_at_us) IS NOT NULL
)
GROUP BY ALL
"""
_OLDEST: Final = f"""
CREATE OR REPLACE TABLE oldest AS
SELECT queue_id, ready_at_us, greatest(ready_at_us, latest) // {MINUTE_US} AS first_minute,
    leased_at_us // {MINUTE_US} - 1 AS last_minute
FROM (
    SELECT *, max(leased_at_us) OVER (
        PARTITION BY queue_id ORDER BY ready_at_us ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS latest
    FROM attempts WHERE ready_at_us // {MINUTE_US} < leased_at_us // {MINUTE_US}
)
"""
_MINUTES: Final = f"""
CREATE OR REPLACE TABLE queue_minute AS
SELECT *, sum(published - finished - dropped - expired - deleted) OVER (PARTITION BY queue_id ORDER BY minute_us)
    AS backlog
FROM (SELECT queue_id, minute_us, sum(COLUMNS(* EXCLUDE (queue_id, dialect_code, minute_us))) FROM tally GROUP BY ALL)
LEFT JOIN (
    SELECT queue_id, minute_us, map_from_entries(list((bucket, n)) FILTER (NOT work)) AS wait_histogram,
        map_from_entries(list((bucket, n)) FILTER (work)) AS work_histogram
    FROM times GROUP BY ALL
) USING (queue_id, minute_us)
LEFT JOIN (
    SELECT queue_id, minute * {MINUTE_US} AS minute_us, min(ready_at_us) AS oldest_ready_at_us
    FROM (SELECT queue_id, ready_at_us, unnest(range(first_minute, last_minute + 1)) AS minute FROM oldest) GROUP BY ALL
) USING (queue_id, minute_us)
"""
_COST: Final = """
CREATE OR REPLACE TABLE cost AS
SELECT queue_id, dialect_code, make_timestamp(minute_us)::date AS date, sum(published) AS messages,
    sum(body_bytes) AS body_bytes, sum(delivered) AS deliveries, sum(again) AS redeliveries, sum(facts) AS facts,
    sum(journal_bytes) AS journal_bytes
FROM tally GROUP BY ALL
"""
_HOLDERS: Final = """
CREATE OR REPLACE TABLE holders AS
SELECT queue_id, holder, count(*) AS delivered, count(*) FILTER (end_fact = 9 AND released_at_us IS NULL) AS finished,
    min(leased_at_us) AS first_at_us, max(leased_at_us) AS last_at_us
FROM attempts WHERE holder != 0 GROUP BY ALL
"""
_STEPS: Final = (_ATTEMPTS, _LIVES, _TALLY, _TIMES, _OLDEST, _MINUTES, _COST, _HOLDERS)
_KEPT: Final = ("attempts", "lives", "queue_minute", "cost", "holders")


def build(archive: Path, made: Path, threads: int, memory: str) -> None:
    """Every table, into a directory."""
    made.mkdir(parents=True)
    with duckdb.connect(config={"threads": threads, "memory_limit": memory}) as duck:
        duck.execute(f"CREATE VIEW facts AS SELECT * FROM read_parquet('{archive}/*/*.parquet')")
        for step in _STEPS:
            duck.execute(step)
        for table in _KEPT:
            duck.execute(f"COPY {table} TO '{made / table}.parquet' (COMPRESSION zstd)")


def totals(made: Path) -> tuple[int, int, int]:
    """Lives, deliveries, and the work they took: what both sides must agree on."""
    with duckdb.connect() as duck:
        asked = f"SELECT count(*), sum(deliveries)::bigint, sum(work_us)::bigint FROM '{made}/lives.parquet'"
        (found,) = duck.execute(asked).fetchall()
    return found[0], found[1], found[2]
