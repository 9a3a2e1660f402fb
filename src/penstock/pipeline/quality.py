"""The laws that every run is checked against. What breaks one is told with its numbers, and nothing is published."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, Final, NamedTuple

from penstock.model.facts import DELETED, DROPPED, EXPIRED, FINISHED
from penstock.pipeline.archive import Segment

# column of a queue's counts -> the code of the fact that counts
_ENDS: Final = {"finished": FINISHED, "dropped": DROPPED, "expired": EXPIRED, "deleted": DELETED}


class LawsBroken(Exception):
    """Each in words."""

    def __init__(self, broken: list[str]) -> None:
        super().__init__("\n".join(broken))
        self.broken = broken


class Counted(NamedTuple):
    """What Spark found in one segment, by kind of fact."""

    segment: int
    fact_code: int
    facts: int
    first: int
    last: int
    xor: int  # of all numbers
    broken: int  # of these facts, how many break a law by themselves


class Ledger(NamedTuple):
    """What a server counts, by queue. `last_fact`: as of which fact; 0: as of the last that there is."""

    last_fact: int
    queues: Sequence[Mapping[str, Any]]


def insist(broken: Iterable[str]) -> None:
    """Raises LawsBroken unless there is nothing to say."""
    found = list(broken)
    if found:
        raise LawsBroken(found)


def dense(counted: Iterable[Counted], segments: Iterable[Segment]) -> Iterator[str]:
    """Every segment holds exactly the facts that it says it holds."""
    by_segment: dict[int, list[Counted]] = {}
    for row in counted:
        by_segment.setdefault(row.segment, []).append(row)
    for segment in segments:
        yield from _dense(segment, by_segment.get(segment.number, []))


def _dense(segment: Segment, rows: list[Counted]) -> Iterator[str]:
    facts = sum(row.facts for row in rows)
    first, last = min((row.first for row in rows), default=0), max((row.last for row in rows), default=0)
    xor = reduce(operator.xor, [row.xor for row in rows], 0)
    if (facts, first, last, xor) != (segment.facts, segment.first, segment.last, _xor(segment.first, segment.last)):
        yield (
            f"fact numbers are dense: segment {segment.number} holds {facts} facts from {first} to {last}, "
            f"not each of {segment.first} to {segment.last} once"
        )
    if {row.fact_code: row.facts for row in rows} != dict(segment.counts):
        yield f"a segment holds as many facts of each kind as it says: segment {segment.number} does not"


def _xor(first: int, last: int) -> int:
    return _xor_to(last) ^ _xor_to(first - 1)


def _xor_to(number: int) -> int:
    """Of all from 0 to the number."""
    return (number, 1, number + 1, 0)[number % 4]


def whole(seen: Mapping[str, int], facts: int) -> Iterator[str]:
    """Of one batch, over its rows of attempts: no fact is lost, none is counted twice."""
    if seen["facts"] != facts:
        yield f"facts in attempts = facts in bronze: {seen['facts']} are not {facts}"
    if seen["twice"]:
        yield f"a delivery has one lease, one release and one end: {seen['twice']} have more"


def lived(seen: Mapping[str, int], facts: int, may_lack: bool) -> Iterator[str]:
    """Over all lives, ended and open. `may_lack`: facts are missing or in quarantine, and beginnings with them."""
    if seen["facts"] != facts:
        yield f"facts in lives = facts in bronze: {seen['facts']} are not {facts}"
    if seen["ended_twice"]:
        yield f"at most one end per life: {seen['ended_twice']} have more"
    if seen["disordered"]:
        yield f"published ≤ ready ≤ assigned ≤ ended: not so in {seen['disordered']} lives"
    if seen["unborn"] and not may_lack:
        yield f"every life begins with a publish: {seen['unborn']} do not"


def balanced(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """By queue: published = finished + dropped + expired + deleted + open."""
    for row in rows:
        over = sum(row[name] for name in _ENDS)
        if row["published"] != over + row["open"]:
            yield (
                f"published = finished + dropped + expired + deleted + open: in {row['queue']}, "
                f"{row['published']} are not {over} + {row['open']}"
            )


# What is compared with the server: field -> the fields of its counts that make it up. Which of those that
# wait are ready depends on the moment of asking, so they are compared together.
COUNTED: Final = {name: (name,) for name in ("published", "delivered", "failed", *_ENDS, "leased", "body_bytes")} | {
    "waiting": ("delayed", "ready", "parked")
}


def as_counted(rows: Iterable[Mapping[str, Any]], queues: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """What the tables hold of each queue that is there, against the server's own counts of it."""
    known = {row["queue"]: row for row in rows}
    for queue in queues:
        row = known.get(queue["name"], {})
        said = {name: sum(queue["counts"][field] for field in fields) for name, fields in COUNTED.items()}
        wrong = [f"{name} {row.get(name, 0)}, not {count}" for name, count in said.items() if row.get(name, 0) != count]
        if wrong:
            yield f"the totals equal the server's counters: of {queue['name']}, {'; '.join(wrong)}"
