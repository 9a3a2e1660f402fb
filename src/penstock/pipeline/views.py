"""The tables that people ask, as SQL over the parts below them: names for codes, sums over batches, what was when.

Parts are tables of the database `lake`. It must not know Spark: these are texts.
"""

from __future__ import annotations

import re
from typing import Final

from penstock.model import facts
from penstock.model.limits import DAY_US
from penstock.pipeline import codes, schema
from penstock.pipeline.histogram import percentile
from penstock.pipeline.schema import MINUTE_US

FAR: Final = 10
LEASE_LEAST_US: Final = 60_000_000
WAIT_LEAST_US: Final = 300_000_000
HOLDER_LEAST: Final = 3  # deliveries

_DAY: Final = "date(timestamp_micros({}))"
_RELEASED: Final = facts.FACT_NAMES[facts.RELEASED]

_FACTS: Final = f"""
SELECT facts.*, {_DAY.format("at_us")} AS date, segment AS _segment, _batch, _run
FROM (SELECT * FROM lake.facts UNION ALL SELECT * FROM lake.archive) AS facts
JOIN (SELECT segment, _batch, _run FROM lake.segments) USING (segment)
LEFT ANTI JOIN lake.quarantine USING (seq)
"""

_QUEUES: Final = """
SELECT code AS queue_id, name AS queue, max(declared_at_us) AS declared_at_us, max(removed_at_us) AS removed_at_us
FROM lake.names WHERE kind = 'queue' GROUP BY code, name
"""
_PRINCIPALS: Final = """
SELECT DISTINCT code AS principal_code, name AS principal FROM lake.names WHERE kind = 'principal'
"""

_LIVES: Final = f"""
SELECT
    lives.* EXCEPT (dialects),
    queue,
    principal,
    if(end_fact IS NULL, 'open', {codes.fact_word("end_fact")}) AS outcome,
    {codes.reason_word("end_reason")} AS reason,
    end_at_us AS ended_at_us,
    end_at_us - published_at_us AS life_us,
    releases AS retries,
    {codes.dialect_word("dialect_code")} AS dialect,
    {codes.dialect_words("dialects")} AS dialects,
    {_DAY.format("coalesce(published_at_us, end_at_us)")} AS date
FROM (SELECT * FROM lake.lives UNION ALL SELECT * FROM lake.open_lives) AS lives
LEFT JOIN silver.queues USING (queue_id)
LEFT JOIN ({_PRINCIPALS}) USING (principal_code)
"""

_ATTEMPTS: Final = f"""
SELECT
    attempts.* EXCEPT (extensions),
    queue,
    moved AS extensions,
    {codes.dialect_word("lease_dialect")} AS dialect,
    coalesce(released_at_us, end_at_us) AS ended_at_us,
    if(released_at_us IS NULL, {codes.fact_word("end_fact")}, '{_RELEASED}') AS ended,
    {codes.reason_word("coalesce(released_reason, end_reason)")} AS reason,
    leased_at_us - ready_at_us AS wait_us,
    coalesce(released_at_us, end_at_us) - leased_at_us AS work_us,
    {_DAY.format("leased_at_us")} AS date,
    segment AS _segment
FROM (SELECT * FROM lake.attempts UNION ALL SELECT * FROM lake.leased) AS attempts
LEFT JOIN silver.queues USING (queue_id)
"""


def _histogram(of: str) -> str:
    """Null where there is nothing in it."""
    entries = f"array_sort(collect_list(struct(bucket, n)) FILTER (WHERE {of}))"
    return f"if(bool_or({of}), map_from_entries({entries}), NULL)"


_PERCENTILES: Final = ", ".join(
    f"{percentile(f'{kind}_histogram', f'{p / 100}D')} AS {kind}_p{p}_us"
    for kind in ("wait", "work")
    for p in (50, 95, 99)
)
_ENDED: Final = " + ".join(codes.ENDS)
_COUNTED: Final = ", ".join(f"coalesce({name}, 0L) AS {name}" for name in (*codes.COUNTS, "published_bytes"))

# What waits still has waited up to now.
_READY: Final = "NOT coalesce(parked, false) AND ready_at_us <= now_us"
_OLDEST_NOW: Final = f"""
SELECT queue_id, min(ready_at_us) DIV {MINUTE_US} * {MINUTE_US} AS first_minute,
    now_us DIV {MINUTE_US} * {MINUTE_US} AS last_minute, min(ready_at_us) AS ready_at_us, max(_batch) AS _batch
FROM lake.waiting CROSS JOIN lake.moment WHERE {_READY} GROUP BY queue_id, now_us
"""

