"""`python -m penstock.history`: what a server starts to have its archive written. People use `penstock archive`."""

from __future__ import annotations

import argparse
import sys

from penstock.codecs import names
from penstock.history.process import Settings, run


def main() -> int:
    parser = argparse.ArgumentParser("penstock.history")
    parser.add_argument("--data", required=True)
    parser.add_argument("--dialect", action="append", default=[], metavar="NUMBER=NAME")
    parser.add_argument("--without-bodies", action="append", default=[], metavar="QUEUE")
    parser.add_argument("--keep-days", type=int, default=0)
    parser.add_argument("--parent", type=int, default=0, metavar="PID")
    said = parser.parse_args()
    dialects = dict(_dialect(row) for row in said.dialect)
    without = tuple(names.parse(pattern) for pattern in said.without_bodies)
    return run(Settings(said.data, dialects, without, said.keep_days, said.parent))


def _dialect(row: str) -> tuple[int, str]:
    number, _, name = row.partition("=")
    return int(number), name


if __name__ == "__main__":
    sys.exit(main())
