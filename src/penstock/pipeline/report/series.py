"""What the page's script draws, as JSON that can stand inside HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from penstock.pipeline.report.numbers import COUNTS, PERCENTS, Group, Percentiles, Report
from penstock.pipeline.report.words import shown


def series(report: Report) -> str:
    span = report.span
    told = {
        "from_ms": span.from_us // 1_000,
        "width_ms": span.width_us // 1_000,
        "slots": span.slots,
        "groups": [_group(group) for group in report.groups],
    }
    return in_html(msgspec.json.encode(told).decode())


def in_html(json: str) -> str:
    """No tag can begin inside a script's data, and no comment."""
    return json.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _group(group: Group) -> dict[str, Any]:
    return {
        "name": shown(group.name),
        **{count: group.counts[count] for count in COUNTS},
        "backlog": group.backlog,
        "oldest": group.oldest_us,
        "wait": _columns(group.wait),
        "work": _columns(group.work),
    }


def _columns(rows: Sequence[Percentiles]) -> list[list[int | None]]:
    """By percentile, then by slot."""
    return [[None if row is None else row[place] for row in rows] for place in range(len(PERCENTS))]
