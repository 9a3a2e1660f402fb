"""Retention: messages that ended before a day are forgotten, their facts, lives and attempts. Gold stays as it is.

What lives, or ended since, keeps every fact: so any moment since that day can still be asked about. Like a compaction
it writes beside what counts, and one manifest swaps it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Final

import msgspec
from pyspark.sql import DataFrame, SparkSession

from penstock.pipeline.jobs.parts import conform, read, write
from penstock.pipeline.lake import Lake, Manifest, Part

# Of these whole parts go.
_ENDED: Final = ("lives", "attempts", "quarantine")


def forget(spark: SparkSession, lake: Lake, tell: Callable[[str, int, int], None], keep_days: int) -> str:
    """Gives the first day that is kept; empty where nothing was forgotten."""
    before = lake.manifest()
    first = _first_kept(before.now_us, keep_days)
    old = {table: _old(before, table, first) for table in (*_ENDED, "facts")}
    if not any(old.values()):
        return ""
    tell("retention", 1, 1)
    after = msgspec.structs.replace(before, generation=before.generation + 1, forgotten_before=first)
    gone = {part.path for parts in old.values() for part in parts}
    after.parts = {table: [part for part in parts if part.path not in gone] for table, parts in before.parts.items()}
    if old["facts"]:
        after.parts["facts"].append(_survivors(spark, lake, after, old["facts"], first))
    lake.publish(after, before)
    return first


def _first_kept(now_us: int, keep_days: int) -> str:
    today: date = datetime.fromtimestamp(now_us / 1e6, UTC).date()
    return (today - timedelta(days=keep_days)).isoformat()


def _old(manifest: Manifest, table: str, first: str) -> list[Part]:
    return [part for part in manifest.parts.get(table, []) if part.day < first]


def _survivors(spark: SparkSession, lake: Lake, after: Manifest, old: list[Part], first: str) -> Part:
    """What old facts say of messages that are not forgotten."""
    path = f"facts/generation={after.generation}/kept={first}"
    facts = read(spark, lake, "facts", old).join(_remembered(spark, lake, after), "message_seq", "left_semi")
    write(conform(facts, "facts").coalesce(1), lake.root / path)
    return Part(path, first)


def _remembered(spark: SparkSession, lake: Lake, manifest: Manifest) -> DataFrame:
    tables = [read(spark, lake, table, manifest.parts.get(table, [])) for table in ("lives", "open_lives")]
    return tables[0].select("message_seq").unionAll(tables[1].select("message_seq"))
