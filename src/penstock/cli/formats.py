"""The formats that messages can be exported to and imported from, and how a command says which."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

import click

from penstock.codecs import names

F = TypeVar("F", bound=Callable[..., Any])

ETZEL: Final = "etzel"


def format_option(command: F) -> F:
    return click.option(
        "--format",
        "file_format",
        type=click.Choice([ETZEL]),
        required=True,
        help="etzel: a key-value file, one row a message.",
    )(command)


def by_queue(counts: Iterable[tuple[bytes, int]]) -> list[dict[str, Any]]:
    return [{"queue": names.show(queue), "messages": count} for queue, count in counts]
