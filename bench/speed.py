"""The table of the ratios: what came of the rounds, row by row."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Final

from bench.rounds import Result, Results
from bench.rows import Row
from bench.tables import Table, at_least, spread

NAME: Final = "speed"
HEADS: Final = (
    *("durability", "peer", "c x n", "penstock /s", "peer /s", "ratio", "spread", "floor → goal", "verdict"),
    *("rounds", "p50 µs", "p99 µs", "server µs/op", "load CPU", "others' CPU"),
)


@dataclass(frozen=True)
class Line:
    """A row and its results of each round, ours and the peer's."""

    row: Row
    ours: list[Result]
    peer: list[Result]

    def ratios(self) -> list[float]:
        unit = self.row.unit
        return [ours[unit] / peer[unit] for ours, peer in zip(self.ours, self.peer, strict=True)]

    def ratio(self) -> float:
        return statistics.median(self.ratios())

    def verdict(self) -> str:
        return at_least(self.ratio(), self.row.floor, self.row.goal)

    def wavers(self) -> bool:
        """Some of its rounds are above the floor and some below."""
        ratios = self.ratios()
        return min(ratios) < self.row.floor <= max(ratios)

    def cells(self) -> list[str]:
        row = self.row
        return [
            *(row.durability, row.title, str(row.shape)),
            *(f"{median(side, row.unit):,.0f}" for side in (self.ours, self.peer)),
            *(f"{self.ratio():.2f}", spread(self.ratios(), ".2f"), f"{row.floor:g} → {row.goal:g}", self.verdict()),
            str(len(self.ours)),
            *(self.both("p50_us", ",.0f"), self.both("p99_us", ",.0f")),
            *(self.both("server_us", ".2f"), self.both("load_share", ".0%"), self.both("others_share", ".0%")),
        ]

    def both(self, name: str, form: str) -> str:
        return f"{median(self.ours, name):{form}}, {median(self.peer, name):{form}}"


def median(results: list[Result], name: str) -> float:
    return statistics.median(result[name] for result in results)


def lines(rows: list[Row], results: Results) -> list[Line]:
    return [line(row, results[row.ours, row.shape], results[row.peer, row.shape]) for row in rows]


def line(row: Row, ours: list[Result], peer: list[Result]) -> Line:
    """Of the rounds in which both were measured: a row that wavers has more, and may share one side with others."""
    both = min(len(ours), len(peer))
    return Line(row, ours[:both], peer[:both])


def wavering(told: list[Line]) -> list[Row]:
    return [line.row for line in told if line.wavers()]


def table(told: list[Line]) -> Table:
    return Table(NAME, HEADS, [line.cells() for line in told], [line.verdict() for line in told])


def others(told: list[Line]) -> str:
    """What else ran on the machine meanwhile, in cores: where that is much, the ratios are of little worth."""
    shares = [result["others_share"] for line in told for side in (line.ours, line.peer) for result in side]
    return f"Other processes meanwhile: {statistics.median(shares):.2f} of a core, at most {max(shares):.2f}."


def behind(told: list[Line]) -> str:
    """Where a peer is ahead, in one sentence."""
    names = [f"{line.row} ({line.ratio():.2f})" for line in told if line.ratio() < 1]
    return f"A peer is ahead here: {'; '.join(names)}." if names else "No peer is ahead in any row."
