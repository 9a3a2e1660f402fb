"""Whether an hour was flat: rows of figures in, what grew out. It measures nothing and knows no server.

A figure grows if the line of least squares through its second half does, by more than its own scatter explains.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

ROWS_MIN = 12  # with fewer of them nothing is said of trends
GROWTH_MAX = 0.05  # of itself, in an hour
DOUBT = 2.0  # standard errors of a slope that count for nothing
LATENCY_MAX = 1.5  # p99 of the last third ÷ that of the first
BUSY_RATIO = 1.2  # so much slower, a bare echo says that the machine is
BUSY_SHARE = 0.2  # of a core, that others took more than before
WARM_SHARE = 0.1  # of the rows, at the beginning
MOMENT_H = 0.5 / 60  # so long the journal may be over


@dataclass(frozen=True)
class Row:
    """What was seen at the end of a minute, and during it."""

    hours: float  # since the beginning
    server_mb: float
    archivist_mb: float
    own_mb: float  # of those who ask
    p50_us: float
    p99_us: float
    echo_p99_us: float  # the same round trip, with nothing in it
    journal_mb: float  # the most in this time
    journal_max_mb: float  # that it may take, for what lives
    archive_mb: float
    snapshot: int  # the segment it reaches to
    files: int
    threads: int
    connections: int
    queues: int
    live: int
    facts: int
    published: int
    finished: int
    dropped: int
    expired: int
    failed: int
    server_share: float  # of a core
    own_share: float
    others_share: float  # the archivist's among them


@dataclass(frozen=True)
class Verdict:
    broken: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()  # it was slower, and so was the machine


def judge(rows: Sequence[Row]) -> Verdict:
    broken = [*_over(rows)]
    if len(rows) < ROWS_MIN:
        return Verdict(tuple(broken))
    broken += [
        words for name, slack, of in _FLAT if (words := _grown(name, slack, [(row.hours, of(row)) for row in rows]))
    ]
    slower = _slower(rows)
    if _machine_was_busier(rows):
        return Verdict(tuple(broken), tuple(slower))
    return Verdict((*broken, *slower))


# What must be flat; how much a mean must be to be spoken of in shares; where it stands.
_FLAT: tuple[tuple[str, float, Callable[[Row], float]], ...] = (
    ("the server's memory, MB", 20.0, lambda row: row.server_mb),
    ("the archivist's memory, MB", 20.0, lambda row: row.archivist_mb),
    ("the journal, MB", 20.0, lambda row: row.journal_mb),
    ("open files", 20.0, lambda row: row.files),
    ("threads", 20.0, lambda row: row.threads),
)


def _grown(name: str, least: float, points: Sequence[tuple[float, float]]) -> str:
    """In words; empty: it did not."""
    half = points[len(points) // 2 :]
    slope, error = trend(half)
    limit = GROWTH_MAX * max(statistics.fmean(value for _, value in half), least)
    if slope - DOUBT * error <= limit:
        return ""
    return f"{name}: grows by {slope:.2f} ± {DOUBT * error:.2f} an hour, at most {limit:.2f}"


def trend(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The slope of the line of least squares, and its standard error."""
    at, values = zip(*points, strict=True)
    slope, start = statistics.linear_regression(at, values)
    left = sum((value - start - slope * x) ** 2 for x, value in points)
    spread = sum((x - statistics.fmean(at)) ** 2 for x in at)
    return slope, math.sqrt(left / (len(points) - 2) / spread)


def _over(rows: Sequence[Row]) -> list[str]:
    """In two rows one after the other, not just a moment apart: the archivist gives way to everybody, and may have to
    wait."""
    return [
        f"the journal takes {row.journal_mb:.0f} MB after {row.hours * 60:.1f} min, at most {row.journal_max_mb:.0f}"
        for before, row in pairwise(rows)
        if row.hours - before.hours > MOMENT_H
        if before.journal_mb > before.journal_max_mb and row.journal_mb > row.journal_max_mb
    ]


def _thirds(rows: Sequence[Row], of: Callable[[Row], float]) -> tuple[float, float]:
    """Medians of the first and of the last, the warm-up left out."""
    warm = rows[math.ceil(len(rows) * WARM_SHARE) :]
    third = len(warm) // 3
    return statistics.median(map(of, warm[:third])), statistics.median(map(of, warm[-third:]))


def _slower(rows: Sequence[Row]) -> list[str]:
    first, last = _thirds(rows, lambda row: row.p99_us)
    if last <= LATENCY_MAX * first:
        return []
    return [f"p99: {last:.0f} µs in the last third, {first:.0f} in the first, at most {LATENCY_MAX:g} times as much"]


def _machine_was_busier(rows: Sequence[Row]) -> bool:
    echo_first, echo_last = _thirds(rows, lambda row: row.echo_p99_us)
    others_first, others_last = _thirds(rows, lambda row: row.others_share)
    return echo_last > BUSY_RATIO * echo_first or others_last > others_first + BUSY_SHARE
