"""Asking before something is done that cannot be undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from penstock.cli.output import JSON
from penstock.cli.program import BadUsage, Failure

F = TypeVar("F", bound=Callable[..., Any])


def yes_option(command: F) -> F:
    return click.option("--yes", is_flag=True, help="Do not ask.")(command)


def confirmed(question: str) -> bool:
    """Nobody there to answer means no."""
    try:
        return click.confirm(question, default=False)
    except click.Abort:
        click.echo()
        return False


def insist(question: str, yes: bool, output: str) -> None:
    """Returns only if it was agreed to. As JSON nothing is asked."""
    if yes:
        return
    if output == JSON:
        raise BadUsage("with --output json nobody is asked; say --yes to go on.")
    if not confirmed(question):
        raise Failure("nothing was done.", "Where nobody can be asked, say --yes.")
