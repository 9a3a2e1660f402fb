"""The dead letters of a queue that are meant: the options that choose them, and the way through them, page by page.

They are chosen here and not in the server: no pattern, however bad, can hold it up.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeVar

import click

from penstock.cli.durations import Duration
from penstock.cli.paths import QUEUE, queue_path
from penstock.cli.remote import Remote
from penstock.codecs import names
from penstock.model import limits

F = TypeVar("F", bound=Callable[..., Any])

AGE: Final = Duration(limits.TTL_MAX_US)
PAGE: Final = 500  # at a time, so that the server attends to others in between


class Pattern(click.ParamType["re.Pattern[str]", str]):
    name = "regex"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> re.Pattern[str]:
        try:
            return re.compile(value)
        except re.error as wrong:
            self.fail(f"'{value}' is no regular expression: {wrong}.", param, ctx)


_OPTIONS: Final = (
    click.option("--contains", metavar="TEXT", help="Only those whose body contains this text."),
    click.option("--matches", type=Pattern(), help="Only those in whose body this regular expression is found."),
    click.option("--from", "dead_from", type=QUEUE, help="Only those that were dropped from this queue."),
    click.option("--older-than", type=AGE, help="Only those that died longer ago than this, such as 1h."),
    click.option("--newer-than", type=AGE, help="Only those that died within this, such as 10m."),
)


def sieve_options(command: F) -> F:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class Letter:
    """One dead letter, as the server gives it."""

    def __init__(self, shape: dict[str, Any]) -> None:
        self.shape = shape
        self.id: str = shape["id"]
        self.died_us: int = shape["died_us"]
        self.dead_from: str | None = shape["dead_from"]
        self.body: bytes = base64.b64decode(shape["body64"]) if "body64" in shape else shape["body"].encode()

    def text(self) -> str:
        return self.body.decode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class Sieve:
    """What of a dead letter was asked for; None: anything."""

    contains: str | None = None
    matches: re.Pattern[str] | None = None
    dead_from: bytes | None = None
    older_than: int | None = None
    newer_than: int | None = None

    def keeps(self, letter: Letter, now_us: int) -> bool:
        age_us = now_us - letter.died_us
        return (
            (self.contains is None or os.fsencode(self.contains) in letter.body)
            and (self.matches is None or self.matches.search(letter.text()) is not None)
            and (self.dead_from is None or letter.dead_from == names.show(self.dead_from))
            and (self.older_than is None or age_us > self.older_than)
            and (self.newer_than is None or age_us <= self.newer_than)
        )


class Letters:
    """Those of one queue that a sieve keeps. What dies from now on is not among them, so going through them ends."""

    def __init__(self, data: str, queue: bytes, said: Mapping[str, Any], limit: int | None) -> None:
        self.name = names.show(queue)
        self.remote = Remote(data, self.name)
        self.path = queue_path(queue, "/dead")
        self.queue_shape: dict[str, Any] = self.remote.get(queue_path(queue))
        self._now_us: int = self.remote.get("/status")["now_us"]
        self._sieve = Sieve(**said)
        self._limit = limit

    def __iter__(self) -> Iterator[Letter]:
        return islice(filter(self._kept, self._all()), self._limit)

    def most(self) -> int:
        """There are no more than these."""
        ready: int = self.queue_shape["counts"]["ready"]
        return ready if self._limit is None else min(ready, self._limit)

    def say_none(self) -> None:
        click.echo("No such dead letters.", err=True)
        elsewhere = self.queue_shape["effective"].get("dead_letter")
        if elsewhere:
            click.echo(f"The dead letters of {self.name} go to {elsewhere}.", err=True)

    def _kept(self, letter: Letter) -> bool:
        return letter.died_us <= self._now_us and self._sieve.keeps(letter, self._now_us)

    def _all(self) -> Iterator[Letter]:
        path = f"{self.path}?limit={PAGE}"
        page = self.remote.get(path)
        yield from map(Letter, page["messages"])
        while page["next"] is not None:
            page = self.remote.get(f"{path}&after={page['next']}")
            yield from map(Letter, page["messages"])
