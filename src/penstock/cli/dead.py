"""`penstock dead`: the table of its commands."""

from __future__ import annotations

import click

from penstock.cli.letters import list_letters
from penstock.cli.program import Program
from penstock.cli.redriving import purge, redrive


@click.group(
    cls=Program,
    examples=["penstock dead list orders.dead", "penstock dead redrive orders.dead --rate 500/s"],
)
def dead() -> None:
    """Look at dead letters, and redrive or delete them.

    A message that failed as often as its queue's policy allows is dropped; a copy of it, its dead letter, is put into
    the queue that the policy names. QUEUE is that dead-letter queue.
    """


for command in (list_letters, redrive, purge):
    dead.add_command(command)
