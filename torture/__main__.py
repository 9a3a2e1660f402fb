"""`python -m torture`: campaigns of any length. Each prints what it did and fails loudly, with its seed."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from torture import fuzz, kill, long, outage, races, simulate

INPUTS = 1_000_000
LIVE_INPUTS = 100_000
RACES = 100_000
TELL_S = 5.0


def main() -> int:
    asked = parsed(sys.argv[1:])
    campaigns: dict[str, Callable[[argparse.Namespace], tuple[str, ...]]] = {
        "kill": killed,
        "fuzz": fuzzed,
        "races": raced,
        "simulate": simulate.simulated,
        "soak": long.soaked,
        "time": long.timed,
        "power": outage.powered,
    }
    broken = campaigns[asked.campaign](asked)
    for line in broken[:50]:
        print(f"BROKEN {line}")
    print(f"{asked.campaign}: {f'{len(broken)} laws broken, seed {asked.seed}' if broken else 'all laws held'}")
    return 1 if broken else 0


def parsed(words: list[str]) -> argparse.Namespace:
    """Without a campaign it is `kill`."""
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    campaigns = parser.add_subparsers(
        dest="campaign", metavar="kill|fuzz|races|simulate|soak|time|power", required=True
    )
    seeded = argparse.ArgumentParser(add_help=False)
    seeded.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    of_kill = campaigns.add_parser("kill", parents=[seeded], help="kill -9 under load, again and again")
    of_kill.add_argument("--cycles", type=int, default=1_000, help="kills (default %(default)s)")
    of_kill.add_argument("--confirm", choices=["write", "sync"], default="write")
    of_kill.add_argument("--no-tables", dest="tables", action="store_false", help="without Spark at the end")
    of_fuzz = campaigns.add_parser("fuzz", parents=[seeded], help="fuzzed input, beside a model or over sockets")
    of_fuzz.add_argument("--dialect", choices=fuzz.NAMES, action="append", help="may be repeated (default: all)")
    of_fuzz.add_argument("--live", action="store_true", help="over real sockets, against a real server")
    of_fuzz.add_argument("--count", type=int, help=f"inputs a dialect (default {INPUTS:,}; live {LIVE_INPUTS:,})")
    of_races = campaigns.add_parser("races", parents=[seeded], help="workers that go to sleep while others publish")
    of_races.add_argument("--count", type=int, default=RACES, help="races (default %(default)s)")
    long.add_soak(campaigns.add_parser("soak", parents=[seeded], help="an hour in all dialects: is everything flat?"))
    long.add_time(
        campaigns.add_parser("time", parents=[seeded], help="clocks are set, process and machine stand still")
    )
    outage.add_power(campaigns.add_parser("power", parents=[seeded], help="the power is cut under load"))
    simulate.add(
        campaigns.add_parser("simulate", parents=[seeded], help="whole lives in simulated time, by their seeds")
    )
    return parser.parse_args(words if words and words[0] in {*campaigns.choices, "-h", "--help"} else ["kill", *words])


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

    with opened_tables() if asked.tables else nullcontext() as tables:
        outcome = kill.campaign(asked.cycles, asked.seed, asked.confirm, tables, progress)
    print("\n".join(kill.result(outcome)))
    return outcome.broken


@contextmanager
def opened_tables() -> Iterator[kill.Compares]:
    """Spark is needed by nobody else."""
    from torture import tables

    with tables.opened() as opened:
        yield opened


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


if __name__ == "__main__":
    sys.exit(main())
