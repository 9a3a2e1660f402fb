"""`python -m torture`: campaigns of any length. Each prints what it did and fails loudly, with its seed."""

from __future__ import annotations

import argparse
import random
import sys
import time

from torture import kill


def main() -> int:
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parser.add_argument("campaign", nargs="?", choices=["kill"], default="kill", help="which (default %(default)s)")
    parser.add_argument("--cycles", type=int, default=500, help="kills (default %(default)s)")
    parser.add_argument("--confirm", choices=["write", "sync"], default="write")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    asked = parser.parse_args()
    print(f"kill -9, {asked.cycles} cycles, confirm {asked.confirm}, seed {asked.seed}", flush=True)
    start = time.monotonic()

    def progress(outcome: kill.Outcome) -> None:
        print(
            f"  {outcome.cycles:6} kills  {outcome.published:9,} published  {outcome.finished:9,} finished  "
            f"{outcome.answers:10,} answers  {len(outcome.broken)} broken  {time.monotonic() - start:6.0f} s",
            flush=True,
        )

    outcome = kill.campaign(asked.cycles, asked.seed, asked.confirm, progress)
    for line in outcome.broken[:50]:
        print(f"BROKEN {line}")
    held = f"{len(outcome.broken)} laws broken, seed {asked.seed}" if outcome.broken else "all laws held"
    print(f"kill -9: {held}")
    return 1 if outcome.broken else 0


if __name__ == "__main__":
    sys.exit(main())
