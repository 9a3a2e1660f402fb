"""Names beside numbers: queues and principals, as facts tell of them. Pure: DataFrame in, DataFrame out."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from penstock.model.facts import DECLARED, REMOVED

QUEUE: Final = "queue"
PRINCIPAL: Final = "principal"
_AS_QUEUE: Final = f"""
    named_struct('kind', '{QUEUE}', 'code', queue_id, 'name', queue,
        'declared_at_us', declared_at_us, 'removed_at_us', removed_at_us)
"""
_AS_PRINCIPAL: Final = f"""
    named_struct('kind', '{PRINCIPAL}', 'code', xxhash64(principal), 'name', principal,
        'declared_at_us', bigint(NULL), 'removed_at_us', bigint(NULL))
"""


def names(facts: DataFrame) -> DataFrame:
    """Each queue and principal that a fact speaks of."""
    rows = facts.groupBy("queue_id", "queue", "principal").agg(
        fn.max(fn.expr(f"if(fact_code = {int(DECLARED)}, at_us, NULL)")).alias("declared_at_us"),
        fn.max(fn.expr(f"if(fact_code = {int(REMOVED)}, at_us, NULL)")).alias("removed_at_us"),
    )
    return merged(rows.selectExpr(f"inline(array({_AS_QUEUE}, {_AS_PRINCIPAL}))").where("name IS NOT NULL"))


def merged(rows: DataFrame) -> DataFrame:
    """Names are keys here, so that they are hashed."""
    return rows.groupBy("kind", "code", "name").agg(
        fn.max("declared_at_us").alias("declared_at_us"), fn.max("removed_at_us").alias("removed_at_us")
    )
