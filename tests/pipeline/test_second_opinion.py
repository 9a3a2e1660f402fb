"""DuckDB reads the same archive, asks in its own way with windows over each message's facts, and finds the same."""

from __future__ import annotations

import duckdb
import pytest

from tests.pipeline.house import House

DELIVERED = "(fact = 'leased' OR reason = 'taken')"
STEPS = f"""
    SELECT *,
        last_value(if(due_at_us IS NULL, NULL, greatest(due_at_us, at_us)) IGNORE NULLS) OVER (
            PARTITION BY message_seq ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS ready_at_us,
        first_value(if({DELIVERED}, NULL, if(fact = 'extended', NULL, at_us)) IGNORE NULLS) OVER (
            PARTITION BY message_seq ORDER BY seq ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        ) AS over_at_us
    FROM facts WHERE message_seq > 0
"""
QUESTIONS = {
    "SELECT message_seq, attempt, ready_at_us, leased_at_us, ended_at_us FROM silver.attempts": f"""
        SELECT message_seq, attempt, ready_at_us, at_us, if(reason = 'taken', at_us, over_at_us)
        FROM ({STEPS}) WHERE {DELIVERED}
    """,
    "SELECT message_seq, outcome, ended_at_us, facts, journal_bytes, retries, failures FROM silver.lives": """
        SELECT message_seq,
            coalesce(max(fact) FILTER (fact IN ('finished', 'dropped', 'expired', 'deleted')), 'open'),
            max(at_us) FILTER (fact IN ('finished', 'dropped', 'expired', 'deleted')),
            count(*), sum(journal_bytes), count(*) FILTER (fact = 'released'), count(*) FILTER (failure)
        FROM facts WHERE message_seq > 0 GROUP BY message_seq
    """,
    "SELECT queue, minute_us, published, delivered, backlog FROM gold.queue_minute WHERE published > 0": f"""
        SELECT queue, minute_us, published, delivered, backlog FROM (
            SELECT queue, at_us // 60000000 * 60000000 AS minute_us,
                count(*) FILTER (fact = 'published') AS published,
                count(*) FILTER ({DELIVERED}) AS delivered,
                sum(count(*) FILTER (fact = 'published')
                    - count(*) FILTER (fact IN ('finished', 'dropped', 'expired', 'deleted'))
                ) OVER (PARTITION BY queue ORDER BY at_us // 60000000 * 60000000) AS backlog
            FROM facts WHERE queue IS NOT NULL GROUP BY queue, at_us // 60000000 * 60000000
        ) WHERE published > 0
    """,
    "SELECT queue, dialect, sum(journal_bytes), sum(deliveries) FROM gold.cost GROUP BY ALL": f"""
        SELECT queue, dialect, sum(journal_bytes), count(*) FILTER ({DELIVERED})
        FROM facts WHERE queue IS NOT NULL GROUP BY queue, dialect
    """,
}


@pytest.fixture(scope="module")
def duck(told_house: House) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW facts AS SELECT * FROM read_parquet('{told_house.archive}/*/*.parquet')")
    return connection


@pytest.mark.parametrize("question", QUESTIONS)
def test_duckdb_finds_the_same(told_house: House, duck: duckdb.DuckDBPyConnection, question: str) -> None:
    theirs = sorted(duck.execute(QUESTIONS[question]).fetchall(), key=repr)
    ours = sorted((tuple(row.values()) for row in told_house.rows(question)), key=repr)
    assert len(ours) > 10 or "cost" in question
    assert ours == theirs


def test_the_tables_files_are_plain_parquet(told_house: House, duck: duckdb.DuckDBPyConnection) -> None:
    parts = [str(told_house.lake.root / part.path / "*.parquet") for part in told_house.lake.manifest().parts["lives"]]
    (count,) = duck.execute("SELECT count(*) FROM read_parquet(?)", [parts]).fetchall()[0]
    assert count == len(told_house.rows("SELECT 1 FROM silver.lives WHERE outcome != 'open'"))
