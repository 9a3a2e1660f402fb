"""`penstock pipeline run`: batches with a bar while they are made, then a row for each."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import click

from penstock.cli.output import JSON, Column, iso, print_json, print_json_line, print_table
from penstock.cli.pipeline_ledger import counted
from penstock.cli.pipeline_options import in_words, place, settings
from penstock.pipeline.lake import Lake, Run
from penstock.pipeline.quality import Ledger
from penstock.pipeline.session import default_master, session
from penstock.server import exits

if TYPE_CHECKING:
    from penstock.pipeline.jobs.run import Pipeline

LOOK_S: Final = 1.0

_COLUMNS: Final = (
    Column("batch", right=True),
    Column("started"),
    Column("seconds", right=True),
    Column("segments", right=True),
    Column("facts", right=True),
    Column("facts/s", right=True),
    Column("in quarantine", right=True),
    Column("queues compared", right=True),
)


def run(
    data: str,
    archive: Path | None,
    lake: Path | None,
    every_us: int | None,
    compact: bool,
    keep_days: int,
    counters: Sequence[Mapping[str, Any]] | None,
    master: str | None,
    memory: str,
    conf: tuple[str, ...],
    output: str,
) -> int:
    where = place(data, archive, lake)
    # One that goes on for days has its compiler paid for.
    chosen = settings(conf, where if every_us is None else None)
    options = (master or default_master(), memory, chosen)
    with in_words(), steps() as tell, session(*options) as spark:
        from penstock.pipeline.jobs import run as jobs

        ledger = _ledger(data, archive, counters)
        pipeline = jobs.Pipeline(spark, where.archive, Lake(where.lake), tell, ledger, compact, keep_days)
        if every_us is None:
            show(jobs.run(pipeline), output)
        else:
            _go_on(pipeline, every_us / 1e6, output)
    return exits.CLEAN


def _ledger(
    data: str, archive: Path | None, counters: Sequence[Mapping[str, Any]] | None
) -> Callable[[int], Ledger | None]:
    """What was said; else what the server counts whose archive this is."""
    if counters is not None:
        return lambda taken: Ledger(0, counters)
    return partial(counted, data) if archive is None else lambda taken: None


def _go_on(pipeline: Pipeline, every_s: float, output: str) -> None:
    """Until SIGTERM or Ctrl-C; the batch that is under way is finished first."""
    from penstock.pipeline.jobs import run as jobs

    stopped = threading.Event()
    with _heard(stopped):
        while not stopped.is_set():
            begun = time.monotonic()
            runs = jobs.run(pipeline)
            for done in runs:
                show_one(done, output)
            stopped.wait(pause_s(every_s, time.monotonic() - begun, bool(runs)))


def pause_s(every_s: float, took_s: float, found: bool) -> float:
    """Runs begin so long after each other. Where nothing was new it is looked for again soon, so that the first fact
    after a silence does not wait for long."""
    return max(0.0, (every_s if found else min(every_s, LOOK_S)) - took_s)


@contextmanager
def _heard(stopped: threading.Event) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def steps() -> Iterator[Callable[[str, int, int], None]]:
    """A bar on stderr, only on a terminal, that says what is being made."""
    if not sys.stderr.isatty():
        yield lambda title, number, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        work = bar.add_task("starting Spark", total=None)
        yield lambda title, number, total: bar.update(work, description=title, completed=number - 1, total=total)


def shape(run: Run) -> dict[str, Any]:
    return {
        "batch": run.batch,
        "run": run.id,
        "started": iso(run.started_us),
        "started_us": run.started_us,
        "seconds": run.seconds,
        "segments": run.segments,
        "facts": run.facts,
        "quarantined": run.quarantined,
        "compared_queues": run.compared,
    }


def row(run: Run) -> list[str]:
    rate = f"{run.facts / max(run.seconds, 0.001):,.0f}"
    counts = [f"{run.segments:,}", f"{run.facts:,}", rate, f"{run.quarantined:,}", f"{run.compared:,}"]
    return [str(run.batch), iso(run.started_us)[:19] + "Z", f"{run.seconds:.1f}", *counts]


def show(runs: Sequence[Run], output: str) -> None:
    if output == JSON:
        print_json({"batches": [shape(run) for run in runs]})
    elif runs:
        print_table(_COLUMNS, [row(run) for run in runs])
    else:
        click.echo("Nothing new in the archive.")


def show_one(run: Run, output: str) -> None:
    """A line at a time, where there is no end."""
    if output == JSON:
        print_json_line(shape(run))
    else:
        click.echo(f"batch {run.batch}: {run.facts:,} facts of {run.segments:,} segments in {run.seconds:.1f} s")
