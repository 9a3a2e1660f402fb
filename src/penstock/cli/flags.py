"""Flags made from the server's table of options, and the configuration they lead to. No option is named here."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import click

from penstock.cli.program import BadUsage
from penstock.server.config import Config, load
from penstock.server.kinds import FLAG
from penstock.server.options import DATA, LISTEN, LISTENERS, OPTIONS, Option
from penstock.server.problems import ConfigError
from penstock.server.sources import FILE_VARIABLE

F = TypeVar("F", bound=Callable[..., Any])

# How a kind's words show in help; a choice shows what can be chosen.
_METAVARS: Final = {
    "text": "TEXT",
    "queue name": "QUEUE",
    "list of queue names": "QUEUE,…",
    "whole number": "N",
    "seconds": "SECONDS",
}
_CHOICE: Final = re.compile(r'"([^"]+)"')


def config_flags(command: F) -> F:
    """--config, --listen, and a flag for every other option."""
    for decorate in reversed([_config_flag(), _listen_flag(), *map(_flag, _PLAIN.values())]):
        command = decorate(command)
    return command


def effective(flags: Mapping[str, Any]) -> Config:
    """From the flags of a command that has `config_flags`, the environment and the file; every problem is told."""
    said = {_KEYS.get(name, name): value for name, value in flags.items() if name != "config"}
    try:
        return load(said, os.environ, flags.get("config"))
    except ConfigError as error:
        problems = "\n".join(f"  {problem}" for problem in error.problems)
        raise BadUsage(f"the configuration is wrong.\n{problems}") from None


def data_option(command: F) -> F:
    """For commands that only need to know the directory, which the configuration file may name too."""
    return click.option(
        "--data",
        metavar="DIR",
        callback=_data,
        help=f"The server's data directory.  [env var: {DATA.environment}; default: {DATA.default}]",
    )(command)


def _data(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    return value if ctx.resilient_parsing else effective({"data": value})[DATA]


def _name(option: Option[Any]) -> str:
    return option.key.replace(".", "_")


_PLAIN: Final = {key: option for key, option in OPTIONS.items() if key.partition(".")[0] != LISTEN}
_KEYS: Final = {_name(option): key for key, option in _PLAIN.items()}


def _config_flag() -> Callable[[F], F]:
    return click.option(
        "--config", metavar="FILE", help=f"Read options from this TOML file.  [env var: {FILE_VARIABLE}]"
    )


def _listen_flag() -> Callable[[F], F]:
    defaults = ", ".join(f"{name}={option.default}" for name, option in LISTENERS.items())
    return click.option(
        f"--{LISTEN}",
        multiple=True,
        metavar="NAME=HOST:PORT",
        help="Open this listener, and only those so named; port 0 picks one. May be repeated.  "
        f"[default: all: {defaults}]",
    )


def _flag(option: Option[Any]) -> Callable[[F], F]:
    about = f"{option.about}  [env var: {option.environment}"
    if option.kind is FLAG:
        flag = f"{option.flag}/--no-{option.flag.removeprefix('--')}" if option.default else option.flag
        return click.option(flag, _name(option), is_flag=True, default=None, help=f"{about}]")
    shown = option.kind.show(option.default).strip('"')
    return click.option(
        option.flag, _name(option), metavar=_metavar(option.kind.words), help=f"{about}; default: {shown}]"
    )


def _metavar(words: str) -> str:
    return _METAVARS.get(words) or "|".join(_CHOICE.findall(words))
