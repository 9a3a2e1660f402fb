"""How kills, fuzzing and races are asked for, and what they print."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from torture import fuzz, kill, races
from torture.opened import opened_tables

KILLS = 1_000
INPUTS = 10_000_000
LIVE_INPUTS = 1_000_000
RACES = 1_000_000
TELL_S = 5.0


def add_kill(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cycles", type=int, default=KILLS, help="kills (default %(default)s)")
    parser.add_argument("--confirm", choices=["write", "sync"], default="write")
    parser.add_argument("--no-tables", dest="tables", action="store_false", help="without Spark at the end")


def add_fuzz(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dialect", choices=fuzz.NAMES, action="append", help="may be repeated (default: all)")
    parser.add_argument("--live", action="store_true", help="over real sockets, against a real server")
    parser.add_argument("--count", type=int, help=f"inputs a dialect (default {INPUTS:,}; live {LIVE_INPUTS:,})")


def add_races(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=int, default=RACES, help="races (default %(default)s)")


def killed(asked: argparse.Namespace) -> tuple[str, ...]:
    print(f"kill -9, {asked.cycles} cycles, confirm {asked.confirm}, seed {asked.seed}", flush=True)
    start_s = time.monotonic()

    def progress(outcome: kill.Outcome) -> None:
        print(
            f"  {outcome.kills:6} kills  {outcome.total('published'):9,} published  "
            f"{outcome.total('finished'):9,} finished  {outcome.snapshots:5} snapshots  "
            f"{outcome.compared:4} tables compared  {len(outcome.broken)} broken  {time.monotonic() - start_s:6.0f} s",
            flush=True,
        )

    with opened_tables(asked.tables) as tables:
        outcome = kill.campaign(asked.cycles, asked.seed, asked.confirm, tables, progress)
    print("\n".join(kill.result(outcome)))
    return outcome.broken


def fuzzed(asked: argparse.Namespace) -> tuple[str, ...]:
    count = asked.count or (LIVE_INPUTS if asked.live else INPUTS)
    broken: tuple[str, ...] = ()
    for dialect in asked.dialect or fuzz.NAMES:
        where = "over sockets" if asked.live else "beside a model"
        print(f"fuzz {dialect}, {count:,} inputs {where}, seed {asked.seed}", flush=True)
        broken += fuzz.campaign(dialect, count, asked.seed, asked.live, fuzz_progress(time.monotonic())).broken
    return broken


def fuzz_progress(start_s: float) -> Callable[[fuzz.Outcome], None]:
    def progress(outcome: fuzz.Outcome) -> None:
        taken_s = time.monotonic() - start_s
        print(
            f"  {outcome.inputs:12,} inputs  {outcome.inputs / taken_s:8,.0f} a second  "
            f"{outcome.connections:9,} connections  {outcome.grown_bytes / (1 << 20):5.1f} MiB grown  "
            f"{len(outcome.broken)} broken  {taken_s:6.0f} s",
            flush=True,
        )

    return progress


def raced(asked: argparse.Namespace) -> tuple[str, ...]:
    print(f"races, {asked.count:,} of a sleep with a publish, seed {asked.seed}", flush=True)
    start_s = told_s = time.monotonic()

    def progress(outcome: races.Outcome) -> None:
        nonlocal told_s
        now_s = time.monotonic()
        if now_s - told_s > TELL_S:
            told_s = now_s
            tell(outcome)

    def tell(outcome: races.Outcome) -> None:
        taken_s = time.monotonic() - start_s
        print(f"  {outcome.races:9,} races  {outcome.wakes:9,} wake-ups  {taken_s:6.0f} s", flush=True)

    outcome = races.campaign(asked.count, asked.seed, progress)
    tell(outcome)
    return outcome.broken
