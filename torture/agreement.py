"""What the tables say of messages, against what their clients were told: every difference in words. No files."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from torture.crowd.history import History, Life

FINISHED, EXPIRED = "finished", "expired"
ACKNOWLEDGED, TAKEN = "acknowledged", "taken"


class Row(NamedTuple):
    """A life, as the tables have it; `body` is a digest."""

    body: str
    size: int
    outcome: str
    reason: str
    deliveries: int
    dialect: str
    life_us: int | None


def digest(body: bytes) -> str:
    return hashlib.md5(body, usedforsecurity=False).hexdigest()


def compared(rows: Iterable[Row], history: History) -> Iterator[str]:
    """Every life that was told of is in the tables, once, and ended as was told; nothing else is."""
    known = {digest(body): life for body, life in history.lives.items()}
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.body, []).append(row)
    for body, same in found.items():
        if body not in known:
            yield f"nobody published it: {same[0]}"
        elif len(same) > 1:
            yield f"{len(same)} lives are one message: {known[body].body[:60]!r}"
        else:
            yield from (f"{words}: {known[body].body[:60]!r}, {same[0]}" for words in wrong(known[body], same[0]))
    lacking = [life for body, life in known.items() if life.published and body not in found]
    yield from (f"told published, and in no table: {life.body[:60]!r}" for life in lacking)
    unheard = [known[body] for body, (row, *_) in found.items() if row.reason == TAKEN and body in known]
    for life in history.unexplained([life for life in unheard if not life.finished]):
        yield f"taken, and nobody's answer was lost: {life.body[:60]!r}"


def wrong(life: Life, row: Row) -> Iterator[str]:
    if row.size != len(life.body):
        yield "not of its size"
    if row.dialect != life.dialect:
        yield f"published in {life.dialect}"
    if row.deliveries < len(life.told_s):
        yield f"{len(life.told_s)} deliveries were told"
    if row.outcome not in (FINISHED, EXPIRED if life.ttl_s < math.inf else FINISHED):
        yield "it must have finished" if life.finished else "everything was worked off"
    if row.outcome == EXPIRED and (row.life_us or 0) < life.ttl_s * 1_000_000:
        yield f"it had {life.ttl_s} s to live"
    if row.reason == ACKNOWLEDGED and not life.finish_sent:
        yield "nobody asked to finish it"


def told(what: str, counts: Mapping[str, int], history: History) -> Iterator[str]:
    """By dialect: as many were told are in the tables; more may be, for answers are lost."""
    for (name, dialect), count in history.counts.items():
        if name == what and count > counts.get(dialect, 0):
            yield f"{count} were told {what} in {dialect}, {counts.get(dialect, 0)} are in the tables"
