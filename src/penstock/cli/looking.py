"""`penstock message peek` and `show`: looking at messages, and at what became of them. Nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

import click

from penstock.cli import durations
from penstock.cli.facts import STYLES, TIMES, details
from penstock.cli.flags import data_option
from penstock.cli.output import (
    JSON,
    Cell,
    Column,
    Styled,
    field_cell,
    output_option,
    print_fields,
    print_json,
    print_table,
    printable,
    shortened,
    time_cell,
    with_iso,
)
from penstock.cli.paths import QUEUE, message_path, queue_path
from penstock.cli.program import WithExamples
from penstock.cli.remote import Remote
from penstock.codecs import names
from penstock.model import limits

MESSAGE_TIMES: Final = ("published_us", "ready_us", "expires_us", "leased_us", "until_us")
# The server looks through its whole journal for what became of a message.
SHOW_TIMEOUT_S: Final = 600.0


@click.command(cls=WithExamples, examples=["penstock message peek orders --limit 3"])
@click.argument("queue", type=QUEUE)
@click.option(
    "--limit",
    type=click.IntRange(1, limits.PEEK_MAX),
    metavar="N",
    default=10,
    show_default=True,
    help="At most so many.",
)
@data_option
@output_option
def peek(queue: bytes, limit: int, data: str, output: str) -> None:
    """Look at the messages that would be handed out next, and change nothing."""
    answer = Remote(data, names.show(queue)).get(queue_path(queue, f"/messages?limit={limit}"))
    messages = [with_iso(shape, *MESSAGE_TIMES) for shape in answer["messages"]]
    if output == JSON:
        print_json({"messages": messages})
    else:
        print_table(_PEEK_COLUMNS, map(_peek_row, messages))


_PEEK_COLUMNS: Final = (
    Column("id"),
    Column("priority", right=True),
    Column("published"),
    Column("deliveries", right=True),
    Column("key"),
    Column("body"),
)


def _peek_row(shape: Mapping[str, Any]) -> tuple[Cell, ...]:
    return (
        shape["id"],
        str(shape["priority"]),
        time_cell(shape["published_us"]),
        str(shape["deliveries"]),
        shortened(field_cell(shape, "key")),
        shortened(field_cell(shape, "body")),
    )


@click.command(
    cls=WithExamples, examples=["penstock message show 0pCk2X9LqZ", "penstock message show 0pCk2X9LqZ --output json"]
)
@click.argument("id")
@data_option
@output_option
def show(id: str, data: str, output: str) -> None:
    """Show where a message is now, and its whole life, fact by fact.

    Messages that have ended are shown too, as long as their facts are in the journal.
    """
    answer = Remote(data, printable(id)).get(message_path(id), timeout_s=SHOW_TIMEOUT_S)
    if output == JSON:
        print_json(_life_shape(answer))
        return
    print_fields(_live_fields(answer) if answer["live"] else _ended_fields(answer))
    click.echo()
    print_table(_TIMELINE_COLUMNS, _timeline_rows(answer["timeline"]))


def _life_shape(answer: Mapping[str, Any]) -> dict[str, Any]:
    live = answer["live"]
    return {
        "id": answer["id"],
        "live": None if live is None else with_iso(live, *MESSAGE_TIMES),
        "timeline": [with_iso(fact, *TIMES) for fact in answer["timeline"]],
    }


def _live_fields(answer: Mapping[str, Any]) -> Iterator[tuple[str, Cell]]:
    live = answer["live"]
    for name in ("id", "queue", "state", "dialect", "priority", "deliveries", "failures"):
        yield name, str(live[name])
    for name in MESSAGE_TIMES:
        if live[name] is not None:
            yield name.removesuffix("_us"), time_cell(live[name])
    for name in ("key", "dedup_id", "foreign_id", "trace", "principal", "dead_of", "dead_from", "body"):
        if name in live or f"{name}64" in live:
            yield name.replace("_", " "), field_cell(live, name)


def _ended_fields(answer: Mapping[str, Any]) -> Iterator[tuple[str, Cell]]:
    last = answer["timeline"][-1]
    yield "id", answer["id"]
    yield "queue", last["queue"]
    yield "state", Styled(last["kind"], STYLES.get(last["kind"], ""))


_TIMELINE_COLUMNS: Final = (
    Column("time"),
    Column("after", right=True),
    Column("fact"),
    Column("by"),
    Column("reason"),
    Column("details", folds=True),
)


def _timeline_rows(timeline: list[Mapping[str, Any]]) -> Iterator[tuple[Cell, ...]]:
    """Each fact with the time since the one before it."""
    distances = ["", *(f"+{durations.show(later['at_us'] - fact['at_us'])}" for fact, later in pairwise(timeline))]
    for fact, distance in zip(timeline, distances, strict=True):
        kind = fact["kind"]
        yield (
            time_cell(fact["at_us"]),
            distance,
            Styled(kind, STYLES.get(kind, "")),
            fact["dialect"],
            fact["reason"],
            details(fact),
        )
