"""Durations as people write and read them: 500ms, 5s, 2m, 1h, 3d. Inside they are microseconds."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

import click

UNITS: Final = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
EXAMPLES: Final = "500ms, 5s, 2m, 1h or 3d"

_WRITTEN: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zA-Zµ]*)", re.ASCII)


class BadDuration(ValueError):
    """Why a text is no duration, in words."""


def parse(text: str) -> int:
    """Raises BadDuration. Only 0 needs no unit."""
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        raise BadDuration(f"'{text}' is no duration; write it like {EXAMPLES}")
    number, unit = match.groups()
    if not unit and Decimal(number) == 0:
        return 0
    if unit not in UNITS:
        raise BadDuration(_about_unit(text, number, unit))
    us = Decimal(number) * UNITS[unit]
    if us != int(us):
        raise BadDuration(f"'{text}' is finer than a microsecond")
    return int(us)


def _about_unit(text: str, number: str, unit: str) -> str:
    if not unit:
        return f"'{text}' has no unit; for seconds write {number}s, otherwise like {EXAMPLES}"
    return f"'{text}' has the unknown unit '{unit}'; there are {', '.join(UNITS)}"


def show(us: int) -> str:
    """Short, never rounded up: 12.3ms, 845ms, 5.25s, 3m 20s, 2h, 3d 4h."""
    if us < 0:
        return "-" + show(-us)
    if us < UNITS["ms"]:
        return f"{us}us" if us else "0s"
    if us < UNITS["s"]:
        return _decimal(us, "ms")
    if us < UNITS["m"]:
        return _decimal(us, "s")
    return _pair(us)


def _decimal(us: int, unit: str) -> str:
    """At most three digits."""
    whole, rest = divmod(us, UNITS[unit])
    behind = f"{rest * 1_000 // UNITS[unit]:03}"[: 3 - len(str(whole))].rstrip("0")
    return f"{whole}.{behind}{unit}" if behind else f"{whole}{unit}"


def _pair(us: int) -> str:
    for large, small in (("d", "h"), ("h", "m"), ("m", "s")):
        if us >= UNITS[large]:
            rest = us % UNITS[large] // UNITS[small]
            return f"{us // UNITS[large]}{large} {rest}{small}" if rest else f"{us // UNITS[large]}{large}"
    raise AssertionError(us)


def seconds(us: int | None) -> float | None:
    """As the server's API has them; None stays unsaid."""
    return None if us is None else us / UNITS["s"]


class Duration(click.ParamType[int, str]):
    """The type of a flag such as --delay."""

    name = "duration"

    def __init__(self, most_us: int) -> None:
        self._most_us = most_us

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            us = parse(value)
        except BadDuration as wrong:
            self.fail(f"{wrong}.", param, ctx)
        if us > self._most_us:
            self.fail(f"'{value}' is too long; at most {show(self._most_us)}.", param, ctx)
        return us
