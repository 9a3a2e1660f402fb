"""`penstock message reserve`, `finish` and `release`: working on messages by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import click

from penstock.cli.durations import Duration, seconds
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
from penstock.cli.paths import QUEUE, message_path, queue_path
from penstock.cli.program import FAILED, WithExamples
from penstock.cli.remote import TIMEOUT_S, Refused, Remote
from penstock.codecs import names
from penstock.model import limits
from penstock.server import exits

LEASE: Final = Duration(limits.LEASE_MAX_US)
DELAY: Final = Duration(limits.DELAY_MAX_US)
WAIT: Final = Duration(limits.WAIT_MAX_S * limits.SECOND_US)


@click.command(
    cls=WithExamples,
    examples=["penstock message reserve orders", "penstock message reserve orders --lease 2m --wait 10s --max 5"],
)
@click.argument("queue", type=QUEUE)
@click.option("--lease", type=LEASE, help="How long the reservation lasts, such as 30s; else the queue decides.")
@click.option("--wait", type=WAIT, default="0", help="How long to wait for a message if there is none, such as 10s.")
@click.option(
    "--max",
    "most",
    type=click.IntRange(1, limits.RESERVE_MAX),
    metavar="N",
    default=1,
    show_default=True,
    help="At most so many.",
)
@data_option
@output_option
def reserve(queue: bytes, lease: int | None, wait: int, most: int, data: str, output: str) -> int:
    """Be handed the next messages of a queue: their ids and whole bodies.

    Each belongs to you until its lease ends; then finish or release it by its id. Exits 1 if there was none.
    """
    form = {"lease_s": seconds(lease), "wait_s": seconds(wait), "max": most}
    answer = Remote(data, names.show(queue)).post(
        queue_path(queue, "/reserve"), form, TIMEOUT_S + wait / limits.SECOND_US
    )
    messages = [with_iso(shape, "until_us") for shape in answer["messages"]]
    if output == JSON:
        print_json({"messages": messages})
    elif messages:
        print_table(_RESERVE_COLUMNS, map(_reserve_row, messages))
    else:
        click.echo("Nothing is ready.", err=True)
    return exits.CLEAN if messages else FAILED


_RESERVE_COLUMNS: Final = (
    Column("id"),
    Column("until"),
    Column("delivery", right=True),
    Column("key"),
    Column("body", folds=True),
)


def _reserve_row(shape: Mapping[str, Any]) -> tuple[Cell, ...]:
    return (
        shape["id"],
        time_cell(shape["until_us"]),
        str(shape["deliveries"]),
        shortened(field_cell(shape, "key")),
        field_cell(shape, "body"),
    )


@click.command(
    cls=WithExamples, examples=["penstock message finish 0pCk2X9LqZ", "penstock message finish 0pCk2X9LqZ 4ZkY0aB3xQ"]
)
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@data_option
@output_option
def finish(ids: tuple[str, ...], data: str, output: str) -> int:
    """End messages well: their work is done."""
    remote = Remote(data)
    return _each(ids, lambda path: remote.post(f"{path}/finish", {}), "finished", output)


@click.command(
    cls=WithExamples,
    examples=["penstock message release 0pCk2X9LqZ", "penstock message release 0pCk2X9LqZ --delay 1m --failed"],
)
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@click.option("--delay", type=DELAY, help="Not ready again before this has passed, such as 1m.")
@click.option("--failed", is_flag=True, help="The work failed: count it against the queue's attempts.")
@data_option
@output_option
def release(ids: tuple[str, ...], delay: int | None, failed: bool, data: str, output: str) -> int:
    """Give reserved messages back: they become ready again."""
    remote = Remote(data)
    form = {"delay_s": seconds(delay), "failed": failed}
    return _each(ids, lambda path: remote.post(f"{path}/release", form), "released", output)


def _each(ids: Iterable[str], ask: Callable[[str], object], done: str, output: str) -> int:
    """One after the other; what the server refuses is told, and the others are done all the same."""
    results = [_one(message_id, ask, done) for message_id in ids]
    if output == JSON:
        print_json({"messages": results})
        return _worst(results)
    for result in results:
        error = result.get("message")
        click.echo(f"{result['id']}: {error}" if error else f"{done} {result['id']}", err=bool(error))
    return _worst(results)


def _one(message_id: str, ask: Callable[[str], object], done: str) -> dict[str, Any]:
    try:
        ask(message_path(message_id))
    except Refused as refused:
        return {"id": message_id, done: False, "error": refused.code, "message": refused.message}
    return {"id": message_id, done: True}


def _worst(results: Iterable[Mapping[str, Any]]) -> int:
    return FAILED if any("error" in result for result in results) else exits.CLEAN
