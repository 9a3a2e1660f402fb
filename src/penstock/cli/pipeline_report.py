"""`penstock pipeline report`: the tables of a stretch of time as one HTML page."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from penstock.cli.output import JSON, print_json, size_cell
from penstock.cli.pipeline_options import in_words, place, settings
from penstock.cli.pipeline_run import steps
from penstock.cli.program import BadUsage, Failure
from penstock.codecs import names
from penstock.pipeline.lake import Lake, Manifest
from penstock.pipeline.report.numbers import Report
from penstock.pipeline.report.page import page
from penstock.pipeline.session import default_master, session


def report(
    queue: tuple[bytes, ...],
    from_us: int | None,
    to_us: int | None,
    file: Path,
    data: str,
    archive: Path | None,
    lake: Path | None,
    master: str | None,
    memory: str,
    conf: tuple[str, ...],
    output: str,
) -> None:
    if from_us is not None and to_us is not None and from_us >= to_us:
        raise BadUsage("--from is not before --to.")
    at = place(data, archive, lake)
    with in_words():
        manifest = Lake(at.lake).manifest()
        if not manifest.batch:
            raise Failure(f"there are no tables in {at.lake} yet.", "`penstock pipeline run` makes them.")
        options = (master or default_master(), memory, settings(conf, at))
        made = _made(at.archive, Lake(at.lake), manifest, options, (queue, from_us, to_us))
    _write(file, page(made))
    _tell(file, made, output)


def _made(
    archive: Path,
    lake: Lake,
    manifest: Manifest,
    options: tuple[str, str, dict[str, str]],
    said: tuple[tuple[bytes, ...], int | None, int | None],
) -> Report:
    queue, from_us, to_us = said
    with session(*options) as spark:
        from penstock.pipeline.jobs.report import TABLES, Asked, NothingThere
        from penstock.pipeline.jobs.report import report as ask
        from penstock.pipeline.jobs.tables import open_tables

        with steps() as tell:
            tell("opening the tables", 1, 2)
            open_tables(spark, archive, lake, manifest, names=TABLES)
            tell("adding up", 2, 2)
            asked = Asked([names.show(one) for one in queue], from_us, to_us)
            try:
                return ask(spark, manifest, asked, time.time_ns() // 1_000)
            except NothingThere as error:
                raise Failure(f"there is nothing to report: {error}.") from None


def _write(file: Path, content: str) -> None:
    """Whole or not at all: somebody may be looking at the last one."""
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    fresh.write_text(content, encoding="utf-8")
    fresh.replace(file)


def _tell(file: Path, made: Report, output: str) -> None:
    size = file.stat().st_size
    if output == JSON:
        whole = {count: made.whole.total(count) for count in made.whole.counts}
        span = {"from_us": made.span.from_us, "to_us": made.span.to_us}
        print_json({"file": str(file), "bytes": size, **span, "queues": made.queues, **whole, "stuck": len(made.stuck)})
    else:
        click.echo(f"{file}: {made.whole.total('published'):,} messages of {made.queues:,} queues, {size_cell(size)}")
