"""`python -m torture soak`: how it is asked for, and what it prints."""

from __future__ import annotations

import argparse

from torture.opened import opened_tables
from torture.soak import campaign, columns
from torture.soak.flatness import Row
from torture.soak.steady import Pace

MINUTES = 60.0
HEAD_EVERY = 30


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--minutes", type=float, default=MINUTES, help="(default %(default)g)")
    parser.add_argument("--rate", type=float, default=Pace().turns, help="batches a second (default %(default)g)")
    parser.add_argument("--no-tables", dest="tables", action="store_false", help="without Spark at the end")


def run(asked: argparse.Namespace) -> tuple[str, ...]:
    print(f"soak, {asked.minutes:g} minutes, {asked.rate:g} batches a second, seed {asked.seed}", flush=True)
    plan = campaign.Plan(seconds=asked.minutes * 60, pace=Pace(turns=asked.rate))
    lines = 0

    def progress(row: Row) -> None:
        nonlocal lines
        print(*([] if lines % HEAD_EVERY else [columns.HEAD]), columns.line(row), sep="\n", flush=True)
        lines += 1

    with opened_tables(asked.tables) as tables:
        outcome = campaign.campaign(plan, asked.seed, tables, progress)
    print(f"  {outcome.turns:,} batches  {outcome.answers:,} answers  {outcome.played:,} scenes")
    for words in outcome.doubtful:
        print(f"DOUBTFUL {words}; but so was the machine")
    return outcome.broken
