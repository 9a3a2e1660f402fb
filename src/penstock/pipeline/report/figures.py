"""The row of figures on top, and the frames that the page's script draws charts in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from penstock.pipeline.report.numbers import Group, Percentiles, Report
from penstock.pipeline.report.words import count, duration, share, size, text


class Card(NamedTuple):
    title: str
    figure: str
    about: str
    tone: str = ""  # "bad": worth a look


class Chart(NamedTuple):
    id: str
    title: str
    about: str
    empty: str  # what is said where there is nothing to draw


CHARTS: Final = (
    Chart("throughput", "Throughput", "messages published and finished", "Nothing was published or finished."),
    Chart("backlog", "Backlog", "live messages at the end of each interval", "Nothing was waiting or being worked on."),
    Chart("wait", "Wait", "from ready to handed out, on a logarithmic scale", "Nothing was handed out."),
    Chart("work", "Work", "from handed out to its end, on a logarithmic scale", "No delivery ended."),
    Chart("trouble", "Trouble", "messages that came back, were dropped or expired", "Nothing went wrong."),
    Chart(
        "oldest", "Oldest ready", "how long the longest-waiting ready message had waited", "Nothing waited for long."
    ),
)


def cards(report: Report) -> str:
    return f'<ul class="cards">{"".join(map(_card, _cards(report)))}</ul>'


def _card(card: Card) -> str:
    told = f"<span>{card.title}</span><strong>{card.figure}</strong><small>{card.about}</small>"
    return f'<li class="{card.tone}">{told}</li>'


def _cards(report: Report) -> Iterator[Card]:
    whole = report.whole
    published, finished = whole.total("published"), whole.total("finished")
    retried, delivered, dropped = whole.total("retried"), whole.total("delivered"), whole.total("dropped")
    yield Card("Published", count(published), f"{size(report.published_bytes)} of bodies")
    yield Card("Finished", count(finished), _peak(whole, report))
    back = _of(retried, delivered, f"of {count(delivered)} deliveries", "nothing was handed out")
    yield Card("Came back", count(retried), back)
    lost = _of(dropped, published, "of what was published", "nothing was published")
    yield Card("Dropped", count(dropped), lost, _tone(dropped))
    yield _times("Wait, median", whole.wait_all)
    yield _times("Work, median", whole.work_all)
    backlog = whole.backlog[-1] if whole.backlog else 0
    yield Card("Backlog", count(backlog), f"at most {count(max(whole.backlog, default=0))}")
    stuck = len(report.stuck)
    yield Card("Stuck", count(stuck), "at the last fact" if stuck else "everything moves", _tone(stuck))


def _of(part: int, whole: int, words: str, none: str) -> str:
    return f"{share(part, whole)} {words}" if whole else none


def _tone(number: int) -> str:
    return "bad" if number else ""


def _peak(group: Group, report: Report) -> str:
    most = max(group.counts["finished"], default=0)
    per_s = most / (report.span.width_us / 1e6)
    rate = f"{per_s:,.0f}/s" if per_s >= 1 else f"{per_s * 60:,.0f}/min"
    return f"up to {rate}"


def _times(title: str, found: Percentiles) -> Card:
    if found is None:
        return Card(title, "–", "nothing to measure")
    half, most, nearly_all = found
    return Card(title, duration(half), f"p95 {duration(most)} · p99 {duration(nearly_all)}")


def charts(report: Report) -> str:
    frames = "".join(_frame(chart) for chart in CHARTS)
    return f'<section aria-label="Over time">{_chooser(report)}<div class="charts">{frames}</div></section>'


def _chooser(report: Report) -> str:
    """Which queue the charts show."""
    options = "".join(
        f'<option value="{place}">{text(group.name)}</option>' for place, group in enumerate(report.groups)
    )
    every = duration(report.span.width_us)
    return (
        f'<div class="bar"><h2>Over time</h2><label>Queue <select id="group">{options}</select></label>'
        f'<span class="note">one point every {every}</span></div>'
    )


def _frame(chart: Chart) -> str:
    return (
        f'<figure id="{chart.id}" tabindex="0" data-empty="{chart.empty}"><figcaption><h3>{chart.title}</h3>'
        f'<p>{chart.about}</p></figcaption><div class="legend"></div><div class="plot" role="img" '
        f'aria-label="{chart.title}: {chart.about}"></div></figure>'
    )
