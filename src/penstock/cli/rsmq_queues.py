"""`penstock rsmq queue`: list, create, describe, delete."""

from __future__ import annotations

import json
from typing import Any

import click

from penstock.cli.program import WithExamples
from penstock.cli.rsmq_door import Door, Said, Whole, is_name, name_option, no_queue
from penstock.cli.rsmq_store import NO_LIMIT, SECONDS_MAX, SIZE_MAX, SIZE_MIN


class Size(Whole):
    """Bytes of a message, within what RSMQ allows, or -1."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        return NO_LIMIT if str(value) == str(NO_LIMIT) else super().convert(value, param, ctx)


@click.command("list", cls=WithExamples, examples=["penstock rsmq queue list"])
@click.pass_obj
def list_queues(door: Door) -> None:
    """List all queues on the server, by name."""
    with door.opened() as store:
        queues = [queue.decode("utf-8", "surrogateescape") for queue in store.queues()]
    click.echo(json.dumps(sorted(queues)))


@click.command(
    cls=WithExamples,
    examples=["penstock rsmq queue create -n orders", "penstock rsmq queue create -n orders -t 60 -d 5 -m 1024"],
)
@name_option
@click.option(
    "-t",
    "--visibility-timeout",
    "vt",
    type=Whole(0, SECONDS_MAX),
    default=30,
    show_default=True,
    help="Seconds that a message stays hidden once it was received.",
)
@click.option(
    "-d",
    "--delay",
    type=Whole(0, SECONDS_MAX),
    default=0,
    show_default=True,
    help="Seconds before a new message is visible.",
)
@click.option(
    "-m",
    "--maxsize",
    type=Size(SIZE_MIN, SIZE_MAX),
    default=65_535,
    show_default=True,
    help="Bytes that a message may have; -1: no limit.",
)
@click.pass_obj
def create(door: Door, name: str, vt: int, delay: int, maxsize: int) -> None:
    """Create a new queue."""
    if not is_name(name):
        raise Said(f"Failed to create queue: {name}")
    with door.opened() as store:
        if not store.create(name, vt, delay, maxsize):
            raise Said(f"Queue already exists: {name}")


@click.command(cls=WithExamples, examples=["penstock rsmq queue describe -n orders"])
@name_option
@click.pass_obj
def describe(door: Door, name: str) -> None:
    """Describe the attributes of a queue."""
    with door.opened() as store:
        found = store.describe(name) if is_name(name) else None
    if found is None:
        raise no_queue(name)
    click.echo(json.dumps(found))


@click.command("delete", cls=WithExamples, examples=["penstock rsmq queue delete -n orders"])
@name_option
@click.pass_obj
def delete_queue(door: Door, name: str) -> None:
    """Delete a queue and all its messages."""
    with door.opened() as store:
        if not is_name(name) or not store.drop(name):
            raise no_queue(name)
