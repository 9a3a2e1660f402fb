"""`penstock message publish`: what a message may be made of, and where its body comes from."""

from __future__ import annotations

import base64
import binascii
import os
import sys
from typing import Final

import click

from penstock.cli.durations import Duration, seconds
from penstock.cli.flags import data_option
from penstock.cli.output import JSON, bytes_fields, output_option, print_json
from penstock.cli.paths import QUEUE, queue_path
from penstock.cli.program import WithExamples
from penstock.cli.remote import Remote
from penstock.codecs import names
from penstock.model import limits

STDIN: Final = "-"


@click.command(
    cls=WithExamples,
    examples=[
        "penstock message publish orders 'hello'",
        "penstock message publish orders 'later' --delay 5m --ttl 1h --priority 10",
        "penstock message publish images --file photo.jpg",
        "date | penstock message publish orders -",
    ],
)
@click.argument("queue", type=QUEUE)
@click.argument("body", required=False)
@click.option("--file", type=click.Path(exists=True, dir_okay=False), help="Read the body from this file.")
@click.option("--body64", is_flag=True, help="The body is given as base64.")
@click.option("--delay", type=Duration(limits.DELAY_MAX_US), help="Not ready before this has passed, such as 5s.")
@click.option("--ttl", type=Duration(limits.TTL_MAX_US), help="How long it lives, such as 1h; 0: for ever.")
@click.option(
    "--lease",
    type=Duration(limits.LEASE_MAX_US),
    help="How long each reservation of it lasts, such as 30s; else the queue decides.",
)
@click.option(
    "--priority",
    type=click.IntRange(limits.PRIORITY_MIN, limits.PRIORITY_MAX),
    metavar="N",
    default=0,
    show_default=True,
    help="Higher is handed out first.",
)
@click.option("--key", help="Messages of one key are mates.")
@click.option("--dedup-id", help="A message with the same id, within the queue's window, is the same message.")
@data_option
@output_option
def publish(
    queue: bytes,
    body: str | None,
    file: str | None,
    body64: bool,
    delay: int | None,
    ttl: int | None,
    lease: int | None,
    priority: int,
    key: str | None,
    dedup_id: str | None,
    data: str,
    output: str,
) -> None:
    """Publish a message and print its id.

    BODY is the text of the message, or - for what stands on stdin. The queue is made if it is not there.
    """
    form = {
        **bytes_fields("body", read_body(body, file, body64)),
        **key_fields(key),
        "delay_s": seconds(delay),
        "ttl_s": seconds(ttl),
        "lease_s": seconds(lease),
        "priority": priority,
        "dedup_id": dedup_id,
    }
    answer = Remote(data, names.show(queue)).post(queue_path(queue, "/messages"), form)
    if output == JSON:
        print_json(answer)
        return
    click.echo(answer["id"])
    if answer["duplicate"]:
        click.echo("It had been published before, with the same dedup id; nothing was added.", err=True)


def read_body(text: str | None, file: str | None, is_base64: bool) -> bytes:
    """Raises UsageError where the body is not said exactly once."""
    if (text is None) == (file is None):
        raise click.UsageError("Say the body once: as BODY, as - for stdin, or with --file.")
    data = _raw(text, file)
    return _decoded(data) if is_base64 else data


def _raw(text: str | None, file: str | None) -> bytes:
    if file is not None:
        with open(file, "rb") as opened:
            return opened.read()
    assert text is not None
    return sys.stdin.buffer.read() if text == STDIN else os.fsencode(text)


def _decoded(data: bytes) -> bytes:
    try:
        return base64.b64decode(b"".join(data.split()), validate=True)
    except binascii.Error:
        raise click.UsageError("With --body64 the body must be base64, and this is not.") from None


def key_fields(key: str | None) -> dict[str, str]:
    return {} if key is None else bytes_fields("key", os.fsencode(key))
