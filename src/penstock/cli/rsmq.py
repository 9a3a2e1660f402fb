"""`penstock rsmq`, installed as `rsmqctl` too: the table of its commands, and how they find the store.

It needs no data directory: whatever holds RSMQ's keys will do, penstock's facade or a real Redis.
"""

from __future__ import annotations

from typing import Final

import click

from penstock.cli.program import Program
from penstock.cli.rsmq_door import Door
from penstock.cli.rsmq_messages import delete_message, pop, receive, send, visibility
from penstock.cli.rsmq_queues import create, delete_queue, describe, list_queues
from penstock.cli.rsmq_store import NAMESPACE

PROGRAM: Final = "rsmqctl"


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"]},
    examples=[
        "penstock rsmq queue create -n orders",
        "penstock rsmq message send -n orders -m 'hello'",
        "penstock rsmq -r redis://localhost:6379 queue list",
    ],
)
@click.option(
    "-r",
    "--redis-url",
    "url",
    envvar="REDIS_URL",
    show_envvar=True,
    metavar="URL",
    help="The store: redis://, rediss:// or unix://.  [default: the listener `rsmq` of the configuration]",
)
@click.option("--namespace", default=NAMESPACE, show_default=True, help="What the names of its keys begin with.")
@click.option("-v", "--verbose", is_flag=True, help="Show Python tracebacks on error.")
@click.pass_context
def rsmq(ctx: click.Context, url: str | None, namespace: str, verbose: bool) -> None:
    """Manage RSMQ queues and messages, in penstock or in any Redis. Also installed as `rsmqctl`."""
    ctx.obj = Door(url, namespace, verbose)


@rsmq.group(examples=["penstock rsmq queue list", "penstock rsmq queue describe -n orders"])
def queue() -> None:
    """Manage RSMQ queues."""


@rsmq.group(examples=["penstock rsmq message receive -n orders", "penstock rsmq message pop -n orders"])
def message() -> None:
    """Manage RSMQ messages."""


for command in (list_queues, create, describe, delete_queue):
    queue.add_command(command)
for command in (send, receive, pop, delete_message, visibility):
    message.add_command(command)


def rsmqctl() -> None:
    """The same as a program of its own."""
    rsmq.main(prog_name=PROGRAM)


if __name__ == "__main__":
    rsmqctl()
