"""`python -m torture`: all campaigns at their full length, or one of any length. Each prints what it did and fails
loudly, with its seed."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from typing import NamedTuple

from torture import asking, driver, simulate
from torture.power import command as power
from torture.soak import command as soak
from torture.timing import command as timing

BROKEN_MAX = 50  # that are told of; more say nothing new


class Campaign(NamedTuple):
    help: str
    add: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], tuple[str, ...]]


CAMPAIGNS = {
    "simulate": Campaign("whole lives in simulated time, by their seeds", simulate.add, simulate.run_lives),
    "kill": Campaign("kill -9 under load, again and again", asking.add_kill, asking.killed),
    "power": Campaign("the power is cut under load", power.add, power.run),
    "driver": Campaign("kill -9 of the pipeline's driver, again and again", driver.add, driver.run),
    "time": Campaign("clocks are set, process and machine stand still", timing.add, timing.run),
    "races": Campaign("workers that go to sleep while others publish", asking.add_races, asking.raced),
    "fuzz": Campaign("fuzzed input, beside a model or over sockets", asking.add_fuzz, asking.fuzzed),
    "soak": Campaign("an hour in all dialects: is everything flat?", soak.add, soak.run),
}
ALL = (["simulate"], ["kill"], ["power"], ["driver"], ["time"], ["races"], ["fuzz"], ["fuzz", "--live"], ["soak"])


def main() -> int:
    asked = parsed(sys.argv[1:])
    each = [[*words, "--seed", str(asked.seed)] for words in ALL] if asked.campaign == "all" else [sys.argv[1:]]
    ends = [end(parsed(words)) for words in each]
    if len(ends) > 1:
        print(*(words for words, _ in ends), sep="\n")
    return 1 if any(broken for _, broken in ends) else 0


def end(asked: argparse.Namespace) -> tuple[str, bool]:
    """The last line of a campaign, and whether it ended badly."""
    broken = CAMPAIGNS[asked.campaign].run(asked)
    for line in broken[:BROKEN_MAX]:
        print(f"BROKEN {line}")
    verdict = f"{len(broken)} laws broken, seed {asked.seed}" if broken else "all laws held"
    words = f"{asked.campaign}: {verdict}"
    print(words, flush=True)
    return words, bool(broken)


def parsed(words: list[str]) -> argparse.Namespace:
    """Without a campaign it is all of them."""
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parsers = parser.add_subparsers(dest="campaign", metavar="|".join(("all", *CAMPAIGNS)), required=True)
    seeded = argparse.ArgumentParser(add_help=False)
    seeded.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parsers.add_parser("all", parents=[seeded], help="one after the other, at full length: for a night")
    for name, campaign in CAMPAIGNS.items():
        campaign.add(parsers.add_parser(name, parents=[seeded], help=campaign.help))
    named = bool(words) and words[0] in {*parsers.choices, "-h", "--help"}
    return parser.parse_args(words if named else ["all", *words])


if __name__ == "__main__":
    sys.exit(main())
