"""`python -m bench`: speed against the peers, what a backlog and the archive cost, and the pipeline against DuckDB.

All is measured in one run, interleaved and shuffled.

It ends with 1 when a floor is missed.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from bench import archiving, backlog, burden, compiled, machine, past, pipeline, speed, stock, tables
from bench.rabbit import NODE
from bench.rounds import Bench, Results, one_round
from bench.rows import Row, rows
from bench.tables import Table

QUICK_S = 0.1
QUICK_MESSAGES = 2_000
QUICK_FACTS = 10_000
QUICK_HISTORY = 100_000
TABLES = ("speed", "stock", "backlog", "archiving", "pipeline")


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("tables", nargs="*", help=f"{', '.join(TABLES)}; all, or speed where rows or peers are named")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of every row; the median is told (5)")
    parser.add_argument("--most-rounds", type=int, default=20, help="of rows on both sides of their floor (20)")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one measurement (1)")
    parser.add_argument("--rows", default="", help="rows whose name holds one of these texts: 'write,4 x 100'")
    parser.add_argument("--peers", default="", help="rows whose title holds one of these texts: 'beanstalkd,RSMQ'")
    parser.add_argument("--messages", type=int, default=1_000_000, help="size of the backlog (1,000,000)")
    parser.add_argument("--history", type=int, default=10_000_000, help="facts before the backlog (10,000,000)")
    parser.add_argument("--facts", type=int, default=10_000_000, help="size of the pipeline's archive (10,000,000)")
    parser.add_argument("--quick", action="store_true", help="one short round, a small backlog: does it run at all")
    parser.add_argument("--report", action="store_true", help="end with 0 even when a floor is missed")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables into the page too")
    asked = parser.parse_args(words)
    asked.tables = asked.tables or (["speed"] if asked.rows or asked.peers else [*TABLES])
    if asked.quick:
        asked.rounds, asked.seconds, asked.messages, asked.facts = 1, QUICK_S, QUICK_MESSAGES, QUICK_FACTS
        asked.most_rounds, asked.history = asked.rounds, QUICK_HISTORY
    return asked


def chosen(asked: argparse.Namespace) -> list[Row]:
    if "speed" not in asked.tables:
        return []
    return [row for row in rows() if holds(str(row), asked.rows) and holds(row.title, asked.peers)]


def holds(name: str, texts: str) -> bool:
    return any(text in name for text in texts.split(","))


def commands(table: list[Row]) -> set[str]:
    return {row.peer.command for row in table if row.peer.command}


def libraries(table: list[Row]) -> set[str]:
    return {row.peer.library for row in table if row.peer.library}


def run_speed(bench: Bench, table: list[Row], rounds: int, most: int) -> tuple[Table, str]:
    """Rows whose rounds lie on both sides of their floor go on: so few do not tell on which side they are."""
    results: Results = {}
    for number in range(rounds):
        one_round(bench, table, results)
        progress(f"speed: round {number + 1} of {rounds}")
    wavering = speed.wavering(speed.lines(table, results))
    for number in range(rounds, most if wavering else rounds):
        one_round(bench, wavering, results)
        progress(f"speed: round {number + 1} of {most}, for {len(wavering)} rows on both sides of their floors")
    told = speed.lines(table, results)
    return speed.table(told), f"{speed.behind(told)}\n{speed.others(told)}"


def run_backlog(bench: Bench, messages: int, history: int, rounds: int) -> list[Table]:
    alone = backlog.weigh(bench, messages, rounds)
    progress("backlog: weighed")
    outlived = past.outlive(bench, messages, history, rounds)
    progress(f"backlog: {history:,} facts made and folded in {outlived.made_s:.0f} s")
    weights = burden.weight_table(alone, outlived, messages)
    measured = []
    for growth in backlog.growths(messages):
        measured.append((growth, backlog.grow(bench, growth, rounds)))
        progress(f"backlog: {growth.name}")
    return [weights, burden.growth_table(measured)]


def progress(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


def run(asked: argparse.Namespace) -> int:
    table = chosen(asked)
    absent = {command for command in commands(table) if shutil.which(command) is None}
    if absent:
        progress(f"not installed: {', '.join(sorted(absent))}; Debian has packages of these names")
        return 2
    generator = compiled.place()
    about = machine.told(commands(table), libraries(table), generator)
    print(about, flush=True)
    with contextlib.closing(NODE), tempfile.TemporaryDirectory(prefix="run-", dir=compiled.builds()) as directory:
        return measure(Bench(Path(directory), generator, asked.seconds), asked, table, about)


def measure(bench: Bench, asked: argparse.Namespace, table: list[Row], about: str) -> int:
    about += f" {asked.rounds} rounds of {asked.seconds:g} s."
    made: list[tuple[Table, str]] = []
    if table:
        made.append(run_speed(bench, table, asked.rounds, asked.most_rounds))
    if "stock" in asked.tables:
        made.append((stock.measure(bench, asked.rounds), ""))
    if "backlog" in asked.tables:
        made += [(one, "") for one in run_backlog(bench, asked.messages, asked.history, asked.rounds)]
    if "archiving" in asked.tables:
        made.append((archiving.measure(bench, asked.rounds), ""))
    if "pipeline" in asked.tables:
        made += [(one, "") for one in pipeline.measure(bench.directory, asked.facts, asked.rounds, progress)]
    for one, remark in made:
        print(f"\n{one.plain()}\n{remark}".rstrip())
        if asked.markdown is not None:
            tables.write(asked.markdown, one.name, f"{about}\n\n{one.markdown()}\n\n{remark}".rstrip())
    below = any(tables.BELOW in one.verdicts for one, _ in made)
    return 1 if below and not asked.report else 0


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    return run(arguments(sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
