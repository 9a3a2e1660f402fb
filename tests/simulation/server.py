"""One life of a server: the real broker, heart, connections and sessions, on simulated time, disk and network."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from random import Random

from penstock.broker.driven import Driven
from penstock.broker.embedded import Embedded
from penstock.codecs.clients import ClientIds
from penstock.codecs.facts import Fact, read_facts
from penstock.codecs.ids import Ids
from penstock.dialects.context import Context
from penstock.dialects.table import DIALECTS, Dialect
from penstock.engine.engine import Engine
from penstock.engine.rules import PolicyBook
from penstock.journal.disk import Disk
from penstock.model.contract import Broker
from penstock.server.connection import Connection
from penstock.server.kinds import Address
from penstock.server.listener import Listener, Seats
from penstock.server.log import Log
from penstock.server.tick import Heart
from tests.server.fakes import ClockOf
from tests.simulation.network import Link, Listening, Mark
from tests.simulation.timeline import Timeline, loop_in

STORE_ID = bytes(range(16))
SECRET = b"simulation"
SYNC_INTERVALS_US = (200, 1_000, 20_000)  # as long as bytes may take: so that both come in the same instant
CONNECTIONS = 1_000
ADDRESS = Address("simulated", 1)
IDS, CLIENT_IDS = Ids(SECRET), ClientIds(SECRET)
BY_NAME = {dialect.name: dialect for dialect in DIALECTS}


class Room(Context):
    """What the sessions of one dialect know of the server, with numbers that do not move by themselves."""

    def connections(self) -> int:
        return 1

    def resident_bytes(self) -> int:
        return 1 << 20


class Watched(Driven):
    """The broker, with somebody who reads every fact before it is committed."""

    def __init__(self, embedded: Embedded, decided: Callable[[list[Fact]], None], quick: Callable[[], int]) -> None:
        self._embedded = embedded
        self._decided = decided
        self._quick = quick
        engine = embedded.broker
        assert isinstance(engine, Engine)
        self.engine = engine
        self.facts = int(embedded.journal.next_fact) - 1

    def begin(self, now_us: int) -> None:
        self._embedded.journal.last_sync_us = self._quick()
        self._embedded.begin(now_us)

    def woken(self) -> None:
        self._embedded.woken()

    def commit(self) -> None:
        record = self.engine.record
        count = int(record.count)
        if count:
            at_us = int(self.engine.now_us())
            batch = read_facts(record.payload(), count, record.heap_bytes(), self.facts + 1, at_us)
            self.facts += count
            self._decided(batch)
        self._embedded.commit()

    def waited(self) -> bool:
        return self._embedded.waited()

    def next_due_us(self) -> int:
        return int(self._embedded.next_due_us())

    def wants_sync(self) -> bool:
        return self._embedded.wants_sync()

    def unsynced(self) -> bool:
        return self._embedded.unsynced()

    def start_sync(self) -> Callable[[], None]:
        return self._embedded.start_sync()

    def finish_sync(self) -> None:
        self._embedded.finish_sync()

    def wants_spare(self) -> bool:
        return self._embedded.wants_spare()

    def prepare_spare(self) -> None:
        self._embedded.prepare_spare()


class Server:
    """Raises what opening a journal raises."""

    def __init__(
        self,
        timeline: Timeline,
        disk: Disk,
        book: PolicyBook,
        confirm: int,
        segment_bytes: int,
        output_cap_bytes: int,
        dice: Random,
    ) -> None:
        self.timeline = timeline
        self.deaths: list[BaseException] = []
        self.late: list[bytes] = []
        self.links: list[Link] = []
        self._listeners: list[Listener] = []
        self._dice = dice
        self._output_cap_bytes = output_cap_bytes
        self.clock = ClockOf(timeline.wall, timeline.elapsed)
        self.embedded = Embedded(disk, STORE_ID, book, confirm, segment_bytes)
        self.recovery = self.embedded.open(int(self.clock.now_us()), "simulated")
        self.clock.not_before(self.embedded.now_us())
        broker = self.embedded.broker
        self._rooms = {dialect.name: room(dialect, broker, confirm) for dialect in DIALECTS}

    def start(self, decided: Callable[[list[Fact]], None]) -> None:
        slow = self._dice.random() < 0.7
        quick = (lambda: self._dice.choice((0, 5_000, 5_000))) if slow else (lambda: 0)
        self.watched = Watched(self.embedded, decided, quick)
        loop = loop_in(self.timeline, self._dice)
        interval_us = self._dice.choice(SYNC_INTERVALS_US)
        self.heart = Heart(loop, self.watched, self.clock, interval_us, self._died)
        self.heart.on_beat(self._sweep)
        self.heart.start()

    def said(self, data: bytes) -> Mark:
        """What is said after the store has died was said too late."""
        if self.heart.dead:
            self.late.append(data)
        return self.mark()

    def mark(self) -> Mark:
        journal = self.embedded.journal
        return Mark(self.watched.facts, int(journal.written) - 1, int(journal.synced) - 1)

    def now_us(self) -> int:
        return int(self.clock.now_us())

    def connect(self, dialect: str, client: Listening) -> Link:
        """Each connection has a listener of its own, so that nothing goes by the order of a set."""
        make = partial(BY_NAME[dialect].make, self._rooms[dialect])
        listener = Listener(
            dialect,
            ADDRESS,
            self.heart,
            Seats(CONNECTIONS),
            SILENT,
            make,
            idle_us=0,
            output_cap_bytes=self._output_cap_bytes,
        )
        link = Link(self.timeline, self, Connection(listener), client, self._dice)
        self.links.append(link)
        self._listeners.append(listener)
        return link

    def _sweep(self, now_us: int) -> None:
        """Of connections that are there."""
        self._listeners = [listener for listener in self._listeners if listener.connections]
        for listener in self._listeners:
            listener.sweep(now_us)

    def _died(self, error: BaseException) -> None:
        self.deaths.append(error)


def room(dialect: Dialect, broker: Broker, confirm: int) -> Room:
    options: dict[str, object] = {}
    for setting in dialect.settings:
        name = f"{setting.name.removesuffix('_s')}_us" if setting.name.endswith("_s") else setting.name
        options[name] = setting.default
    return Room(broker, IDS, CLIENT_IDS, confirm, options)


class _Silent(Log):
    """A session that fails is a defect: the simulation must hear of it."""

    def failure(self, event: str, error: BaseException, **fields: object) -> None:
        raise AssertionError(f"{event}: {error!r}") from error


SILENT = _Silent(io.StringIO(), "human", "error")