_QUEUE_MINUTE: Final = f"""
WITH counted AS (
    SELECT queue_id, minute_us, {codes.counts("facts")}, sum(body_bytes) AS published_bytes, max(_batch) AS _batch
    FROM lake.tally WHERE queue_id > 0 GROUP BY queue_id, minute_us
), timed AS (
    SELECT queue_id, minute_us,
        {_histogram("NOT work")} AS wait_histogram,
        {_histogram("work")} AS work_histogram
    FROM (SELECT queue_id, minute_us, work, bucket, sum(n) AS n FROM lake.times GROUP BY ALL)
    GROUP BY queue_id, minute_us
), waited AS (
    SELECT queue_id, minute_us, min(ready_at_us) AS oldest_ready_at_us, max(_batch) AS waited_batch
    FROM (
        SELECT queue_id, ready_at_us, _batch, explode(sequence(first_minute, last_minute, {MINUTE_US}L)) AS minute_us
        FROM (SELECT * FROM lake.oldest UNION ALL ({_OLDEST_NOW}))
    )
    GROUP BY queue_id, minute_us
)
SELECT
    queue_id, queue, timestamp_micros(minute_us) AS minute, minute_us, {_COUNTED}, {_PERCENTILES},
    wait_histogram, work_histogram,
    sum(coalesce(published - ({_ENDED}), 0L)) OVER (PARTITION BY queue_id ORDER BY minute_us) AS backlog,
    least(minute_us + {MINUTE_US} - 1, now_us) - oldest_ready_at_us AS oldest_ready_age_us,
    greatest(_batch, waited_batch) AS _batch
FROM counted FULL JOIN waited USING (queue_id, minute_us)
LEFT JOIN timed USING (queue_id, minute_us)
LEFT JOIN silver.queues USING (queue_id)
CROSS JOIN lake.moment
"""

# Beyond ten times what 19 of 20 take, and never less than a minute for a lease, five for a wait.
_BEYOND: Final = f"age_us > if(work, {LEASE_LEAST_US}L, {WAIT_LEAST_US}L) AND age_us > coalesce(usual_us, 0L) * {FAR}"
_STUCK: Final = f"""
WITH usual AS (
    SELECT queue_id, work, {percentile("histogram", "0.95D")} AS usual_us
    FROM (
        SELECT queue_id, work, map_from_entries(collect_list(struct(bucket, n))) AS histogram
        FROM (SELECT queue_id, work, bucket, sum(n) AS n FROM lake.times GROUP BY ALL) GROUP BY ALL
    )
), slow AS (
    SELECT 'lease' AS kind, true AS work, queue_id, message_seq, nullif(holder, 0L) AS holder,
        leased_at_us AS since_us, now_us - leased_at_us AS age_us, bigint(attempt) AS deliveries
    FROM lake.leased CROSS JOIN lake.moment
    UNION ALL
    SELECT 'queue', false, queue_id, min_by(message_seq, ready_at_us), NULL,
        min(ready_at_us), now_us - min(ready_at_us), NULL
    FROM lake.waiting CROSS JOIN lake.moment WHERE {_READY} GROUP BY queue_id, now_us
), idle AS (
    SELECT queue_id, holder, sum(delivered) AS deliveries, sum(finished) AS finished,
        min(first_at_us) AS since_us, max(last_at_us) AS last_at_us
    FROM lake.holders GROUP BY queue_id, holder
), found AS (
    SELECT kind, queue_id, message_seq, holder, since_us, age_us, usual_us, deliveries
    FROM slow LEFT JOIN usual USING (queue_id, work) WHERE {_BEYOND}
    UNION ALL
    SELECT 'holder', queue_id, NULL, holder, since_us, now_us - since_us, NULL, deliveries
    FROM idle CROSS JOIN lake.moment
    WHERE finished = 0 AND deliveries >= {HOLDER_LEAST} AND last_at_us > now_us - {int(DAY_US)}L
)
SELECT * FROM found LEFT JOIN silver.queues USING (queue_id)
"""

_COST: Final = f"""
SELECT *, redeliveries / nullif(deliveries, 0L) AS retries_share
FROM (
    SELECT
        {_DAY.format("minute_us")} AS date, queue_id, queue, {codes.dialect_word("dialect_code")} AS dialect,
        sum(if({codes.PUBLISHED}, facts, 0L)) AS messages,
        sum(body_bytes) AS body_bytes,
        sum(if({codes.DELIVERED}, facts, 0L)) AS deliveries,
        sum(if(again, facts, 0L)) AS redeliveries,
        sum(facts) AS facts,
        sum(journal_bytes) AS journal_bytes,
        max(_batch) AS _batch
    FROM lake.tally LEFT JOIN silver.queues USING (queue_id)
    WHERE queue_id > 0
    GROUP BY date, queue_id, queue, dialect_code
)
"""

