"""What each source says of the options: flags, environment and file, as they stand there, not yet checked.

What names no option at all is a problem; which source wins is not decided here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from penstock.server.options import ENVIRONMENT_PREFIX, LISTEN, LISTENERS, OPTIONS
from penstock.server.problems import Problem, suggestion

POLICY: Final = "policy"
FILE_VARIABLE: Final = "PENSTOCK_CONFIG"  # names the file where no flag does
_TABLES: Final = {key[:at] for key in OPTIONS for at, letter in enumerate(key) if letter == "."}


@dataclass(frozen=True)
class Said:
    """What one source says of one option, as TOML would have given it."""

    value: object
    source: str


def file_path(file: str | Path | None, environ: Mapping[str, str]) -> Path | None:
    named = file or environ.get(FILE_VARIABLE)
    return Path(named) if named else None


def read_file(path: Path | None, problems: list[Problem]) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        problems.append(Problem(str(path), f"cannot be read: {error.strerror}"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(Problem(str(path), f"is not TOML: {error}"))
    return {}


def from_flags(flags: Mapping[str, object], problems: list[Problem]) -> dict[str, Said]:
    said: dict[str, Said] = {}
    for key, value in flags.items():
        if key == LISTEN:
            said.update(_from_listen_flags(value, problems))
        elif key not in OPTIONS:
            problems.append(Problem(f"flag {key}", f"no such option{suggestion(key, OPTIONS)}"))
        elif value is not None:
            said[key] = Said(_from_text(key, value), "flag")
    return said


def _from_listen_flags(value: object, problems: list[Problem]) -> Iterable[tuple[str, Said]]:
    for text in value if isinstance(value, Sequence) and not isinstance(value, str) else [value]:
        name, equals, address = str(text).partition("=")
        if text is None:
            continue
        if not equals:
            problems.append(Problem(f"flag --listen {text}", "must be NAME=HOST:PORT"))
        elif name not in LISTENERS:
            problems.append(Problem(f"flag --listen {text}", _no_listener(name)))
        else:
            yield f"{LISTEN}.{name}", Said(address, "flag")


def from_environment(environ: Mapping[str, str]) -> dict[str, Said]:
    """An empty variable says nothing."""
    return {
        key: Said(_from_text(key, environ[option.environment]), f"environment {option.environment}")
        for key, option in OPTIONS.items()
        if environ.get(option.environment)
    }


def _from_text(key: str, value: object) -> object:
    return OPTIONS[key].kind.from_text(value) if isinstance(value, str) else value


def from_tables(
    tables: Mapping[str, Any], source: str, place: str, problems: list[Problem], above: str = ""
) -> dict[str, Said]:
    said: dict[str, Said] = {}
    for name, value in tables.items():
        key = above + name
        if key in OPTIONS:
            said[key] = Said(value, source)
        elif key in _TABLES and isinstance(value, dict):
            said.update(from_tables(value, source, place, problems, f"{key}."))
        else:
            problems.append(Problem(f"{place}, {key}", _no_key(above, name)))
    return said


def _no_key(above: str, name: str) -> str:
    if above == f"{LISTEN}.":
        return _no_listener(name)
    if above + name in _TABLES:
        return f"must be a table, written as [{above}{name}]"
    below = [key.removeprefix(above).partition(".")[0] for key in OPTIONS if key.startswith(above)]
    return f"no such key{suggestion(name, [*below, POLICY] if not above else below)}"


def _no_listener(name: str) -> str:
    return f"this version has no listener `{name}`; it has: {', '.join(LISTENERS)}{suggestion(name, LISTENERS)}"


def unknown_variables(environ: Mapping[str, str]) -> Iterable[Problem]:
    """Only likely slips of the pen: schedulers put variables of their own beside ours."""
    known = {FILE_VARIABLE, *(option.environment for option in OPTIONS.values())}
    names = [variable.removeprefix(ENVIRONMENT_PREFIX) for variable in known]
    for variable in environ:
        near = suggestion(variable.removeprefix(ENVIRONMENT_PREFIX), names, ENVIRONMENT_PREFIX)
        if variable.startswith(ENVIRONMENT_PREFIX) and variable not in known and near:
            yield Problem(f"environment {variable}", f"is not read{near}")
