"""One batch: facts in, parts of every table out. It publishes nothing; whoever runs it does, once all is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as fn

from penstock.pipeline import minutes
from penstock.pipeline.attempts import CLOSED, ECHO, LEASED, WAITING, attempts, still_waiting
from penstock.pipeline.facts import checked
from penstock.pipeline.holders import holders
from penstock.pipeline.jobs.parts import conform, read, write
from penstock.pipeline.lake import Lake, Part
from penstock.pipeline.lives import lives
from penstock.pipeline.names import names
from penstock.pipeline.quality import Counted

# Made anew by each batch, for they hold what is open; the other tables grow.
SNAPSHOTS: Final = ("leased", "waiting", "open_lives")
# Read by later steps of the same batch only.
SCRATCH: Final = ("pending", "echo")

_PER_PARTITION: Final = 1_000_000  # facts that one task groups
_PARTITIONS_LEAST: Final = 4
_FEW: Final = 50_000  # facts that are not worth more than one task

_ATTEMPTS_SEEN: Final = {"facts": "sum(facts)", "twice": "sum(int(deliveries > 1 OR releases > 1 OR ends > 1))"}
_DISORDERED: Final = """
    first_ready_at_us < published_at_us OR first_leased_at_us < first_ready_at_us OR end_at_us < last_leased_at_us
    OR end_at_us < published_at_us
"""
_LIVES_SEEN: Final = {
    "facts": "sum(facts)",
    "ended": "sum(int(end_at_us IS NOT NULL))",
    "ended_facts": "sum(if(end_at_us IS NOT NULL, facts, 0))",
    "ended_twice": "sum(int(ends > 1))",
    "disordered": f"sum(int({_DISORDERED}))",
    "unborn": "sum(int(published_at_us IS NULL))",
}


@dataclass
class Batch:
    """What is under way. `before`: the parts that count so far; `written`: those of this batch."""

    spark: SparkSession
    lake: Lake
    number: int
    run: str
    now_us: int  # when its last fact happened
    day: str
    before: Mapping[str, Sequence[Part]]
    written: dict[str, list[Part]] = field(default_factory=dict)
    attempts_seen: dict[str, int] = field(default_factory=dict)
    lives_seen: dict[str, int] = field(default_factory=dict)

    def earlier(self, table: str) -> DataFrame:
        return read(self.spark, self.lake, table, self.before.get(table, []))

    def fresh(self, *tables: str) -> DataFrame:
        """What this batch has written; of more than one table, if all have the same columns."""
        parts = [part for table in tables for part in self.written.get(table, [])]
        return read(self.spark, self.lake, tables[0], parts)

    def write(self, table: str, rows: DataFrame) -> None:
        write(self.signed(rows, table), self.lake.root / self.folder(table))
        self.add(table, self.folder(table))

    def signed(self, rows: DataFrame, table: str, *more: str) -> DataFrame:
        return conform(rows.withColumns({"_batch": fn.lit(self.number), "_run": fn.lit(self.run)}), table, *more)

    def folder(self, table: str) -> str:
        return f"{table}/batch={self.number}"

    def add(self, table: str, path: str) -> None:
        """Only where something was written: a value without rows has no directory."""
        if any((self.lake.root / path).glob("*.parquet")):
            self.written.setdefault(table, []).append(Part(path, self.day))


def check(facts: DataFrame) -> list[Counted]:
    """Every fact counted, by segment and kind."""
    rows = (
        checked(facts)
        .groupBy("segment", "fact_code")
        .agg(
            fn.count("*").alias("facts"),
            fn.min("seq").alias("first"),
            fn.max("seq").alias("last"),
            fn.expr("bit_xor(seq)").alias("xor"),
            fn.count("broken").alias("broken"),
        )
    )
    return [Counted(**row.asDict()) for row in rows.collect()]


def partitions_for(facts: int) -> int:
    return 1 if facts < _FEW else max(_PARTITIONS_LEAST, -(-facts // _PER_PARTITION))


def process(batch: Batch, facts: DataFrame, tell: Callable[[str, int, int], None]) -> None:
    """`facts`: sound ones, with the columns of `NARROW`."""
    steps = sum(len(stage) for stage in STAGES)
    done = 0
    for stage in STAGES:
        with ThreadPoolExecutor(len(stage)) as threads:
            started = [threads.submit(step, batch, facts) for step in stage.values()]
            for title, step in zip(stage, started, strict=True):
                done += 1
                tell(title, done, steps)
                step.result()


def _attempts(batch: Batch, facts: DataFrame) -> None:
    """Every state in a directory of its own, in one pass."""
    found = attempts(facts, batch.earlier("leased").unionAll(batch.earlier("waiting")))
    seen = Observation()
    rows = batch.signed(found, "attempts", "state").observe(seen, *_expressions(_ATTEMPTS_SEEN))
    folder = batch.folder("attempts")
    write(rows, batch.lake.root / folder, "state")
    batch.attempts_seen = _counts(seen)
    for table, state in (("attempts", CLOSED), ("leased", LEASED), ("pending", WAITING), ("echo", ECHO)):
        batch.add(table, f"{folder}/state={state}")


def _lives(batch: Batch, facts: DataFrame) -> None:
    found = lives(batch.fresh("attempts", "leased", "pending", "echo"), batch.earlier("open_lives"), facts)
    seen = Observation()
    rows = batch.signed(found, "lives", "end_at_us IS NULL AS open").observe(seen, *_expressions(_LIVES_SEEN))
    folder = batch.folder("lives")
    write(rows, batch.lake.root / folder, "open")
    batch.lives_seen = _counts(seen)
    batch.add("lives", f"{folder}/open=false")
    batch.add("open_lives", f"{folder}/open=true")


def _waits(batch: Batch, facts: DataFrame) -> None:
    pending = still_waiting(batch.fresh("pending"), batch.fresh("attempts", "echo"))
    batch.write("waiting", pending.where("void_at_us IS NULL"))
    batch.write("oldest", minutes.oldest(minutes.waits_over(batch.fresh("attempts", "leased"), pending)))


def _times(batch: Batch, facts: DataFrame) -> None:
    batch.write("times", minutes.times(batch.fresh("attempts", "leased")))
    batch.write("holders", holders(batch.fresh("attempts", "leased")))


def _counts_and_names(batch: Batch, facts: DataFrame) -> None:
    batch.write("tally", minutes.tally(facts))
    batch.write("names", names(facts))


Step = Callable[[Batch, DataFrame], None]

# What stands in one stage is done side by side; a stage reads what the one before it wrote.
STAGES: Final[tuple[dict[str, Step], ...]] = (
    {"attempts": _attempts, "counts": _counts_and_names},
    {"lives": _lives, "waits": _waits, "times": _times},
)


def _expressions(seen: Mapping[str, str]) -> list[Column]:
    return [fn.expr(f"bigint(coalesce({value}, 0))").alias(name) for name, value in seen.items()]


def _counts(seen: Observation) -> dict[str, int]:
    return {name: int(count) for name, count in seen.get.items()}
