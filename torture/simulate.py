"""Lives of a simulated server with clients of all five dialects, each from a seed of its own: the same seed, the same
life. See tests/simulation."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.engine.audit import Broken
from tests.simulation.driver import STEPS, run

LIVES = 50_000
TOLD_MAX = 20  # broken lives that are told of; more say nothing new
TELL_S = 5.0


@dataclass
class Outcome:
    lives: int = 0
    crashes: int = 0
    snapshots: int = 0
    answers: int = 0
    facts: int = 0
    broken: tuple[str, ...] = ()


def campaign(seeds: int, seed: int, steps: int, progress: Callable[[Outcome], None]) -> Outcome:
    outcome = Outcome()
    for each in range(seed, seed + seeds):
        try:
            world = run(each, steps)
        except Broken as broken:
            outcome.broken += (str(broken),)
            if len(outcome.broken) >= TOLD_MAX:
                break
            continue
        outcome.lives += 1
        outcome.crashes += world.crashes
        outcome.snapshots += world.snapshots
        outcome.answers += world.laws.counts["answers"]
        outcome.facts += len(world.laws.facts)
        progress(outcome)
    return outcome


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seeds", type=int, default=LIVES, help="lives, each by the next seed (default %(default)s)")
    parser.add_argument("--steps", type=int, default=STEPS, help="how long each is (default %(default)s)")


def run_lives(asked: argparse.Namespace) -> tuple[str, ...]:
    print(f"simulate, {asked.seeds:,} lives of {asked.steps} steps, seed {asked.seed}", flush=True)
    start_s = told_s = time.monotonic()

    def progress(outcome: Outcome) -> None:
        nonlocal told_s
        if time.monotonic() - told_s > TELL_S:
            told_s = time.monotonic()
            tell(outcome)

    def tell(outcome: Outcome) -> None:
        print(
            f"  {outcome.lives:9,} lives  {outcome.crashes:9,} crashes  {outcome.snapshots:9,} snapshots  "
            f"{outcome.facts:11,} facts  {outcome.answers:11,} answers  {len(outcome.broken)} broken  "
            f"{time.monotonic() - start_s:6.0f} s",
            flush=True,
        )

    outcome = campaign(asked.seeds, asked.seed, asked.steps, progress)
    tell(outcome)
    return outcome.broken
