"""What the commands of `penstock rsmq` have in common: the store behind a URL, and how they refuse."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, Final, TypeVar

import click

from penstock.cli.flags import effective
from penstock.cli.program import Failure
from penstock.cli.resp_client import RespClient
from penstock.cli.rsmq_store import RsmqStore
from penstock.codecs.rsmq_keys import may_create
from penstock.server.options import LISTENERS

LISTENER: Final = "rsmq"

F = TypeVar("F", bound=Callable[..., Any])


class Said(Failure):
    """A failure in exactly these words, as scripts around `rsmqctl` know them."""

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(self.message, err=True)


class Whole(click.IntRange):
    """A number within a range, called as a plain one is where it is none."""

    name = "integer"


class Door:
    """Where the store is, if that was said. Commands open it once their words are understood."""

    def __init__(self, url: str | None, namespace: str, verbose: bool) -> None:
        self._url = url
        self._namespace = namespace
        self._verbose = verbose

    @contextmanager
    def opened(self) -> Iterator[RsmqStore]:
        try:
            with RespClient(self._url or default_url()) as client:
                yield RsmqStore(client, self._namespace)
        except Said:
            raise
        except Failure:
            if self._verbose:
                traceback.print_exc()
            raise


def default_url() -> str:
    """Where the configuration says that penstock listens, else where it listens by itself."""
    config = effective({})
    return f"redis://{config.listeners().get(LISTENER) or LISTENERS[LISTENER].default}"


def name_option(command: F) -> F:
    return click.option("-n", "--name", required=True, help="Queue name.")(command)


def is_name(queue: str) -> bool:
    """One that a queue of RSMQ can have."""
    return may_create(queue.encode("utf-8", "surrogateescape"))


def no_queue(queue: str) -> Said:
    return Said(f"No such queue: {queue}")
