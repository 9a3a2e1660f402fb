"""`penstock message`: the table of its commands."""

from __future__ import annotations

import click

from penstock.cli.handling import finish, release, reserve
from penstock.cli.looking import peek, show
from penstock.cli.program import Program
from penstock.cli.publishing import publish


@click.group(
    cls=Program,
    examples=["penstock message publish orders 'hello' --delay 5s", "penstock message show 0pCk2X9LqZ"],
)
def message() -> None:
    """Publish, reserve and end messages by hand; look at them."""


for command in (publish, peek, reserve, finish, release, show):
    message.add_command(command)
