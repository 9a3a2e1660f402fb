"""Reports made by hand: a lively one with nasty names, and one of a time in which nothing happened."""

from __future__ import annotations

import math
from typing import Any

from penstock.pipeline.report.numbers import (
    COUNTS,
    Attempt,
    Failing,
    Group,
    Percentiles,
    Report,
    Slow,
    Span,
    Stuck,
)

S = 1_000_000
FROM_US = 1_767_312_000 * S  # midnight
SPAN = Span(FROM_US, 600 * S, 144)
NASTY = "</script><img src=x onerror=alert(1)>"
INVISIBLE = "a\u202eb\x00c"


def group(name: str, scale: float, span: Span = SPAN) -> Group:
    wave = [int(scale * (1 + math.sin(slot / 9))) for slot in range(span.slots)]
    counts = {count: list(wave) for count in COUNTS}
    counts["dropped"] = [value // 50 for value in wave]
    times: list[Percentiles] = [(value * 1_000, value * S, value * 9 * S) if value else None for value in wave]
    oldest: list[int | None] = [value * S or None for value in wave]
    return Group(name, counts, wave, times, times, oldest, (1_000, S, 9 * S), (2_000, 2 * S, 10 * S))


def silent(name: str, span: Span = SPAN) -> Group:
    nothing: list[Any] = [None] * span.slots
    zeros = [0] * span.slots
    return Group(name, {count: list(zeros) for count in COUNTS}, zeros, nothing, nothing, nothing)


def attempt(leased_s: int, ended_s: int | None, ended: str = "released", reason: str = "failed") -> Attempt:
    ended_us = None if ended_s is None else FROM_US + ended_s * S
    return Attempt(FROM_US, FROM_US + leased_s * S, ended_us, ended, reason, "glovebox", 7)


def lively() -> Report:
    names = ["orders", "mails", NASTY, INVISIBLE, "", "a very long name " * 20, *(f"q{number}" for number in range(8))]
    tries = [attempt(10, 20), attempt(50, 50), attempt(90, 100, "finished", "acknowledged")]
    return Report(
        store="00112233445566778899aabbccddeeff",
        made_us=FROM_US + 90_000 * S,
        last_fact_us=FROM_US + 86_000 * S,
        span=SPAN,
        chosen=[],
        published_bytes=123_456_789,
        groups=[group("all queues", 900), *[group(name, 100 - 7 * place) for place, name in enumerate(names)]],
        queues=len(names),
        by_queue=[Failing(name, 1_000, 90 - place, place) for place, name in enumerate(names)],
        by_dialect=[Failing("glovebox", 1_000, 90, 10), Failing("etzel", 900, 0, 0)],
        stuck=[
            Stuck("lease", NASTY, 1 << 32, 7, FROM_US, 3_600 * S, 2 * S, 3),
            Stuck("holder", "mails", None, 9, FROM_US, 3_600 * S, None, 12),
            *[Stuck("queue", f"q{number}", number, None, FROM_US, 900 * S, None, None) for number in range(30)],
        ],
        slowest=[
            Slow(1 << 32, NASTY, "glovebox", "finished", FROM_US, FROM_US + 100 * S, tries),
            Slow(2 << 32, "mails", "etzel", "dropped", FROM_US, FROM_US + 99 * S, [attempt(1, 2)] * 40),
            Slow(3 << 32, "q0", "pinpriq", "expired", FROM_US, FROM_US, []),
        ],
    )


def nothing() -> Report:
    return Report("00" * 16, FROM_US, FROM_US, SPAN, ["orders"], 0, [silent("all queues")], 0, [], [], [], [])
