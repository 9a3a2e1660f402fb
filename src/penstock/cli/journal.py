"""`penstock journal`: looks at the journal's files, be a server running or not, and mends them on request."""

from __future__ import annotations

from typing import Any, Final

import click

from penstock.cli.confirming import confirmed, yes_option
from penstock.cli.flags import data_option
from penstock.cli.output import (
    JSON,
    Column,
    Styled,
    counted,
    output_option,
    print_json,
    print_json_line,
    print_table,
    size_cell,
    time_cell,
    with_iso,
)
from penstock.cli.program import Program
from penstock.server import exits

_SEGMENT: Final = ("number", "name", "state", "bytes", "facts", "first", "last", "first_at_us", "last_at_us")
_SNAPSHOT: Final = ("number", "name", "state", "bytes", "messages", "queues", "last", "last_at_us")
_DAMAGE: Final = ("file", "offset", "expected", "reason", "torn")
_STATE_STYLES: Final = {"damaged": "red", "missing": "red", "torn": "yellow"}


@click.group(cls=Program, examples=["penstock journal info", "penstock journal verify --data /var/lib/penstock"])
def journal() -> None:
    """Look at the journal's files, and mend them.

    These commands need no server; all but `repair` also work beside one.
    """


@journal.command(examples=["penstock journal info"])
@data_option
@output_option
def info(data: str, output: str) -> None:
    """List the snapshot and the segments: how large, how many facts, from when to when.

    A snapshot holds what lived after its last fact; segments up to it need not be there any more.
    """
    from penstock.cli.directory import journal_disk
    from penstock.journal import check

    disk = journal_disk(data)
    snapshots = [_plain(snapshot, _SNAPSHOT) for snapshot in check.snapshots(disk)]
    segments = [_plain(segment, _SEGMENT) for segment in check.info(disk)]
    if output == JSON:
        print_json(
            {
                "snapshots": [with_iso(snapshot, "last_at_us") for snapshot in snapshots],
                "segments": [with_iso(segment, "first_at_us", "last_at_us") for segment in segments],
            }
        )
    else:
        print_table(_INFO_COLUMNS, [*map(_snapshot_row, snapshots), *map(_info_row, segments)])


_INFO_COLUMNS: Final = (
    Column("file"),
    Column("state"),
    Column("size", right=True),
    Column("facts", right=True),
    Column("first fact", right=True),
    Column("last fact", right=True),
    Column("from"),
    Column("to"),
)


def _snapshot_row(snapshot: dict[str, Any]) -> tuple[str | Styled, ...]:
    state = f"{snapshot['state']}, {counted(snapshot['messages'], 'message')}"
    return (
        snapshot["name"],
        Styled(state, _STATE_STYLES.get(snapshot["state"], "")),
        size_cell(snapshot["bytes"]),
        "-",
        "-",
        f"{snapshot['last']:,}",
        "-",
        time_cell(snapshot["last_at_us"]),
    )


def _info_row(segment: dict[str, Any]) -> tuple[str | Styled, ...]:
    state = segment["state"]
    return (
        segment["name"],
        Styled(state, _STATE_STYLES.get(state, "")),
        size_cell(segment["bytes"]),
        f"{segment['facts']:,}",
        f"{segment['first']:,}" if segment["facts"] else "-",
        f"{segment['last']:,}" if segment["facts"] else "-",
        time_cell(segment["first_at_us"]),
        time_cell(segment["last_at_us"]),
    )


@journal.command(examples=["penstock journal verify", "penstock journal verify --data backup --output json"])
@data_option
@output_option
def verify(data: str, output: str) -> int:
    """Read every byte of the journal and say what is wrong with it.

    Exits 0 if it is sound, 4 if it is damaged. A torn tail, left by a crash, is no damage: nobody was promised what
    was in it, and the next start cuts it off.
    """
    from penstock.cli.directory import WatchedDisk, journal_path
    from penstock.cli.progress import progress
    from penstock.journal import check

    with progress("verifying") as tell:
        disk = WatchedDisk(journal_path(data), tell)
        problems = [_plain(problem, _DAMAGE) for problem in check.verify(disk)]
    damaged = [problem for problem in problems if not problem["torn"]]
    if output == JSON:
        print_json({"sound": not damaged, "bytes": disk.bytes_read, "problems": problems})
    else:
        _print_verdict(problems, bool(damaged), disk.bytes_read)
    return exits.DAMAGED if damaged else exits.CLEAN


def _print_verdict(problems: list[dict[str, Any]], damaged: bool, bytes_read: int) -> None:
    if problems:
        print_table(
            [Column("file"), Column("byte", right=True), Column("fact", right=True), Column("problem", folds=True)],
            [(row["file"], f"{row['offset']:,}", f"{row['expected']:,}", row["reason"]) for row in problems],
        )
    click.echo(f"The journal is {'damaged' if damaged else 'sound'}; {size_cell(bytes_read)} read.")
    if damaged:
        click.echo("`penstock journal repair` says what a repair would give up, before it does anything.")


@journal.command(
    "dump",
    examples=[
        "penstock journal dump --from 1000 --limit 20",
        "penstock journal dump --message 0pCk2X9LqZ",
        "penstock journal dump --output json > facts.jsonl",
    ],
)
@data_option
@click.option("--from", "first", type=click.IntRange(min=1), default=1, metavar="N", help="Begin with this fact.")
@click.option("--message", metavar="ID", help="Only facts of this message.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many facts.")
@output_option
def dump_facts(data: str, first: int, message: str | None, limit: int | None, output: str) -> None:
    """Print the facts, one a line.

    As JSON each line is an object of its own, with whole bodies; a table shows the beginning of a body. What is not
    text is shown as base64.
    """
    from penstock.cli import dump

    found = dump.shapes(data, first, message, limit)
    if output == JSON:
        for shape in found:
            print_json_line(shape)
    else:
        click.echo(dump.HEAD)
        for shape in found:
            click.echo(dump.line(shape))


@journal.command(examples=["penstock journal repair", "penstock journal repair --data /var/lib/penstock --yes"])
@data_option
@yes_option
@output_option
def repair(data: str, yes: bool, output: str) -> int:
    """Make a damaged journal one that a server accepts.

    First it shows exactly what would be given up, then it asks; as JSON it never asks, and without --yes changes
    nothing. What leaves the journal is kept beside it: damaged files as `*.damaged`, facts that can be read but not
    replayed as `*.salvaged.jsonl`. A sound journal is not touched. Exits 4 if the journal stays damaged.
    """
    from penstock.cli import mending
    from penstock.cli.directory import journal_disk

    disk = journal_disk(data)
    with mending.held(data):
        plan, repair_journal = mending.planned(disk)
        if output != JSON:
            mending.print_plan(plan)
        agreed = bool(plan.damages) and (yes or (output != JSON and confirmed("\nRepair the journal at this price?")))
        if agreed:
            repair_journal()
    if output == JSON:
        print_json({"repaired": agreed, **mending.plan_shape(plan)})
    elif plan.damages:
        click.echo("The journal is sound again." if agreed else "Nothing was changed; the journal is still damaged.")
    return exits.DAMAGED if plan.damages and not agreed else exits.CLEAN


def _plain(thing: object, fields: tuple[str, ...]) -> dict[str, Any]:
    return {field: getattr(thing, field) for field in fields}
