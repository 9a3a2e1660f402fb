"""`penstock queue`: the table of its commands."""

from __future__ import annotations

import click

from penstock.cli.changing import change, create, pause, resume
from penstock.cli.emptying import delete, purge
from penstock.cli.program import Program
from penstock.cli.surveying import list_queues, show


@click.group(
    cls=Program,
    examples=["penstock queue list", "penstock queue create orders --attempts 5 --dead-letter orders.dead"],
)
def queue() -> None:
    """Look at the queues of a running server; make, change and empty them."""


for command in (list_queues, show, create, change, pause, resume, purge, delete):
    queue.add_command(command)
