"""`penstock queue purge` and `delete`: messages go for ever, so both ask first and say how many went."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import click

from penstock.cli.confirming import insist, yes_option
from penstock.cli.flags import data_option
from penstock.cli.output import JSON, counted, output_option, print_json
from penstock.cli.paths import QUEUE, queue_path
from penstock.cli.program import WithExamples
from penstock.cli.remote import Remote
from penstock.codecs import names

WAITING: Final = ("ready", "delayed", "parked")
# The server goes through every message it holds.
TIMEOUT_S: Final = 600.0


@click.command(cls=WithExamples, examples=["penstock queue purge orders", "penstock queue purge orders --yes"])
@click.argument("queue", type=QUEUE)
@yes_option
@data_option
@output_option
def purge(queue: bytes, yes: bool, data: str, output: str) -> None:
    """Delete every message of a queue that nobody holds. The queue and its policy stay.

    It asks first, with the number of messages; as JSON it never asks and needs --yes.
    """
    name = names.show(queue)
    remote = Remote(data, name)
    counts = remote.get(queue_path(queue))["counts"]
    insist(f"Delete {counted(_sum(counts, WAITING), 'message')} of {name} for ever?", yes, output)
    answer = remote.post(queue_path(queue, "/purge"), {}, TIMEOUT_S)
    if output == JSON:
        print_json(answer)
        return
    click.echo(f"purged {name}: {counted(answer['deleted'], 'message')} deleted")
    if counts["leased"]:
        click.echo(f"Not those that are leased: {counted(counts['leased'], 'message')}.", err=True)


@click.command(cls=WithExamples, examples=["penstock queue delete orders", "penstock queue delete orders --yes"])
@click.argument("queue", type=QUEUE)
@yes_option
@data_option
@output_option
def delete(queue: bytes, yes: bool, data: str, output: str) -> None:
    """Delete a queue with its policy and every message in it, leased ones too.

    It asks first, with the number of messages; as JSON it never asks and needs --yes.
    """
    name = names.show(queue)
    remote = Remote(data, name)
    live = _sum(remote.get(queue_path(queue))["counts"], (*WAITING, "leased"))
    insist(f"Delete {name} with {counted(live, 'message')} for ever?", yes, output)
    answer = remote.delete(queue_path(queue), TIMEOUT_S)
    if output == JSON:
        print_json(answer)
    else:
        click.echo(f"deleted {name}: {counted(answer['deleted'], 'message')} went with it")


def _sum(counts: Mapping[str, int], places: tuple[str, ...]) -> int:
    return sum(counts[place] for place in places)
