"""The campaigns that take their time, for `python -m torture`: how they are asked for, and what they print."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from torture import columns, soak, timing
from torture.flatness import Row
from torture.steady import Pace

MINUTES = 60.0
STOP_S = 150.0
HEAD_EVERY = 30


def add_soak(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--minutes", type=float, default=MINUTES, help="(default %(default)g)")
    parser.add_argument("--rate", type=float, default=Pace().turns, help="batches a second (default %(default)g)")
    parser.add_argument("--no-tables", dest="tables", action="store_false", help="without Spark at the end")


def soaked(asked: argparse.Namespace) -> tuple[str, ...]:
    print(f"soak, {asked.minutes:g} minutes, {asked.rate:g} batches a second, seed {asked.seed}", flush=True)
    plan = soak.Plan(seconds=asked.minutes * 60, pace=Pace(turns=asked.rate))
    lines = 0

    def progress(row: Row) -> None:
        nonlocal lines
        print(*([] if lines % HEAD_EVERY else [columns.HEAD]), columns.line(row), sep="\n", flush=True)
        lines += 1

    with opened_tables() if asked.tables else nullcontext() as tables:
        outcome = soak.campaign(plan, asked.seed, tables, progress)
    print(f"  {outcome.turns:,} batches  {outcome.answers:,} answers  {outcome.played:,} scenes")
    for words in outcome.doubtful:
        print(f"DOUBTFUL {words}; but so was the machine")
    return outcome.broken


@contextmanager
def opened_tables() -> Iterator[soak.Totals]:
    """Spark is needed by nobody else."""
    from torture import tables

    with tables.opened() as opened:
        yield opened


def add_time(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=STOP_S, help="of a standstill (default %(default)g)")


def timed(asked: argparse.Namespace) -> tuple[str, ...]:
    broken: tuple[str, ...] = ()
    for kind in timing.KINDS:
        start_s = time.monotonic()
        found = timing.campaign(kind, asked.seconds).broken
        print(f"  {kind}: {len(found)} broken  {time.monotonic() - start_s:.0f} s", flush=True)
        broken += tuple(f"{kind}: {words}" for words in found)
    return broken
