"""The numbers of a report, asked of the tables: everything is added up by Spark, only what is shown comes here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from penstock.pipeline.histogram import percentile
from penstock.pipeline.jobs.report_lists import failing, slowest, stuck, tried
from penstock.pipeline.lake import Manifest
from penstock.pipeline.report.numbers import COUNTS, ENDS, PERCENTS, Group, Percentiles, Report, Span
from penstock.pipeline.schema import MINUTE_US
from penstock.pipeline.views import named

# What has to be open.
TABLES: Final = named("silver.queues silver.lives silver.attempts gold.queue_minute gold.stuck lake.times")

SLOTS_MOST: Final = 240
GROUPS_MOST: Final = 12  # queues that have charts of their own; the others are told as one

ALL: Final = "all queues"
OTHERS: Final = "{} other queues"
_MINUTES: Final = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440)
_TOGETHER: Final = -1  # the number of the group of all queues
_BEFORE: Final = -1  # the slot of all that lies before

_SUMS: Final = ", ".join(f"sum({count}) AS {count}" for count in COUNTS)
_READ: Final = ", ".join(f"{percentile('histogram', f'{p / 100}D')} AS p{p}" for p in PERCENTS)


@dataclass(frozen=True)
class Asked:
    """What the report is to be about: some queues, or all; a stretch of time, or all there is."""

    queues: Sequence[str] = ()
    from_us: int | None = None
    to_us: int | None = None


class NothingThere(ValueError):
    """No queue of that name, or nothing happened; in words."""


def report(spark: SparkSession, manifest: Manifest, asked: Asked, made_us: int) -> Report:
    """Of tables that are open. Raises NothingThere."""
    minutes = _choose(spark, asked.queues)
    try:
        return _told(spark, manifest, asked, made_us)
    finally:
        minutes.unpersist()


def _told(spark: SparkSession, manifest: Manifest, asked: Asked, made_us: int) -> Report:
    span = _span(spark, asked)
    names, others = _grouped(spark, span)
    groups = [Group(name, {}, [], [], [], []) for name in (ALL, *names, *([OTHERS.format(others)] if others else []))]
    published_bytes = _count(spark, span, groups)
    _time(spark, span, groups)
    tries = tried(spark, span)
    return Report(
        store=manifest.store,
        made_us=made_us,
        last_fact_us=manifest.now_us,
        span=span,
        chosen=list(asked.queues),
        published_bytes=published_bytes,
        groups=groups,
        queues=len(names) + others,
        by_queue=failing(tries, "queue"),
        by_dialect=failing(tries, "dialect"),
        stuck=stuck(spark),
        slowest=slowest(spark, span),
    )


# -- which queues, which time


def _choose(spark: SparkSession, queues: Sequence[str]) -> DataFrame:
    """`told`: the queues that the report is about; `told_minutes`: theirs, kept while they are asked repeatedly."""
    found = spark.sql("SELECT queue_id, queue FROM silver.queues")
    if queues:
        found = found.where(found.queue.isin(list(queues)))
        known = {row.queue for row in found.select("queue").distinct().collect()}
        unknown = [queue for queue in queues if queue not in known]
        if unknown:
            raise NothingThere(f"there never was a queue {unknown[0]}")
    found.createOrReplaceTempView("told")
    minutes = spark.sql(
        f"""
        SELECT queue_id, queue, minute_us, {", ".join(COUNTS)}, published_bytes, oldest_ready_age_us
        FROM gold.queue_minute LEFT SEMI JOIN told USING (queue_id)
        """
    ).cache()
    minutes.createOrReplaceTempView("told_minutes")
    return minutes


def _span(spark: SparkSession, asked: Asked) -> Span:
    (row,) = spark.sql("SELECT min(minute_us) AS first, max(minute_us) AS last FROM told_minutes").collect()
    if row.first is None:
        raise NothingThere("nothing happened there yet")
    from_us = row.first if asked.from_us is None else asked.from_us
    to_us = row.last + MINUTE_US if asked.to_us is None else asked.to_us
    return span_of(from_us, to_us)


def span_of(from_us: int, to_us: int) -> Span:
    """Slots that begin at round times, as few as show it well."""
    minutes = max(to_us - from_us, MINUTE_US) / MINUTE_US
    wide = next((one for one in _MINUTES if minutes / one <= SLOTS_MOST), None)
    width_us = MINUTE_US * (wide or -(-int(minutes) // (SLOTS_MOST * 1440)) * 1440)
    begin_us = from_us // width_us * width_us
    return Span(begin_us, width_us, max(1, -(-(to_us - begin_us) // width_us)))


def _within(span: Span) -> str:
    return f"minute_us >= {span.from_us} AND minute_us < {span.to_us}"


def _slot(span: Span) -> str:
    return f"int((minute_us - {span.from_us}) DIV {span.width_us})"


def _grouped(spark: SparkSession, span: Span) -> tuple[list[str], int]:
    """The busiest queues by name, and how many others there are. `grouped`: the number of each queue's group."""
    rows = spark.sql(
        f"""
        SELECT queue, sum(if({_within(span)}, published + delivered, 0L)) AS busy
        FROM told_minutes GROUP BY queue ORDER BY busy DESC, queue
        """
    ).collect()
    names = [row.queue for row in rows]
    shown = names if len(names) <= GROUPS_MOST + 1 else names[:GROUPS_MOST]
    numbers = {name: place + 1 for place, name in enumerate(shown)}
    pairs = spark.createDataFrame(
        [(name, numbers.get(name, len(shown) + 1)) for name in names], "queue string, grp int"
    )
    pairs.createOrReplaceTempView("numbered")
    spark.sql("SELECT queue_id, grp FROM told JOIN numbered USING (queue)").createOrReplaceTempView("grouped")
    return shown, len(names) - len(shown)


