"""`python -m penstock.history`: what a server starts to have its snapshots and its archive written."""

from __future__ import annotations

import argparse
import sys

from penstock.codecs import names
from penstock.history.folding import Keeping
from penstock.history.process import Settings, run
from penstock.model.limits import SNAPSHOT_BYTES


def main() -> int:
    parser = argparse.ArgumentParser("penstock.history")
    parser.add_argument("--data", required=True)
    parser.add_argument("--dialect", action="append", default=[], metavar="NUMBER=NAME")
    parser.add_argument("--without-bodies", action="append", default=[], metavar="QUEUE")
    parser.add_argument("--keep-days", type=int, default=0)
    parser.add_argument("--parent", type=int, default=0, metavar="PID")
    parser.add_argument("--no-archive", action="store_true")
    parser.add_argument("--snapshot-bytes", type=int, default=SNAPSHOT_BYTES)
    parser.add_argument("--keep-bytes", type=int, default=0)
    parser.add_argument("--dedup", action="append", default=[], metavar="QUEUE=US")
    parser.add_argument("--dialect-dedup", action="append", default=[], metavar="NUMBER=US")
    said = parser.parse_args()
    return run(
        Settings(
            said.data,
            dialects={int(number): name for number, name in map(_row, said.dialect)},
            archives=not said.no_archive,
            without_bodies=tuple(names.parse(pattern) for pattern in said.without_bodies),
            keep_days=said.keep_days,
            parent=said.parent,
            keeping=Keeping(said.snapshot_bytes, said.keep_bytes),
            dedup=tuple((names.parse(pattern), int(us)) for pattern, us in map(_row, said.dedup)),
            dialect_dedup={int(number): int(us) for number, us in map(_row, said.dialect_dedup)},
        )
    )


def _row(said: str) -> tuple[str, str]:
    name, _, value = said.rpartition("=")
    return name, value


if __name__ == "__main__":
    sys.exit(main())
