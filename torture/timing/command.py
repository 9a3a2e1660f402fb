"""`python -m torture time`: how it is asked for, and what it prints."""

from __future__ import annotations

import argparse
import time

from torture.timing import campaign

STOP_S = 150.0


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=STOP_S, help="of a standstill (default %(default)g)")


def run(asked: argparse.Namespace) -> tuple[str, ...]:
    broken: tuple[str, ...] = ()
    for kind in campaign.KINDS:
        start_s = time.monotonic()
        found = campaign.campaign(kind, asked.seconds).broken
        print(f"  {kind}: {len(found)} broken  {time.monotonic() - start_s:.0f} s", flush=True)
        broken += tuple(f"{kind}: {words}" for words in found)
    return broken
