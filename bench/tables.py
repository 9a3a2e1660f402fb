"""Tables of results and their verdicts, for a terminal and for a page. They know nothing of how it was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

BELOW: Final = "BELOW"
FLOOR: Final = "floor"
GOAL: Final = "goal"


@dataclass(frozen=True)
class Table:
    """`name` is that of the place in the page; the verdicts stand in the cells as well."""

    name: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    verdicts: Sequence[str]

    def plain(self) -> str:
        """Columns as wide as what is in them."""
        lines = (self.heads, *self.rows)
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.heads))]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)

    def markdown(self) -> str:
        lines = (self.heads, ["---"] * len(self.heads), *self.rows)
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def at_least(value: float, floor: float, goal: float) -> str:
    if value < floor:
        return BELOW
    return GOAL if value >= goal else FLOOR


def at_most(value: float, floor: float, goal: float) -> str:
    return at_least(-value, -floor, -goal)


def spread(values: Sequence[float], form: str) -> str:
    return f"{min(values):{form}} to {max(values):{form}}"


def write(page: Path, name: str, text: str, maker: str = "make bench") -> None:
    """Puts the text between the two comments of that name in the page."""
    begin, end = f"<!-- {name}: made by {maker} -->", f"<!-- /{name} -->"
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"{page} has no place between {begin} and {end}")
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
