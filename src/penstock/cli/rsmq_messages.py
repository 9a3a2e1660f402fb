"""`penstock rsmq message`: send, receive, pop, delete, visibility."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import click

from penstock.cli.program import WithExamples
from penstock.cli.resp_client import ServerError
from penstock.cli.rsmq_door import Door, Said, Whole, is_name, name_option, no_queue
from penstock.cli.rsmq_store import NO_LIMIT, SECONDS_MAX, Lookup, Received, RsmqStore

F = TypeVar("F", bound=Callable[..., Any])

_SECONDS: Final = Whole(0, SECONDS_MAX)


def id_option(command: F) -> F:
    return click.option("-i", "--message-id", "id", required=True, help="Message identifier.")(command)


@contextmanager
def _queue(door: Door, name: str) -> Iterator[tuple[RsmqStore, Lookup]]:
    """The store and the queue's attributes; there must be such a queue."""
    with door.opened() as store:
        found = store.lookup(name) if is_name(name) else None
        if found is None:
            raise no_queue(name)
        yield store, found


@click.command(
    cls=WithExamples,
    examples=["penstock rsmq message send -n orders -m 'hello'", "penstock rsmq message send -n orders -m later -d 60"],
)
@name_option
@click.option("-m", "--message", required=True, help="Body of the message, no longer than the queue's maxsize.")
@click.option("-d", "--delay", type=_SECONDS, help="Seconds before it is visible.  [default: the queue's own]")
@click.pass_obj
def send(door: Door, name: str, message: str, delay: int | None) -> None:
    """Publish a message to the queue and print its id."""
    body = message.encode("utf-8", "surrogateescape")
    with _queue(door, name) as (store, found):
        if not body or found.maxsize not in (NO_LIMIT, max(len(body), found.maxsize)):
            raise Said(f"Failed to send message: {message}")
        try:
            click.echo(store.send(name, found, body, found.delay_ms if delay is None else delay * 1_000))
        except ServerError as error:
            raise Said(f"Failed to send message: {message}\n{error.message}") from None


@click.command(
    cls=WithExamples,
    examples=["penstock rsmq message receive -n orders", "penstock rsmq message receive -n orders -t 600"],
)
@name_option
@click.option(
    "-t",
    "--visibility-timeout",
    "vt",
    type=_SECONDS,
    help="Seconds that it stays hidden.  [default: the queue's own]",
)
@click.pass_obj
def receive(door: Door, name: str, vt: int | None) -> None:
    """Fetch the next message from the queue and hide it."""
    with _queue(door, name) as (store, found):
        _print(name, store.receive(name, found, found.vt_ms if vt is None else vt * 1_000))


@click.command(cls=WithExamples, examples=["penstock rsmq message pop -n orders"])
@name_option
@click.pass_obj
def pop(door: Door, name: str) -> None:
    """Fetch the next message from the queue and delete it."""
    with _queue(door, name) as (store, found):
        _print(name, store.pop(name, found))


@click.command("delete", cls=WithExamples, examples=["penstock rsmq message delete -n orders -i ID"])
@name_option
@id_option
@click.pass_obj
def delete_message(door: Door, name: str, id: str) -> None:
    """Delete a message."""
    with _queue(door, name) as (store, _):
        if not store.delete(name, id):
            raise Said(f"Failed to delete message ID: {id}")


@click.command(cls=WithExamples, examples=["penstock rsmq message visibility -n orders -i ID -t 600"])
@name_option
@id_option
@click.option(
    "-t", "--visibility-timeout", "vt", type=_SECONDS, required=True, help="Seconds from now that it stays hidden."
)
@click.pass_obj
def visibility(door: Door, name: str, id: str, vt: int) -> None:
    """Hide a message until so many seconds from now; with 0, show it at once."""
    with _queue(door, name) as (store, found):
        if not store.hide(name, found, id, vt * 1_000):
            raise Said(f"Failed to change visibility timeout for message ID: {id}")
    click.echo(f"Message ID: {id} visibility timeout set to {vt}s")


def _print(queue: str, received: Received | None) -> None:
    if received is None:
        click.echo(f"No messages on queue: {queue}")
        return
    id, body = (text.decode("utf-8", "surrogateescape") for text in (received.id, received.body))
    click.echo(json.dumps({"id": id, "message": body, "rc": received.rc, "ts": received.fr_ms}))
