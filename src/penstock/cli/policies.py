"""The flags that say a queue's policy, made from the table of its fields, and the form they become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import click

from penstock.cli import durations
from penstock.cli.durations import BadDuration, Duration, seconds
from penstock.cli.paths import QUEUE
from penstock.codecs import names
from penstock.model.limits import DELAY_MAX_US
from penstock.model.policy import INTEGER_FIELDS
from penstock.server.policies import POLICY_KEYS

F = TypeVar("F", bound=Callable[..., Any])


class Durations(click.ParamType[tuple[int, ...], str]):
    """Several, with commas between; none at all is a list too."""

    name = "durations"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        try:
            steps = tuple([durations.parse(part) for part in value.split(",")]) if value.strip() else ()
        except BadDuration as wrong:
            self.fail(f"{wrong}; several with commas between, such as 1s,5s,30s.", param, ctx)
        if max(steps, default=0) > DELAY_MAX_US:
            self.fail(f"'{value}' is too long; at most {durations.show(DELAY_MAX_US)} each.", param, ctx)
        return steps


def _flag_name(key: str) -> str:
    return key.removesuffix("_s").replace("_", "-")


# name of the flag -> key of the policy
FLAGS: Final = {_flag_name(key): key for key in POLICY_KEYS}


def policy_flags(command: F) -> F:
    for flag, key in reversed(FLAGS.items()):
        command = _policy_flag(flag, key)(command)
    return command


def _policy_flag(flag: str, key: str) -> Callable[[F], F]:
    field, _, about = POLICY_KEYS[key]
    metavar = "DURATION" if isinstance(_type(field), Duration) else "N" if field in INTEGER_FIELDS else None
    words = about[0].upper() + about[1:]
    return click.option(f"--{flag}", key, type=_type(field), metavar=metavar, help=f"{words}.")


def _type(field: str) -> click.ParamType[Any, Any]:
    if field == "dead_letter":
        return QUEUE
    if field == "backoff_us":
        return Durations()
    _, smallest, largest = INTEGER_FIELDS[field]
    return Duration(largest) if field.endswith("_us") else click.IntRange(smallest, largest)


def policy_form(flags: Mapping[str, Any]) -> dict[str, object]:
    """The fields that were said, as the server's API has them."""
    said = {key: flags[key] for key in POLICY_KEYS if flags[key] is not None}
    return {key: _value(key, value) for key, value in said.items()}


def _value(key: str, value: Any) -> object:
    if isinstance(value, bytes):
        return names.show(value)
    if isinstance(value, tuple):
        return [seconds(step) for step in value]
    return seconds(value) if key.endswith("_s") else value