_THEN_US: Final = (
    "(SELECT then_us FROM lake.moment)"  # a subquery of one row becomes a literal, and files are passed over
)

# The last fact that a message has by then says where it is; nothing but time makes a delayed one ready.
_MESSAGES_THEN: Final = f"""
SELECT
    * EXCEPT (until_us),
    CASE WHEN leased THEN 'leased' WHEN due_at_us > {_THEN_US} THEN 'delayed' WHEN parked THEN 'parked' ELSE 'ready' END
        AS place,
    if(leased, until_us, NULL) AS until_us
FROM (
    SELECT
        message_seq, queue_id, queue,
        max(attempt) AS deliveries,
        max_by({codes.MOVES_LEASE}, seq) AS leased,
        max_by({codes.ENDED}, seq) AS ended,
        bool_or({codes.PUBLISHED}) AS published,
        max_by(due_at_us, if(due_at_us IS NULL, NULL, seq)) AS due_at_us,
        max_by(until_us, if({codes.MOVES_LEASE}, seq, NULL)) AS until_us,
        max(parked) AS parked,
        max(size) AS size
    FROM bronze.facts WHERE {codes.OF_MESSAGE} AND at_us <= {_THEN_US}
    GROUP BY message_seq, queue_id, queue
)
WHERE NOT ended AND published
"""

_PLACED: Final = ", ".join(f"count_if(place = '{place}') AS {place}" for place in schema.PLACES)
_THEN: Final = ", ".join(f"coalesce({name}, 0L) AS {name}" for name in (*codes.COUNTS, *schema.PLACES, "body_bytes"))
_MINUTE_THEN: Final = f"{_THEN_US} DIV {MINUTE_US} * {MINUTE_US}"
# Whole minutes from their counts, the rest from facts.
_QUEUES_THEN: Final = f"""
SELECT queue_id, queue, {_THEN}
FROM (
    SELECT queue_id, {codes.counts("facts")}
    FROM (
        SELECT queue_id, fact_code, reason_code, failure, facts FROM lake.tally WHERE minute_us < {_MINUTE_THEN}
        UNION ALL
        SELECT queue_id, fact_code, reason_code, failure, 1L
        FROM bronze.facts WHERE at_us >= {_MINUTE_THEN} AND at_us <= {_THEN_US}
    )
    WHERE queue_id > 0 GROUP BY queue_id
)
LEFT JOIN (
    SELECT queue_id, {_PLACED}, sum(size) AS body_bytes FROM asof.messages GROUP BY queue_id
) USING (queue_id)
JOIN silver.queues USING (queue_id)
WHERE removed_at_us IS NULL OR removed_at_us > {_THEN_US}
"""

# In this order: a view knows those before it.
_SELECTS: Final = {
    schema.SEGMENTS: "SELECT * FROM lake.segments",
    schema.FACTS: _FACTS,
    schema.QUARANTINE: "SELECT * FROM lake.quarantine",
    schema.QUEUES: _QUEUES,
    schema.LIVES: _LIVES,
    schema.ATTEMPTS: _ATTEMPTS,
    schema.QUEUE_MINUTE: _QUEUE_MINUTE,
    schema.STUCK: _STUCK,
    schema.COST: _COST,
    schema.MESSAGES_THEN: _MESSAGES_THEN,
    schema.QUEUES_THEN: _QUEUES_THEN,
}


def _view(table: schema.Table, select: str) -> str:
    """Exactly the columns of the table, in their order and of their types."""
    columns = ", ".join(f"cast({column.name} AS {column.type}) AS {column.name}" for column in table.columns)
    return f"CREATE OR REPLACE VIEW {table.name} AS SELECT {columns} FROM ({select})"


# name -> the statement that makes it
VIEWS: Final = {table.name: _view(table, select) for table, select in _SELECTS.items()}

_NAMED: Final = re.compile(r"`?\b(lake|bronze|silver|gold|asof)`?\s*\.\s*`?(\w+)", re.IGNORECASE)


def named(text: str) -> set[str]:
    """The tables that a text speaks of, and those that they are made from. One that is meant is never left out."""
    found = {f"{database}.{table}".lower() for database, table in _NAMED.findall(text)}
    return found.union(*[_BELOW[name] for name in found if name in _BELOW])


# view -> what it is made from; those before it are known
_BELOW: Final[dict[str, set[str]]] = {}
for _table, _select in _SELECTS.items():
    _BELOW[_table.name] = named(_select)
