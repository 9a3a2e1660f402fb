"""`penstock dead list`: looking at dead letters. Nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import click

from penstock.cli.flags import data_option
from penstock.cli.output import (
    JSON,
    Cell,
    Column,
    field_cell,
    output_option,
    print_json,
    print_table,
    shortened,
    time_cell,
    with_iso,
)
from penstock.cli.paths import QUEUE
from penstock.cli.program import WithExamples
from penstock.cli.sieving import Letters, sieve_options

LIMIT: Final = 20


@click.command(
    "list",
    cls=WithExamples,
    examples=["penstock dead list orders.dead", "penstock dead list orders.dead --from orders --matches 'id=4[0-9]+'"],
)
@click.argument("queue", type=QUEUE)
@sieve_options
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", default=LIMIT, show_default=True, help="At most so many."
)
@data_option
@output_option
def list_letters(queue: bytes, limit: int, data: str, output: str, **sieve: Any) -> None:
    """List the dead letters of a queue, those first that would be handed out first.

    `of` is the message that was dropped, whose whole life `penstock message show` tells, and `from` is its queue. A
    dead letter that somebody holds is not listed.
    """
    letters = Letters(data, queue, sieve, limit)
    shapes = [letter.shape for letter in letters]
    if output == JSON:
        print_json({"messages": [with_times(shape) for shape in shapes]})
    elif shapes:
        print_letters(shapes)
        if len(shapes) == limit:
            click.echo(f"There may be more; these are the first {limit:,}.", err=True)
    else:
        letters.say_none()


def with_times(shape: Mapping[str, Any]) -> dict[str, Any]:
    return with_iso(shape, "died_us")


def print_letters(shapes: Iterable[Mapping[str, Any]]) -> None:
    print_table(_COLUMNS, map(_row, shapes))


_COLUMNS: Final = (
    Column("id"),
    Column("died"),
    Column("of"),
    Column("from"),
    Column("priority", right=True),
    Column("key"),
    Column("body"),
)


def _row(shape: Mapping[str, Any]) -> tuple[Cell, ...]:
    return (
        shape["id"],
        time_cell(shape["died_us"]),
        shape["dead_of"],
        "-" if shape["dead_from"] is None else shape["dead_from"],
        str(shape["priority"]),
        shortened(field_cell(shape, "key")),
        shortened(field_cell(shape, "body")),
    )
