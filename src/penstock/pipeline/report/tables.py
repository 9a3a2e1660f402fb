"""The report's tables: queues, what failed by queue and by dialect, what is stuck."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from penstock.pipeline.report.numbers import Failing, Group, Report, Stuck
from penstock.pipeline.report.words import count, duration, moment, share, text

FAILING_SHOWN: Final = 12
STUCK_SHOWN: Final = 20
_WIDEST: Final = 100

_KINDS: Final = {
    "lease": "A lease that goes on",
    "queue": "A queue that does not move",
    "holder": "A worker that never finishes",
}


def section(title: str, about: str, content: str) -> str:
    return f'<section><div class="bar"><h2>{title}</h2><span class="note">{about}</span></div>{content}</section>'


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], first_left: int = 1) -> str:
    """Cells are markup. The first `first_left` columns are words, the others numbers."""
    sides = ["" if place < first_left else ' class="n"' for place in range(len(heads))]
    top = "".join(f"<th{side}>{head}</th>" for head, side in zip(heads, sides, strict=True))
    labels = [f' data-label="{head}"' for head in heads]
    body = "".join(f"<tr>{_cells(row, sides, labels)}</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _cells(row: Sequence[str], sides: Sequence[str], labels: Sequence[str]) -> str:
    """Where there is no room for a head, each cell shows its own."""
    told = zip(row, sides, labels, strict=True)
    return "".join(f"<td{side}{label}>{cell}</td>" for cell, side, label in told)


def empty(words: str) -> str:
    return f'<p class="empty">{words}</p>'


# -- queues

_QUEUE_HEADS: Final = (
    "Queue", "Published", "Finished", "Came back", "Dropped", "Wait p50", "Wait p95", "Work p50", "Work p95", "Backlog"
)  # fmt: skip


def queue_table(report: Report) -> str:
    rows = [_queue_row(place, group) for place, group in enumerate(report.groups) if place]
    if not rows:
        return section("Queues", "", empty("There was no queue."))
    return section("Queues", "choose one to see its charts", table(_QUEUE_HEADS, rows))


def _queue_row(place: int, group: Group) -> list[str]:
    wait, work = group.wait_all or (None, None, None), group.work_all or (None, None, None)
    return [
        f'<button data-group="{place}">{text(group.name)}</button>',
        count(group.total("published")),
        count(group.total("finished")),
        _worth_a_look(group.total("retried")),
        _worth_a_look(group.total("dropped"), "bad"),
        *(duration(us) for us in (wait[0], wait[1], work[0], work[1])),
        count(group.backlog[-1] if group.backlog else 0),
    ]


def _worth_a_look(number: int, tone: str = "warn") -> str:
    return f'<b class="{tone}">{count(number)}</b>' if number else count(number)


# -- what failed

_FAILING_HEADS: Final = ("", "Messages", "Came back", "Dropped")


def failing_table(title: str, about: str, rows: Sequence[Failing]) -> str:
    found = [row for row in rows if row.retries or row.dropped]
    if not found:
        return section(title, about, empty("Everything went well at the first try."))
    most = max(row.retries + row.dropped for row in found)
    shown = [_failing_row(row, most) for row in found[:FAILING_SHOWN]]
    more = len(found) - len(shown)
    rest = f'<p class="note">and {count(more)} more</p>' if more else ""
    return section(title, about, table(_FAILING_HEADS, shown) + rest)


def _failing_row(row: Failing, most: int) -> list[str]:
    bar = _bar((("retried", row.retries), ("dropped", row.dropped)), most)
    return [
        f'<span class="name">{text(row.name)}</span>{bar}',
        count(row.messages),
        f"{count(row.retries)}",
        f"{_worth_a_look(row.dropped, 'bad')} <small>{share(row.dropped, row.messages)}</small>",
    ]


def _bar(parts: Iterable[tuple[str, int]], most: int) -> str:
    """An inline picture: a style would need leave, and this stretches by itself."""
    at, rects = 0.0, []
    for kind, number in parts:
        width = _WIDEST * number / most
        rects.append(f'<rect class="{kind}" x="{at:.2f}" width="{width:.2f}" height="6"/>')
        at += width
    shapes = "".join(rects)
    return f'<svg class="hbar" viewBox="0 0 {_WIDEST} 6" preserveAspectRatio="none" aria-hidden="true">{shapes}</svg>'


# -- what is stuck

_STUCK_HEADS: Final = ("What", "Queue", "Message", "Held by", "Since", "For", "Usual", "Deliveries")


def stuck_table(report: Report) -> str:
    about = f"at {moment(report.last_fact_us)}, the last fact in the tables"
    if not report.stuck:
        return section(
            "Stuck", about, empty("Nothing is stuck: no lease and no queue is far beyond what is usual there.")
        )
    shown = report.stuck[:STUCK_SHOWN]
    more = len(report.stuck) - len(shown)
    rest = f'<p class="note">and {count(more)} more: select * from gold.stuck</p>' if more else ""
    return section("Stuck", about, table(_STUCK_HEADS, [_stuck_row(row) for row in shown], 2) + rest)


def _stuck_row(row: Stuck) -> list[str]:
    return [
        _KINDS.get(row.kind, text(row.kind)),
        text(row.queue),
        "–" if row.message is None else str(row.message),
        "–" if row.holder is None else str(row.holder),
        moment(row.since_us),
        f'<b class="bad">{duration(row.age_us)}</b>',
        duration(row.usual_us),
        "–" if row.deliveries is None else count(row.deliveries),
    ]
