"""`penstock config`: what the configuration is, and where each value came from. Nothing is started."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import click

from penstock.cli.flags import config_flags, effective
from penstock.cli.output import JSON, Column, output_option, print_json, print_table
from penstock.cli.program import Program
from penstock.codecs import names
from penstock.model.policy import Policy
from penstock.server.config import DEFAULT, Config
from penstock.server.kinds import quoted
from penstock.server.policies import POLICY_KEYS


@click.group(cls=Program, examples=["penstock config check --config penstock.toml", "penstock config show"])
def config() -> None:
    """Check and show the configuration.

    Both commands take every flag of `penstock serve`, and answer for a server started with the same.
    """


@config.command(examples=["penstock config check --config penstock.toml"])
@config_flags
def check(**flags: Any) -> None:
    """Say whether the configuration is right; exit 2 with every problem if not."""
    found = effective(flags)
    _warn(found)
    changed = sum(source != DEFAULT for _, _, source in found.rows())
    click.echo(f"The configuration is right: {changed} of {len(found.rows())} options differ from their default.")


@config.command(examples=["penstock config show", "penstock config show --config penstock.toml --output json"])
@config_flags
@output_option
def show(output: str, **flags: Any) -> None:
    """Show the effective value of every option and where it came from."""
    found = effective(flags)
    _warn(found)
    if output == JSON:
        print_json({"options": _options(found), "policies": _policies(found)})
    else:
        print_table(
            [Column("option"), Column("value", folds=True), Column("from")], [*found.rows(), *_policy_rows(found)]
        )


def _options(found: Config) -> list[dict[str, Any]]:
    """Values are what TOML would give: text, a number, true or false; null for a listener that stays closed."""
    return [
        {"option": key, "value": None if found.values[key] is None else _value(shown), "source": source}
        for key, shown, source in found.rows()
    ]


def _value(shown: str) -> Any:
    return tomllib.loads(f"value = {shown}")["value"]


def _policies(found: Config) -> list[dict[str, Any]]:
    return [
        {"match": names.show(match)} | {key: _value(shown) for key, shown in _said(policy)}
        for match, policy in found.policies
    ]


def _policy_rows(found: Config) -> Iterator[tuple[str, str, str]]:
    for match, policy in found.policies:
        for key, shown in _said(policy):
            yield f"policy {quoted(names.show(match))} {key}", shown, f"file {found.file}"


def _said(policy: Policy) -> Iterator[tuple[str, str]]:
    """The fields of a policy that are said, as the file writes them."""
    for key, (field, kind, _) in POLICY_KEYS.items():
        value = getattr(policy, field)
        if value is not None:
            yield key, kind.show(value)


def _warn(found: Config) -> None:
    for warning in found.warnings:
        click.echo(f"Warning: {warning}", err=True)