# -- counts


def _count(spark: SparkSession, span: Span, groups: Sequence[Group]) -> int:
    """Gives the bytes of all that was published."""
    for group in groups:
        group.counts = {count: [0] * span.slots for count in COUNTS}
        group.oldest_us = [None] * span.slots
    rows = _counted(spark, span).collect()
    within = [row for row in rows if row.slot != _BEFORE]
    for row in within:
        for group in (groups[0], groups[row.grp]):
            _add(group, row)
    before = {row.grp: row.published - sum(row[end] for end in ENDS) for row in rows if row.slot == _BEFORE}
    for place, group in enumerate(groups):
        group.backlog = _backlog(group, before.get(place, 0) if place else sum(before.values()))
    return sum(row.published_bytes for row in within)


def _counted(spark: SparkSession, span: Span) -> DataFrame:
    """What lies before the report's time is one slot: the backlog begins with it."""
    return spark.sql(
        f"""
        SELECT grp, if(minute_us < {span.from_us}, {_BEFORE}, {_slot(span)}) AS slot, {_SUMS},
            sum(published_bytes) AS published_bytes, max(oldest_ready_age_us) AS oldest_us
        FROM told_minutes JOIN grouped USING (queue_id) WHERE minute_us < {span.to_us} GROUP BY grp, slot
        """
    )


def _add(group: Group, row: Any) -> None:
    for count in COUNTS:
        group.counts[count][row.slot] += row[count]
    if row.oldest_us is not None:
        group.oldest_us[row.slot] = max(group.oldest_us[row.slot] or 0, row.oldest_us)


def _backlog(group: Group, before: int) -> list[int]:
    found, live = [], before
    for slot, published in enumerate(group.counts["published"]):
        live += published - sum(group.counts[end][slot] for end in ENDS)
        found.append(live)
    return found


# -- times


def _time(spark: SparkSession, span: Span, groups: Sequence[Group]) -> None:
    for group in groups:
        group.wait, group.work = [None] * span.slots, [None] * span.slots
    for row in _percentiles(spark, span).collect():
        group = groups[0 if row.grp == _TOGETHER else row.grp]
        found: Percentiles = (row.p50, row.p95, row.p99)
        if row.slot is None:
            setattr(group, "work_all" if row.work else "wait_all", found)
        else:
            (group.work if row.work else group.wait)[row.slot] = found


def _percentiles(spark: SparkSession, span: Span) -> DataFrame:
    """By group and slot, by slot, by group, and of all: histograms add up whichever way they are cut."""
    return spark.sql(
        f"""
        WITH cut AS (
            SELECT if(grouping(grp) = 1, {_TOGETHER}, grp) AS grp, slot, work, bucket, sum(n) AS n
            FROM (
                SELECT grp, {_slot(span)} AS slot, work, bucket, n
                FROM lake.times JOIN grouped USING (queue_id) WHERE {_within(span)}
            )
            GROUP BY GROUPING SETS (
                (grp, slot, work, bucket), (slot, work, bucket), (grp, work, bucket), (work, bucket)
            )
        )
        SELECT grp, slot, work, {_READ}
        FROM (
            SELECT grp, slot, work, map_from_entries(collect_list(struct(bucket, n))) AS histogram
            FROM cut GROUP BY grp, slot, work
        )
        """
    )
