"""One row per message and delivery: the wait before it, the lease, how that ended. Pure: DataFrame in, DataFrame out.

Every fact says which delivery it belongs to, so no order and no window is needed: a row is nothing but least, greatest,
last and sum of what facts add to it. Rows of earlier batches are added to it in the same way. Only numbers are grouped
and compared, so that Spark hashes and never sorts.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from penstock.pipeline import codes

KEYS: Final = ("message_seq", "attempt")

# A release ends one delivery and begins the wait before the next: it is added to both rows.
_ONTO: Final = f"""
    explode(CASE WHEN {codes.RELEASED} THEN array(0, 1) WHEN {codes.WAITS_ANEW} THEN array(1) ELSE array(0) END)
"""
_WAITS: Final = "onto = 1"
_RELEASES: Final = f"({codes.RELEASED} AND onto = 0)"
_COUNTS: Final = f"NOT ({codes.RELEASED} AND onto = 1)"

# column -> what a fact adds to it, on which condition
_ADDED: Final = {
    "published_at_us": ("at_us", codes.PUBLISHED),
    "dialect_code": ("dialect_code", codes.PUBLISHED),
    "priority": ("priority", codes.PUBLISHED),
    "size": ("size", codes.PUBLISHED),
    "parked": ("parked", codes.PUBLISHED),
    "expires_at_us": ("expires_at_us", codes.PUBLISHED),
    "principal_code": ("xxhash64(principal)", f"{codes.PUBLISHED} AND principal IS NOT NULL"),
    "dead_of": ("dead_of", codes.PUBLISHED),
    "ready_seq": ("seq", _WAITS),
    "ready_at_us": ("greatest(due_at_us, at_us)", _WAITS),
    "leased_seq": ("seq", codes.DELIVERED),
    "leased_at_us": ("at_us", codes.DELIVERED),
    "holder": ("holder", codes.DELIVERED),
    "lease_dialect": ("dialect_code", codes.DELIVERED),
    "until_seq": ("seq", codes.MOVES_LEASE),
    "until_us": ("until_us", codes.MOVES_LEASE),
    "released_seq": ("seq", _RELEASES),
    "released_at_us": ("at_us", _RELEASES),
    "released_reason": ("reason_code", _RELEASES),
    "end_seq": ("seq", codes.ENDED),
    "end_at_us": ("at_us", codes.ENDED),
    "end_fact": ("fact_code", codes.ENDED),
    "end_reason": ("reason_code", codes.ENDED),
    "moved": ("1", f"{codes.EXTENDED} AND onto = 0"),
    "dialects": (codes.dialect_bit("dialect_code"), "true"),
    "facts": ("1L", _COUNTS),
    "journal_bytes": ("bigint(journal_bytes)", _COUNTS),
    "deliveries": ("1", codes.DELIVERED),
    "releases": ("1", _RELEASES),
    "failures": ("1", f"failure AND {_COUNTS}"),
    "extensions": ("1", codes.EXTENDED),
    "ends": ("1", codes.ENDED),
}
# Of this batch alone: what earlier batches had counted is not counted again.
FRESH: Final = ("facts", "journal_bytes", "deliveries", "releases", "failures", "extensions", "ends")
# The last one said holds.
_LAST: Final = {"ready_at_us": "ready_seq", "until_us": "until_seq"}

CLOSED: Final = "closed"  # a delivery that is over
LEASED: Final = "leased"  # one that is not
WAITING: Final = "waiting"  # none yet
ECHO: Final = "echo"  # of an end that came while no lease was open: nothing but the life's end
_STATE: Final = f"""
    CASE WHEN leased_seq IS NOT NULL AND (released_seq IS NOT NULL OR end_seq IS NOT NULL) THEN '{CLOSED}'
         WHEN leased_seq IS NOT NULL THEN '{LEASED}'
         WHEN ready_seq IS NOT NULL THEN '{WAITING}'
         ELSE '{ECHO}' END
"""
ENDED_AT: Final = "coalesce(released_at_us, end_at_us)"
# The message ended while it waited: what waits for its next delivery waits no longer.
_ENDED_WAITING: Final = "end_seq IS NOT NULL AND (leased_seq IS NULL OR released_seq IS NOT NULL)"


def attempts(facts: DataFrame, earlier: DataFrame | None) -> DataFrame:
    """Of sound facts, and of what was open before them. With `state`."""
    added = _added(facts)
    if earlier is not None:
        added = added.unionByName(_carried(earlier, added.columns))
    return merged(added).withColumn("state", fn.expr(_STATE))


def _added(facts: DataFrame) -> DataFrame:
    rows = facts.where(codes.OF_MESSAGE).withColumn("onto", fn.expr(_ONTO))
    columns = [f"if({on}, {value}, NULL) AS {name}" for name, (value, on) in _ADDED.items()]
    return rows.selectExpr("message_seq", "int(attempt + onto) AS attempt", "queue_id", "segment", *columns)


def _carried(earlier: DataFrame, columns: list[str]) -> DataFrame:
    return earlier.selectExpr(*[f"NULL AS {name}" if name in FRESH else name for name in columns])


def merged(rows: DataFrame) -> DataFrame:
    return rows.groupBy(*KEYS).agg(*[_merge(name).alias(name) for name in rows.columns if name not in KEYS])


def _merge(name: str) -> Column:
    if name in _LAST:
        return fn.max_by(name, _LAST[name])
    if name in FRESH or name == "moved":
        return fn.coalesce(fn.sum(name), fn.lit(0))
    return fn.bit_or(name) if name == "dialects" else fn.max(name)


def still_waiting(waiting: DataFrame, others: DataFrame) -> DataFrame:
    """What waits, with `void_at_us`: null, or when its message ended. `others`: the batch's closed and echo rows."""
    ended = others.where(_ENDED_WAITING).selectExpr("message_seq", "attempt + 1 AS attempt", "end_at_us AS void_at_us")
    return waiting.join(ended, list(KEYS), "left")
