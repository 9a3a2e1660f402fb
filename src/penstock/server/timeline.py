"""A message's life, as far as the journal's files tell it. Slow, for it reads them all: never on the loop's thread."""

from __future__ import annotations

from penstock.codecs.facts import Fact
from penstock.journal import check
from penstock.journal.disk import Disk
from penstock.model import facts
from penstock.server.shapes import fact_shape


def timeline(disk: Disk, seq: int) -> list[dict[str, object]]:
    """The facts of the message that are still there, oldest first; empty for a number that was never given."""
    queues = check.queue_names(disk)
    found: list[Fact] = []
    for fact in check.read(disk):
        if fact.kind == facts.DECLARED:
            queues[fact.queue_id] = fact.key or b""
        elif fact.message == seq and fact.kind >= facts.PUBLISHED and fact.kind != facts.WOKEN:
            found.append(fact)
    return [fact_shape(fact, queues.get(fact.queue_id, b"")) for fact in found]
