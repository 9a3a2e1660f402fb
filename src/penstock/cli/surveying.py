"""`penstock queue list` and `show`: looking at queues. Nothing is changed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

import click

from penstock.cli import durations
from penstock.cli.flags import data_option
from penstock.cli.output import (
    JSON,
    Cell,
    Column,
    Styled,
    output_option,
    print_fields,
    print_json,
    print_table,
    size_cell,
    time_cell,
    with_iso,
)
from penstock.cli.paths import QUEUE, queue_path
from penstock.cli.program import WithExamples
from penstock.cli.remote import Remote
from penstock.codecs import names

QUEUE_TIMES: Final = ("created_us", "modified_us", "oldest_ready_us")
LIVE: Final = ("ready", "delayed", "parked", "leased")
ENDED: Final = ("finished", "dropped", "expired", "deleted")
RARE: Final = ("parked", "expired", "deleted")  # left out of the list where no queue has any


@click.command("list", cls=WithExamples, examples=["penstock queue list", "penstock queue list --output json"])
@data_option
@output_option
def list_queues(data: str, output: str) -> None:
    """List the queues: where their messages are and how they ended."""
    queues = [with_iso(shape, *QUEUE_TIMES) for shape in Remote(data).get("/queues")["queues"]]
    if output == JSON:
        print_json({"queues": queues})
    else:
        _print_list(queues)


def _print_list(queues: list[dict[str, Any]]) -> None:
    rare = [name for name in RARE if any(shape["counts"][name] for shape in queues)]
    counted = [name for name in (*LIVE, *ENDED) if name in rare or name not in RARE]
    columns = [Column(name, right=True) for name in (*counted, "waiting", "oldest")]
    print_table([Column("queue"), *columns, Column("")], [_row(shape, counted) for shape in queues])


def _row(shape: Mapping[str, Any], counted: list[str]) -> list[Cell]:
    counts = [f"{shape['counts'][name]:,}" for name in counted]
    paused = Styled("paused", "yellow") if shape["paused"] else ""
    return [shape["name"], *counts, f"{shape['waiting']:,}", _age(shape["oldest_ready_us"]), paused]


def _age(us: int | None) -> str:
    return "-" if us is None else durations.show(max(0, time.time_ns() // 1_000 - us))


@click.command(cls=WithExamples, examples=["penstock queue show orders"])
@click.argument("queue", type=QUEUE)
@data_option
@output_option
def show(queue: bytes, data: str, output: str) -> None:
    """Show one queue: its counts, what holds for its messages, and who said so."""
    shape = with_iso(Remote(data, names.show(queue)).get(queue_path(queue)), *QUEUE_TIMES)
    if output == JSON:
        print_json(shape)
    else:
        print_fields(_fields(shape))


def _fields(shape: Mapping[str, Any]) -> Iterator[tuple[str, Cell]]:
    counts = shape["counts"]
    yield "queue", shape["name"]
    yield "paused", Styled("yes", "yellow") if shape["paused"] else "no"
    yield "made by", shape["dialect"]
    yield "made at", time_cell(shape["created_us"])
    yield "changed at", time_cell(shape["modified_us"])
    yield "published", f"{counts['published']:,}"
    for name in (*LIVE, *ENDED):
        yield f"  {name}", f"{counts[name]:,}"
    yield "delivered", f"{counts['delivered']:,}"
    yield "failed", f"{counts['failed']:,}"
    yield "bodies", size_cell(counts["body_bytes"])
    yield "oldest ready", _age(shape["oldest_ready_us"])
    yield "clients waiting", f"{shape['waiting']:,}"
    for key, value in shape["effective"].items():
        yield key, f"{_policy_value(value)} ({_source(shape['sources'][key])})"


def _source(told: str) -> str:
    return "said of this queue" if told == "queue" else f"by {told}"


def _policy_value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
