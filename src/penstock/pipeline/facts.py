"""Facts as the archive has them: which columns the tables need, and the laws that a fact keeps or breaks by itself."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from penstock.model.facts import FACT_NAMES
from penstock.pipeline import codes
from penstock.pipeline.schema import QUARANTINE

# law -> what breaks it. The first that is broken is the one that is told.
LAWS: Final = {
    "a known kind of fact": f"fact_code NOT IN ({', '.join(str(int(code)) for code in FACT_NAMES)})",
    "it happened at some time": "at_us <= 0",
    "a fact about a message names it": f"{codes.OF_MESSAGE} AND message_seq <= 0",
    "a fact about a queue names it": f"{codes.OF_QUEUE} AND (queue_id <= 0 OR queue IS NULL)",
    "what waits has a due time": f"({codes.PUBLISHED} OR {codes.RELEASED}) AND due_at_us IS NULL",
    "a lease is a delivery": f"({codes.DELIVERED} OR {codes.RELEASED}) AND attempt < 1",
    "nothing is counted below zero": "attempt < 0 OR size < 0 OR journal_bytes < 0",
}

# All that the tables need of a fact. Keys and bodies stay where they are.
NARROW: Final = (
    *("seq", "at_us", "fact_code", "message_seq", "queue_id", "queue", "dialect_code", "reason_code", "attempt"),
    *("due_at_us", "until_us", "expires_at_us", "priority", "parked", "failure", "size", "holder", "principal"),
    *("dead_of", "journal_bytes", "segment"),
)


def checked(facts: DataFrame) -> DataFrame:
    """The facts with `broken`: null, or the law that is broken."""
    cases = " ".join(f"WHEN {broken} THEN '{law}'" for law, broken in LAWS.items())
    return facts.withColumn("broken", fn.expr(f"CASE {cases} END"))


def sound(facts: DataFrame) -> DataFrame:
    return checked(facts).where("broken IS NULL").drop("broken")


def quarantined(facts: DataFrame, batch: int, run: str) -> DataFrame:
    """What breaks a law, whole."""
    found = checked(facts).where("broken IS NOT NULL").withColumnRenamed("segment", "_segment")
    found = found.withColumns({"_batch": fn.lit(batch), "_run": fn.lit(run)})
    return found.select([column.name for column in QUARANTINE.columns])
