"""A run: what the archive has and the lake has not becomes the next batch, is checked against the laws, and counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import msgspec
from pyspark.sql import SparkSession

from penstock.model.facts import DELETED, PUBLISHED
from penstock.pipeline import quality
from penstock.pipeline.archive import BadArchive, Segment, unseen
from penstock.pipeline.facts import NARROW, quarantined, sound
from penstock.pipeline.jobs.batch import SCRATCH, SNAPSHOTS, Batch, check, partitions_for, process
from penstock.pipeline.jobs.compaction import compact
from penstock.pipeline.jobs.parts import read, read_archive, read_facts, write_rows
from penstock.pipeline.jobs.retention import forget
from penstock.pipeline.lake import RUNS_KEPT, Lake, Manifest, Part, Run, SegmentFile, joined
from penstock.pipeline.quality import Counted
from penstock.pipeline.totals import totals

BATCH_FACTS: Final = 50_000_000  # more are taken in more than one batch

# Kept when everything else is made anew: what was read, not what was made of it.
_KEPT: Final = ("facts", "segments", "quarantine")

Tell = Callable[[str, int, int], None]


@dataclass
class Pipeline:
    """Where everything is. `counters`: what a server says of its queues, if the tables are to be compared with it."""

    spark: SparkSession
    archive: Path
    lake: Lake
    tell: Tell
    counters: Sequence[Mapping[str, Any]] = ()
    compact: bool = False  # everything that can be, at once
    keep_days: int = 0  # 0: for ever
    batch_facts: int = BATCH_FACTS


def run(pipeline: Pipeline) -> list[Run]:
    """Batches until nothing is left; gives what each of them was. Raises LakeInUse, NoLake, BadArchive, LawsBroken."""
    run_id = uuid4().hex
    with pipeline.lake.held():
        manifest = pipeline.lake.manifest()
        pipeline.lake.sweep(manifest)
        found = unseen(pipeline.archive, manifest, lambda number, total: pipeline.tell("archive", number, total))
        done = [_take(pipeline, group, run_id) for group in _groups(found, pipeline.batch_facts)]
        compact(pipeline.spark, pipeline.archive, pipeline.lake, pipeline.tell, pipeline.compact)
        if pipeline.keep_days:
            forget(pipeline.spark, pipeline.lake, pipeline.tell, pipeline.keep_days)
        if pipeline.counters:
            quality.insist(quality.as_counted(_totals(pipeline, pipeline.lake.manifest()), pipeline.counters))
    return done


def _groups(found: Sequence[Segment], most: int) -> Iterator[list[Segment]]:
    """Neighbours, as many as one batch takes."""
    group: list[Segment] = []
    facts = 0
    for one in found:
        if group and facts + one.facts > most:
            yield group
            group, facts = [], 0
        group.append(one)
        facts += one.facts
    if group:
        yield group


def _take(pipeline: Pipeline, found: Sequence[Segment], run_id: str) -> Run:
    """One batch. Facts from between those that were taken earlier come late: then everything is made anew, from all."""
    started = time.time()
    before = pipeline.lake.manifest()
    late = found[0].first < before.last_fact()
    if late:
        _insist_on_all(pipeline, before, found[0])
    after = _with_segments(before, found)
    batch = _batch(pipeline, after, run_id, {} if late else before.parts)
    facts = read_archive(pipeline.spark, pipeline.archive, [one.path for one in found])
    counted = check(facts)
    quality.insist(quality.dense(counted, found))
    _note_segments(batch, found)
    after.quarantined += sum(row.broken for row in counted)
    if after.quarantined > before.quarantined:
        batch.write("quarantine", quarantined(facts, batch.number, run_id))
    fresh = _of_messages(counted)
    after.facts += fresh
    if late:
        facts, fresh = read_facts(pipeline.spark, pipeline.archive, pipeline.lake, after), after.facts
    pipeline.spark.conf.set("spark.sql.shuffle.partitions", str(partitions_for(fresh)))
    process(batch, sound(facts).select(*NARROW), pipeline.tell)
    _settle(batch, after, before, late)
    quality.insist(_broken(pipeline, batch, after, fresh))
    done = _run_of(run_id, after.batch, started, counted, len(found))
    after.runs = [*after.runs, done][-RUNS_KEPT:]
    pipeline.lake.publish(after, before)
    return done


def _insist_on_all(pipeline: Pipeline, before: Manifest, late: Segment) -> None:
    """What is made anew is made from everything."""
    gone = [file.path for file in before.files if not (pipeline.archive / file.path).exists()]
    if gone or before.forgotten_before:
        raise BadArchive(
            f"segment {late.number} comes late and cannot be taken in, for what came before is not all there any more."
        )


def _with_segments(before: Manifest, found: Sequence[Segment]) -> Manifest:
    after = msgspec.structs.replace(before, batch=before.batch + 1, parts=dict(before.parts))
    after.store = found[0].store
    after.now_us = max(before.now_us, *[one.last_at_us for one in found])
    after.taken = joined([*before.taken, *[(one.first, one.last) for one in found]])
    fresh = [SegmentFile(one.number, one.first, one.last, one.path, one.day) for one in found]
    after.files = [*before.files, *fresh]
    return after


def _batch(pipeline: Pipeline, after: Manifest, run_id: str, parts: Mapping[str, Sequence[Part]]) -> Batch:
    day = datetime.fromtimestamp(after.now_us / 1e6, UTC).date().isoformat()
    return Batch(pipeline.spark, pipeline.lake, after.batch, run_id, after.now_us, day, parts)


def _note_segments(batch: Batch, found: Sequence[Segment]) -> None:
    rows = [
        (one.number, one.first, one.last, one.first_at_us, one.last_at_us, one.path, batch.number, batch.run)
        for one in found
    ]
    write_rows(rows, "segments", batch.lake.root / batch.folder("segments"))
    batch.add("segments", batch.folder("segments"))


def _of_messages(counted: Iterable[Counted]) -> int:
    return sum(row.facts - row.broken for row in counted if PUBLISHED <= row.fact_code <= DELETED)


def _settle(batch: Batch, after: Manifest, before: Manifest, late: bool) -> None:
    """The parts that count from now on."""
    kept = {
        table: parts for table, parts in before.parts.items() if table not in SNAPSHOTS and (table in _KEPT or not late)
    }
    fresh = {table: parts for table, parts in batch.written.items() if table not in SCRATCH}
    after.parts = {table: [*kept.get(table, []), *fresh.get(table, [])] for table in {*kept, *fresh}}
    ended = {"lives": batch.lives_seen["ended"], "facts": batch.lives_seen["ended_facts"]}
    after.ended = {name: count + (0 if late else before.ended.get(name, 0)) for name, count in ended.items()}


def _broken(pipeline: Pipeline, batch: Batch, after: Manifest, fresh: int) -> Iterator[str]:
    lacking = bool(after.quarantined) or len(after.taken) > 1 or after.taken[0][0] > 1
    yield from quality.whole(batch.attempts_seen, fresh)
    lived = batch.lives_seen | {
        "facts": batch.lives_seen["facts"] - batch.lives_seen["ended_facts"] + after.ended["facts"]
    }
    yield from quality.lived(lived, after.facts, lacking)
    if not lacking:
        yield from quality.balanced(_totals(pipeline, after))


def _totals(pipeline: Pipeline, manifest: Manifest) -> list[dict[str, Any]]:
    tables = {
        name: read(pipeline.spark, pipeline.lake, name, manifest.parts.get(name, []))
        for name in ("tally", "open_lives", "leased", "names")
    }
    return [row.asDict() for row in totals(**tables).collect()]


def _run_of(run_id: str, batch: int, started: float, counted: Sequence[Counted], segments: int) -> Run:
    return Run(
        run_id,
        batch,
        int(started * 1e6),
        round(time.time() - started, 3),
        segments,
        sum(row.facts for row in counted),
        sum(row.broken for row in counted),
    )
