"""What `penstock pipeline replay` says: what it is about, what cannot be, how it went. As tables and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import click

from penstock.cli.output import (
    Column,
    bytes_fields,
    counted,
    field_cell,
    print_table,
    printable,
    shortened,
    size_cell,
    time_cell,
    with_iso,
)
from penstock.pipeline.plan import Bodiless, Chosen, Row
from penstock.pipeline.sending import Sent

AGAIN: Final = "The same command goes on where this one ended."
DONE: Final = "This replay is done. The same messages once more are a replay of their own: say another --id."
_COLUMNS: Final = (
    Column("message", right=True),
    Column("queue"),
    Column("outcome"),
    Column("published"),
    Column("size", right=True),
    Column("key"),
    Column("body"),
)
# Why a message has no body in the archive, by whether it was published before that begins.
_WHY: Final = {True: "published before the archive begins", False: "the archive leaves its bodies out"}


def print_preview(name: str, to: str, chosen: Chosen, rows: Sequence[Row]) -> None:
    count = f"{counted(chosen.messages, 'message')}, {size_cell(chosen.bytes)}"
    click.echo(f"replay {name}: {count} to {printable(to)}")
    if rows:
        print_table(_COLUMNS, [_cells(row) for row in rows])
    for line in _lacking(chosen.bodiless):
        click.echo(line, err=True)


def _lacking(bodiless: Sequence[Bodiless]) -> Iterator[str]:
    for one in bodiless:
        count = counted(one.messages, "message")
        yield f"{count} of {printable(one.queue)} cannot be replayed: {_WHY[one.before]}."


def _cells(row: Row) -> list[str]:
    shape = row_shape(row)
    numbers = [row.outcome, time_cell(row.published_at_us), size_cell(len(row.body))]
    texts = [shortened(field_cell(shape, name)) for name in ("key", "body")]
    return [str(row.message_seq), printable(row.queue), *numbers, *texts]


def row_shape(row: Row) -> dict[str, Any]:
    key = {} if row.key is None else bytes_fields("key", row.key)
    shape = {
        "message_seq": row.message_seq,
        "queue": row.queue,
        "outcome": row.outcome,
        "published_at_us": row.published_at_us,
        "priority": row.priority,
        **key,
        **bytes_fields("body", row.body),
    }
    return with_iso(shape, "published_at_us")


def bodiless_shape(one: Bodiless) -> dict[str, Any]:
    return {"queue": one.queue, "messages": one.messages, "before_archive": one.before}


def so_far(chosen: Chosen, sent: Sent) -> str:
    return f"{sent.done():,} of {counted(chosen.messages, 'message')} are published. {AGAIN}"


def print_sent(sent: Sent) -> None:
    before = f"; {sent.before:,} were there before" if sent.before else ""
    click.echo(f"published {counted(sent.published, 'message')}, {size_cell(sent.bytes)}{before}")
    if sent.before and not sent.published:
        click.echo(DONE)
