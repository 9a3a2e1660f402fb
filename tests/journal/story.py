"""A short life of a journal, with everything that happens to one, and what was promised while it went on."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.codecs.facts import Fact, FactBatch
from penstock.journal.disk import Disk
from penstock.journal.journal import Journal
from penstock.journal.recovery import Recovery, recover
from penstock.model.message import Message

STORE_ID = bytes(range(16))
SEGMENT_BYTES = 2048
START_US = 1_700_000_000_000_000

Row = tuple[int, int, int, bytes]

# Sizes of the bodies of each batch: within a sector, over several, over a segment.
BATCHES = ((10,), (0, 300), (700,), (5, 5, 5), (600,), (3000,), (64,), (1,), (400, 400), (20,), (7,), (900,), (9,))


def rows(facts: Iterable[Fact]) -> list[Row]:
    return [(fact.seq, fact.at_us, fact.message, fact.body) for fact in facts]


def batch_of(*messages: tuple[int, bytes], at_us: int = START_US) -> FactBatch:
    batch = FactBatch()
    for number, body in messages:
        batch.published(Message(number, 1, body, at_us, at_us))
    return batch


def recovered(disk: Disk) -> tuple[list[Row], Journal, Recovery]:
    facts: list[Fact] = []
    journal, recovery = recover(disk, STORE_ID, facts.append, START_US, SEGMENT_BYTES)
    return rows(facts), journal, recovery


class Story:
    """What may come back, `attempted`; how much of it outlives a kill, `written`, or a power cut, `synced`."""

    def __init__(self) -> None:
        self.attempted: list[Row] = []
        self.written = 0
        self.synced = 0

    def live(self, disk: Disk) -> None:
        """A first start, batches with syncs of both kinds and rotations, a clean stop, a second start and more."""
        before, journal, _ = recovered(disk)
        assert before == []
        for turn, sizes in enumerate(BATCHES):
            self.append(journal, sizes)
            if turn % 4 == 1:
                self.sync(journal)
            if turn == 2:
                journal.prepare_spare()
        ticket = journal.start_sync()
        self.append(journal, (900,))
        self.append(journal, (900,))
        ticket.run()
        journal.finish_sync(ticket)
        self.note(journal)
        journal.rotate(self.now_us())
        journal.close(self.now_us())
        self.note(journal)
        self.go_on(disk)

    def go_on(self, disk: Disk) -> None:
        before, journal, _ = recovered(disk)
        self.attempted = before
        self.note(journal)
        for sizes in ((100,), (200, 200), (50,)):
            self.append(journal, sizes)
        self.sync(journal)
        self.append(journal, (30,))
        self.append(journal, (600,))

    def append(self, journal: Journal, sizes: tuple[int, ...]) -> None:
        first = len(self.attempted) + 1
        bodies = [bytes([(first + place) % 251 + 1]) * size for place, size in enumerate(sizes)]
        at_us = self.now_us()
        self.attempted += [(first + place, at_us, first + place + 100, body) for place, body in enumerate(bodies)]
        journal.append(batch_of(*((first + place + 100, body) for place, body in enumerate(bodies))), at_us)
        self.note(journal)

    def sync(self, journal: Journal) -> None:
        journal.sync()
        self.note(journal)

    def note(self, journal: Journal) -> None:
        self.written = journal.next_fact - 1
        self.synced = journal.synced - 1

    def now_us(self) -> int:
        return START_US + len(self.attempted)
