"""Makes the golden journal: every kind of fact, four segments, the last one in use. Run it only for a new version.

python -m tests.journal.make_golden tests/journal/golden/v1
"""

from __future__ import annotations

import sys

from penstock.codecs.facts import FactBatch
from penstock.journal.disk import OsDisk, make_directory
from penstock.journal.journal import Journal
from penstock.model import facts
from penstock.model.message import Message, Origin

STORE_ID = b"golden store: v1"
SEGMENT_BYTES = 1024
START_US = 1_700_000_000_000_000


def origin() -> Origin:
    known = Origin()
    known.dedup_id = b"once"
    known.foreign_id = b"foreign"
    known.trace = b"trace"
    known.principal = b"anna"
    known.poster = 77
    known.label = 1 << 63
    known.notify = 0b1000101
    known.dead_of = 41
    return known


def first_message() -> Message:
    message = Message((1 << 32) + 1, 1, b"plain", START_US + 2, START_US + 2)
    message.dialect = 4
    return message


def second_message() -> Message:
    message = Message((1 << 32) + 2, 1, bytes(range(256)), START_US + 2, START_US + 1_000_002)
    message.key = b""
    message.priority = -5
    message.parked = True
    message.expires_us = START_US + 60_000_000
    message.lease_us = 30_000_000
    message.origin = origin()
    message.dialect = 2
    return message


def third_message() -> Message:
    message = Message((1 << 32) + 3, 2, b"", START_US + 2, START_US + 2)
    message.key = b"a key"
    message.priority = 4_294_967_295
    return message


def fourth_message() -> Message:
    return Message((1 << 32) + 4, 1, b"poison", START_US + 2, START_US + 2)


def batches() -> list[FactBatch]:
    """A life that could have been: each fact may follow on those before it."""
    one, two, three, four = first_message(), second_message(), third_message(), fourth_message()
    made = [FactBatch() for _ in range(7)]
    made[0].server_changed(facts.STARTED, 1 << 32, b'{"clean":true}')
    made[1].queue_changed(facts.DECLARED, 1, 4, b"orders", b"{}")
    made[1].queue_changed(facts.DECLARED, 2, 0, b"other", b"{}")
    made[1].queue_changed(facts.SET, 1, 0, b"orders", b'{"lease_us":2000000}')
    made[1].queue_changed(facts.PAUSED, 1, 0, b"orders", b"")
    made[1].queue_changed(facts.RESUMED, 1, 0, b"orders", b"")
    for message in (one, two, three, four):
        made[2].published(message)
    one.deliveries = four.deliveries = 1
    made[3].moved(facts.LEASED, one, 4, 0, facts.OLD_PLACE_FLAG, START_US + 9_000_000, 9_000_000, 12)
    made[3].moved(facts.LEASED, four, 4, 0, 0, START_US + 9_000_000, 9_000_000, 0)
    made[3].moved(facts.EXTENDED, one, 4, 0, 0, START_US + 19_000_000, 10_000_000, 0)
    made[4].moved(facts.RELEASED, one, 0, facts.TIMED_OUT, facts.FAILURE_FLAG, START_US + 4, 0, 0)
    made[4].moved(facts.DROPPED, four, 4, facts.FAILED, facts.FAILURE_FLAG, 0, 0, 0)
    one.deliveries = 2
    made[5].moved(facts.FINISHED, one, 4, facts.TAKEN, 0, 0, 0, 12)
    made[5].moved(facts.EXPIRED, two, 0, 0, 0, 0, 0, 0)
    made[5].moved(facts.DELETED, three, 5, facts.PURGED, 0, 0, 0, 0)
    made[6].server_changed(facts.WOKEN, (1 << 32) + 5, b"")
    made[6].queue_changed(facts.REMOVED, 1, 5, b"orders", b"")
    return made


def make(path: str) -> None:
    make_directory(path)
    journal = Journal(OsDisk(path), STORE_ID, 1, 1, START_US, SEGMENT_BYTES)
    for turn, batch in enumerate(batches()):
        journal.append(batch, START_US + turn)
        if turn == 1:
            journal.sync()
        if turn == 5:
            journal.rotate(START_US + turn)


if __name__ == "__main__":
    make(sys.argv[1])
