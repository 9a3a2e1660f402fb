"""Which parts to compact: a plan over names, without Spark. A day that is over becomes one part; within a day, sixteen
parts of one level become one of the next. So a table never has many parts, and no row is written often."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from penstock.pipeline.lake import Part

FAN: Final = 16


def groups(parts: Iterable[Part], today: str, everything: bool = False) -> Iterator[list[Part]]:
    """Parts that are to become one, in their order."""
    days: dict[str, list[Part]] = {}
    for part in parts:
        days.setdefault(part.day, []).append(part)
    for day, found in days.items():
        if day < today or everything:
            if len(found) > 1:
                yield found
        else:
            yield from _levels(found)


def _levels(parts: Sequence[Part]) -> Iterator[list[Part]]:
    levels: dict[int, list[Part]] = {}
    for part in parts:
        levels.setdefault(part.level, []).append(part)
    yield from (found for found in levels.values() if len(found) >= FAN)
