"""Brokers with somebody who drives them, for tests: time, commits and deliveries happen when a test says so."""

from __future__ import annotations

from collections.abc import Callable

from penstock.broker.embedded import Embedded
from penstock.broker.outbox import Outbox, say
from penstock.engine.engine import Engine
from penstock.engine.rules import PolicyBook
from penstock.journal.disk import Disk
from penstock.model.contract import Broker
from penstock.model.stages import WRITE
from tests.broker.late import LateBroker

START_US = 1_700_000_000_000_000
STORE_ID = bytes(16)
SEGMENT_BYTES = 64 << 10


class Desk:
    """One broker. `confirm` is the stage its callers ask for."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.confirm = int(WRITE)
        self.now_us = START_US

    def tick(self) -> None:
        """One commit, and what may be said after it."""
        raise NotImplementedError

    def settle(self) -> None:
        """Ticks until nothing is left to be said."""
        self.tick()

    def pass_time(self, us: int) -> None:
        """As the server does it: the broker is asked at each of its due times."""
        end_us = self.now_us + us
        while (due_us := self.next_due_us()) <= end_us:
            self._move(max(due_us, self.now_us))
        self._move(end_us)

    def _move(self, now_us: int) -> None:
        self.now_us = now_us
        self.begin(now_us)
        self.settle()
        assert self.next_due_us() > now_us, "what was due did not happen"

    def begin(self, now_us: int) -> None:
        raise NotImplementedError

    def next_due_us(self) -> int:
        raise NotImplementedError


class EngineDesk(Desk):
    """Engine and outbox, and nothing kept: what is written is taken for durable."""

    def __init__(self, book: PolicyBook) -> None:
        self._outbox = Outbox(WRITE)
        self.engine = Engine(book, self._outbox)
        self.engine.start(START_US, b"")
        super().__init__(self.engine)

    def tick(self) -> None:
        self.engine.record.clear()
        self._outbox.say_written()
        say(self._outbox.take_synced())

    def begin(self, now_us: int) -> None:
        self.engine.advance(now_us)

    def next_due_us(self) -> int:
        return int(self.engine.next_due())


class EagerDesk(EngineDesk):
    """Tells sessions that can bear it at once what the commit will cover, as the embedded broker does."""

    def __init__(self, book: PolicyBook) -> None:
        super().__init__(book)
        self._outbox.reach = WRITE


class EmbeddedDesk(Desk):
    """The embedded broker on a disk."""

    def __init__(self, book: PolicyBook, disk: Disk) -> None:
        self._embedded = Embedded(disk, STORE_ID, book, WRITE, SEGMENT_BYTES)
        self._embedded.open(START_US, "test")
        super().__init__(self._embedded.broker)

    def tick(self) -> None:
        self._embedded.commit()
        if self._embedded.wants_sync():
            self._embedded.start_sync()()
            self._embedded.finish_sync()

    def begin(self, now_us: int) -> None:
        self._embedded.begin(now_us)

    def next_due_us(self) -> int:
        return int(self._embedded.next_due_us())


class LateDesk(Desk):
    """Another desk's broker, answering late."""

    def __init__(self, behind: Desk, seed: int) -> None:
        self._behind = behind
        self._late = LateBroker(behind.broker, seed)
        super().__init__(self._late)

    def tick(self) -> None:
        self._behind.tick()
        self._late.tick()

    def settle(self) -> None:
        self.tick()
        while self._late.pending():
            self.tick()

    def begin(self, now_us: int) -> None:
        self._behind.begin(now_us)

    def next_due_us(self) -> int:
        return self._behind.next_due_us()


MakeDesk = Callable[[PolicyBook], Desk]
