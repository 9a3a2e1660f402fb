"""The effective configuration: flag over environment over file over default, option by option.

It knows where each value came from. It opens nothing but the file, and starts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from penstock.server.kinds import Address, BadValue
from penstock.server.options import INSECURE, LISTENERS, OPTIONS, Option
from penstock.server.policies import Pattern, read_policies
from penstock.server.problems import ConfigError, Problem
from penstock.server.sources import (
    POLICY,
    Said,
    file_path,
    from_environment,
    from_flags,
    from_tables,
    read_file,
    unknown_variables,
)

T = TypeVar("T")

DEFAULT: Final = "default"


@dataclass(frozen=True)
class Config:
    """`config[OPTION]` is its effective value."""

    values: Mapping[str, object]
    sources: Mapping[str, str]
    policies: tuple[Pattern, ...]
    warnings: tuple[Problem, ...]
    flags: Mapping[str, object] = field(repr=False)
    environ: Mapping[str, str] = field(repr=False)
    file: Path | None

    def __getitem__(self, option: Option[T]) -> T:
        return self.values[option.key]  # type: ignore[return-value]

    def source(self, option: Option[Any]) -> str:
        return self.sources[option.key]

    def listeners(self) -> dict[str, Address]:
        """Those to open. With none named anywhere: all, at their defaults."""
        found = {name: self[option] for name, option in LISTENERS.items()}
        return {name: address for name, address in found.items() if address is not None}

    def rows(self) -> list[tuple[str, str, str]]:
        """Every option: key, effective value as TOML writes it, source."""
        return [(key, self._shown(option), self.sources[key]) for key, option in OPTIONS.items()]

    def _shown(self, option: Option[Any]) -> str:
        value = self[option]
        return "closed" if value is None else option.kind.show(value)

    def reloaded(self) -> Config:
        """Read again, with the same flags."""
        return load(self.flags, self.environ, self.file)


def load(flags: Mapping[str, object], environ: Mapping[str, str], file: str | Path | None) -> Config:
    """Raises ConfigError with everything that is wrong. `flags` are named by option keys; None means unsaid.

    `listen` in `flags` is a list of NAME=HOST:PORT.
    """
    problems: list[Problem] = []
    path = file_path(file, environ)
    tables = read_file(path, problems)
    policies = read_policies(tables.pop(POLICY, []), f"{path}, {POLICY}", problems)
    said = [
        from_flags(flags, problems),
        from_environment(environ),
        from_tables(tables, f"file {path}", str(path), problems),
    ]
    values = {key: _effective(option, said, problems) for key, option in OPTIONS.items()}
    sources = {key: _source(key, said) for key in OPTIONS}
    _close_unnamed(values, sources)
    _refuse_exposed(values, sources, problems)
    if problems:
        raise ConfigError(problems)
    return Config(values, sources, policies, tuple(unknown_variables(environ)), flags, environ, path)


def _effective(option: Option[Any], said: list[dict[str, Said]], problems: list[Problem]) -> object:
    """Values that are overruled must be right too: they would surprise on the day they are not."""
    found = [_read(option, by_key[option.key], problems) for by_key in said if option.key in by_key]
    return found[0] if found else option.default


def _read(option: Option[Any], said: Said, problems: list[Problem]) -> object:
    try:
        return option.kind.read(said.value)
    except BadValue as wrong:
        problems.append(Problem(f"{option.key} ({said.source})", str(wrong)))
        return option.default


def _source(key: str, said: list[dict[str, Said]]) -> str:
    return next((by_key[key].source for by_key in said if key in by_key), DEFAULT)


def _close_unnamed(values: dict[str, object], sources: Mapping[str, str]) -> None:
    unnamed = [option.key for option in LISTENERS.values() if sources[option.key] == DEFAULT]
    if len(unnamed) < len(LISTENERS):
        values.update(dict.fromkeys(unnamed))


def _refuse_exposed(values: Mapping[str, object], sources: Mapping[str, str], problems: list[Problem]) -> None:
    for option in LISTENERS.values():
        address = values[option.key]
        if isinstance(address, Address) and not address.is_loopback() and not values[INSECURE.key]:
            problems.append(
                Problem(
                    f"{option.key} ({sources[option.key]})",
                    f"{address} can be reached from other machines, and this version has neither TLS nor "
                    "authentication; use a loopback address, or say --insecure",
                )
            )
