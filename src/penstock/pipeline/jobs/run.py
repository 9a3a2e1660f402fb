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
from penstock.pipeline.quality import Counted, Ledger
from penstock.pipeline.totals import totals

BATCH_FACTS: Final = 50_000_000  # more are taken in more than one batch

# Kept when everything else is made anew: what was read, not what was made of it.
_KEPT: Final = ("facts", "segments", "quarantine")

Tell = Callable[[str, int, int], None]


def _unknown(taken: int) -> Ledger | None:
    return None


@dataclass
class Pipeline:
    """Where everything is. `ledger`: asked for what a server counts, with the last fact that is taken in; None: nothing
    is known."""

    spark: SparkSession
    archive: Path
    lake: Lake
    tell: Tell
    ledger: Callable[[int], Ledger | None] = _unknown
    compact: bool = False  # everything that can be, at once
    keep_days: int = 0  # 0: for ever
    batch_facts: int = BATCH_FACTS


def run(pipeline: Pipeline) -> list[Run]:
    """Batches until nothing is left; gives what each of them was. Raises LakeInUse, NoLake, BadArchive, LawsBroken."""
    run_id = uuid4().hex
    with pipeline.lake.held():
        manifest = pipeline.lake.manifest()
        pipeline.lake.sweep(manifest)
        ledger = pipeline.ledger(manifest.last_fact())
        found = unseen(pipeline.archive, manifest, lambda number, total: pipeline.tell("archive", number, total))
        *groups, last = [*_groups(_upto(ledger, found), pipeline.batch_facts)] or [[]]
        done = [_take(pipeline, group, run_id, None) for group in groups]
        if last:
            done.append(_take(pipeline, last, run_id, ledger))
        elif ledger is not None and not ledger.last_fact:
            quality.insist(quality.as_counted(_totals(pipeline, manifest), ledger.queues))
        compact(pipeline.spark, pipeline.archive, pipeline.lake, pipeline.tell, pipeline.compact)
        if pipeline.keep_days:
            forget(pipeline.spark, pipeline.lake, pipeline.tell, pipeline.keep_days)
    return done


def _upto(ledger: Ledger | None, found: Sequence[Segment]) -> Sequence[Segment]:
    """What came after the fact that a server has counted up to is left for the next run."""
    if ledger is None or not ledger.last_fact:
        return found
    return [one for one in found if one.first <= ledger.last_fact]


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


def _take(pipeline: Pipeline, found: Sequence[Segment], run_id: str, ledger: Ledger | None) -> Run:
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
    compared = ledger if ledger is not None and _fits(ledger, after) else None
    quality.insist(_broken(pipeline, batch, after, fresh, compared))
    done = _run_of(batch, started, counted, len(found), compared)
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


def _lacks(manifest: Manifest) -> bool:
    """Facts are missing, or put aside."""
    return bool(manifest.quarantined) or len(manifest.taken) > 1 or manifest.taken[0][0] > 1


def _fits(ledger: Ledger, after: Manifest) -> bool:
    """It speaks of exactly these facts, or whoever gave it says so."""
    return not ledger.last_fact or (ledger.last_fact == after.last_fact() and not _lacks(after))


def _broken(pipeline: Pipeline, batch: Batch, after: Manifest, fresh: int, ledger: Ledger | None) -> Iterator[str]:
    lacking = _lacks(after)
    yield from quality.whole(batch.attempts_seen, fresh)
    lived = batch.lives_seen | {
        "facts": batch.lives_seen["facts"] - batch.lives_seen["ended_facts"] + after.ended["facts"]
    }
    yield from quality.lived(lived, after.facts, lacking)
    if not lacking or ledger is not None:
        rows = _totals(pipeline, after)
        yield from [] if lacking else quality.balanced(rows)
        yield from [] if ledger is None else quality.as_counted(rows, ledger.queues)


def _totals(pipeline: Pipeline, manifest: Manifest) -> list[dict[str, Any]]:
    tables = {
        name: read(pipeline.spark, pipeline.lake, name, manifest.parts.get(name, []))
        for name in ("tally", "open_lives", "leased", "names")
    }
    return [row.asDict() for row in totals(**tables).collect()]


def _run_of(batch: Batch, started: float, counted: Sequence[Counted], segments: int, compared: Ledger | None) -> Run:
    return Run(
        batch.run,
        batch.number,
        int(started * 1e6),
        round(time.time() - started, 3),
        segments,
        sum(row.facts for row in counted),
        sum(row.broken for row in counted),
        len(compared.queues) if compared is not None else 0,
    )
