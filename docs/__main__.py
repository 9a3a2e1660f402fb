"""`python -m docs`: writes the pages that are made from tables in the code. Any other page is written by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from penstock.cli.reference import commands_markdown
from penstock.engine.lifecycle import LIVE, TURNS, WAITING
from penstock.model.facts import FACT_NAMES, REASON_NAMES
from penstock.model.message import PLACE_NAMES
from penstock.model.stages import STAGES
from penstock.server.reference import options_markdown

_LIFECYCLE: Final = """\
# The life of a message

This page is made from the table in `src/penstock/engine/lifecycle.py`; change it there, then `make docs`.

A live message is *delayed*, *ready*, *parked* or *leased*. The first three, *waiting*, are one stored state: which of
them it is follows from time and is never logged, so the journal may lease what it last saw delayed. A message ends
*finished*, *dropped*, *expired* or *deleted*, for ever.

| event | where it was | what follows | fact | stages told |
|---|---|---|---|---|
"""

_RULES: Final = """
## At the same instant

Expiry, then leases that are over, then delays that are over, then waits that are over, then requests; within each by
number. A lease is never cut short: what expires while leased ends at the end of its lease, as expired instead of
released. A client that is gone leaves nothing behind but its leases.

## Engine time

Time is max(wall clock at start, time of the last fact) plus what has elapsed since; steps of the wall clock are
ignored while the server runs. Each start writes the fact `started` and jumps the message numbers. Downtime fails
nobody: at a `started`, and at a `woken` (the process had stood still for more than a second), every lease with an end
gets at least ten seconds more, or its own length if that is shorter. After that grace it ends like any other.
"""

# where a message was -> in one word
_GROUPS: Final = {(): "-", LIVE: "live", WAITING: "waiting"}


def lifecycle_markdown() -> str:
    return _LIFECYCLE + "".join(_rows()) + _RULES


def _rows() -> Iterator[str]:
    for turn in TURNS:
        before = _GROUPS.get(turn.before) or ", ".join(PLACE_NAMES[place] for place in turn.before)
        reason = f" ({REASON_NAMES[turn.reason]})" if turn.reason else ""
        told = ", ".join(f"`{STAGES[stage]}`" for stage in turn.told) or "-"
        yield f"| {turn.event} | {before} | {turn.after} | {FACT_NAMES[turn.fact]}{reason} | {told} |\n"


PAGES: Final[dict[str, Callable[[], str]]] = {
    "commands.md": commands_markdown,
    "configuration.md": options_markdown,
    "lifecycle.md": lifecycle_markdown,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (Path(__file__).parent / name).write_text(page(), encoding="utf-8")
