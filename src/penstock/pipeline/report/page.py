"""The page as a whole: one file that needs nothing else, neither a network nor a server."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from importlib.resources import files
from typing import Final

from penstock.pipeline.report.figures import cards, charts
from penstock.pipeline.report.numbers import Report
from penstock.pipeline.report.series import series
from penstock.pipeline.report.tables import failing_table, queue_table, stuck_table
from penstock.pipeline.report.timelines import timelines
from penstock.pipeline.report.words import count, minute, moment, text

_STYLE: Final = (files(__package__) / "report.css").read_text(encoding="utf-8")
_SCRIPT: Final = (files(__package__) / "report.js").read_text(encoding="utf-8")


def _hashed(content: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() + "'"


# Only this very script and this very style: nothing is fetched, whatever a queue is called.
_POLICY: Final = f"default-src 'none'; img-src data:; style-src {_hashed(_STYLE)}; script-src {_hashed(_SCRIPT)}"


def page(report: Report) -> str:
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    title = text(_title(report))
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield "<head>"
    yield '<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">'
    yield '<link rel="icon" href="data:,">'
    yield f"<title>{title}</title>"
    yield f"<style>{_STYLE}</style>"
    yield "</head>"
    yield "<body>"
    yield from _head(report)
    yield "<main>"
    yield cards(report)
    yield from _parts(report)
    yield "</main>"
    yield from _foot(report)
    yield f'<script type="application/json" id="series">{series(report)}</script>'
    yield f"<script>{_SCRIPT}</script>"
    yield "</body>"
    yield "</html>"


def _title(report: Report) -> str:
    return f"penstock: {_queues(report)}, {minute(report.span.from_us)} – {minute(report.span.to_us)} UTC"


def _queues(report: Report) -> str:
    return ", ".join(report.chosen) if report.chosen else "all queues"


def _head(report: Report) -> Iterator[str]:
    span = report.span
    yield "<header>"
    yield '<div class="brand">penstock <span>report</span></div>'
    yield f"<h1>{text(_queues(report))}</h1>"
    yield f'<p class="when"><time>{minute(span.from_us)}</time> – <time>{minute(span.to_us)}</time> UTC</p>'
    yield "</header>"


def _parts(report: Report) -> Iterator[str]:
    yield charts(report)
    yield queue_table(report)
    yield '<div class="pair">'
    yield failing_table("Retries and drops by queue", "", report.by_queue)
    yield failing_table("… by dialect", "that published them", report.by_dialect)
    yield "</div>"
    yield stuck_table(report)
    yield timelines(report)


def _foot(report: Report) -> Iterator[str]:
    yield "<footer>"
    yield f"<p>Store <code>{text(report.store)}</code>, {count(report.queues)} queues. The last fact in the tables: "
    yield f"<time>{moment(report.last_fact_us)}</time>; made <time>{moment(report.made_us)}</time>. All times are UTC. "
    yield "Percentiles are read from histograms, within 2.5 %.</p>"
    yield "</footer>"
