"""The tables of the backlog: what it weighs, and how the figures of a load grow with it."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from bench.backlog import Growth, Measured, Weights
from bench.past import Past
from bench.rows import Shape
from bench.tables import Table, at_most, spread

NAME: Final = "backlog"
GROWTH: Final = "growth"


@dataclass(frozen=True)
class Figure:
    """One number of a measurement: much ÷ little must not be above the floor, and should not be above the goal."""

    shape: Shape
    name: str
    title: str
    floor: float
    goal: float


# A cost that does not grow still wavers, with the processor's caches and with the machine.
FIGURES: Final = (
    Figure(Shape(1, 1), "p50_us", "p50 µs", 2.0, 1.2),
    Figure(Shape(1, 1), "p99_us", "p99 µs", 2.0, 1.2),
    Figure(Shape(50, 1), "p99_us", "p99 µs", 2.0, 1.2),
    Figure(Shape(50, 1), "server_us", "server µs/op", 1.3, 1.1),
    Figure(Shape(4, 100), "server_us", "server µs/op", 1.3, 1.1),
)
GROWTH_HEADS: Final = (
    "grows",
    "from",
    "to",
    "c x n",
    "figure",
    "little",
    "much",
    "ratio",
    "spread",
    "at most",
    "verdict",
)
WEIGHT_HEADS: Final = ("figure", "measured", "spread", "at most", "verdict")


def growth_table(measured: Iterable[tuple[Growth, Measured]]) -> Table:
    told = [growth_line(growth, of_it, figure) for growth, of_it in measured for figure in FIGURES]
    return Table(GROWTH, GROWTH_HEADS, told, [cells[-1] for cells in told])


def growth_line(growth: Growth, measured: Measured, figure: Figure) -> list[str]:
    little, much = (
        [result[figure.name] for result in measured[state, figure.shape]] for state in (growth.little, growth.much)
    )
    ratios = [grown / before for before, grown in zip(little, much, strict=True)]
    ratio = statistics.median(ratios)
    return [
        *(growth.name, growth.little.name, growth.much.name, str(figure.shape), figure.title),
        *(f"{statistics.median(side):,.2f}" for side in (little, much)),
        *(f"{ratio:.2f}", spread(ratios, ".2f"), f"{figure.floor:g} → {figure.goal:g}"),
        at_most(ratio, figure.floor, figure.goal),
    ]


def weight_table(weights: Weights, past: Past, messages: int) -> Table:
    """The floors are for a million messages of 256 bytes."""
    after = f"after {past.facts:,} facts"
    told = [
        weight_line(f"resident MB, {messages:,} waiting", [weights.resident_mb], 600, 600),
        weight_line("seconds to ready after kill -9", weights.killed_s, 10, 5),
        weight_line("seconds to ready after a clean stop", weights.stopped_s, 10, 5),
        weight_line(f"{after}: seconds to ready after kill -9", past.killed_s, 10, 5),
        weight_line(f"{after}: seconds to ready after a clean stop", past.stopped_s, 10, 5),
        weight_line(f"{after}: MB of the journal", [past.journal_mb], past.journal_max_mb, past.journal_max_mb),
    ]
    return Table(NAME, WEIGHT_HEADS, told, [cells[-1] for cells in told])


def weight_line(title: str, values: list[float], floor: float, goal: float) -> list[str]:
    value = statistics.median(values)
    limit = f"{floor:,.0f}" if floor == goal else f"{floor:g} → {goal:g}"
    return [title, f"{value:.1f}", spread(values, ".1f"), limit, at_most(value, floor, goal)]
