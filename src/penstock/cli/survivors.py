"""The messages that a journal holds, as rows of etzel's format, and what of them such rows cannot say.

Times become seconds from now, rounded up, so that nothing is handed out or expires before it should.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from penstock.cli.program import Failure
from penstock.codecs import names
from penstock.codecs.etzel import uid
from penstock.codecs.etzel_store import STATUS_MAX, Row
from penstock.codecs.facts import Fact
from penstock.codecs.ids import Ids
from penstock.engine.queue import Queue
from penstock.engine.replay import Silence, apply
from penstock.engine.rules import PolicyBook
from penstock.engine.snapshots import restore
from penstock.engine.state import State
from penstock.model import codes
from penstock.model.limits import NEVER_US, SECOND_US
from penstock.model.message import LEASED, Message, Origin

_NOTHING: Final = Origin()

# what is lost -> of which messages
LOST: Final[dict[str, Callable[[Message, Origin], bool]]] = {
    "priority": lambda message, origin: message.priority != 0,
    "key": lambda message, origin: message.key is not None,
    "parked": lambda message, origin: message.parked,
    "failures": lambda message, origin: message.failures != 0,
    "deliveries": lambda message, origin: message.deliveries > STATUS_MAX,
    "endless lease": lambda message, origin: message.place == LEASED and message.until_us >= NEVER_US,
    "dead letter": lambda message, origin: origin.dead_of != 0,
    "dedup id": lambda message, origin: origin.dedup_id != b"",
    "mark": lambda message, origin: origin.mark != b"",
    "foreign id": lambda message, origin: origin.foreign_id != b"",
    "trace": lambda message, origin: origin.trace != b"",
    "principal": lambda message, origin: origin.principal != b"",
    "notices": lambda message, origin: origin.notify != 0,
}


class Survivors:
    """To be told a snapshot and every fact after it, then which queues are meant; `rows` counts what it gives."""

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._state = State(PolicyBook(), Silence())
        self._now_us = 0
        self.messages: list[Message] = []
        self.expired = 0
        self.bytes = 0
        self.lost: Counter[str] = Counter()
        self.by_queue: Counter[bytes] = Counter()

    def restore(self, kind: int, rows: int, payload: bytes) -> None:
        restore(self._state, kind, rows, payload)

    def learn(self, fact: Fact) -> None:
        apply(self._state, fact)

    def choose(self, queues: Sequence[bytes], wall_us: int) -> None:
        """Of these queues, or of all, those first that are handed out first. What has expired by now is left out."""
        self._now_us = max(wall_us, int(self._state.now_us))
        wanted = {self._there(name).id for name in queues} or set(self._state.by_id)
        found = [message for message in self._state.messages.values() if message.queue_id in wanted]
        living = [message for message in found if message.expires_us > self._now_us]
        self.expired = len(found) - len(living)
        self.messages = sorted(living, key=self._standing)

    def rows(self) -> Iterator[Row]:
        for message in self.messages:
            queue = self._state.by_id[message.queue_id].name
            self._count(message, queue)
            yield row_of(message, queue, self._ids, self._now_us)

    def _there(self, name: bytes) -> Queue:
        queue = self._state.queues.get(name)
        if queue is None:
            raise Failure(f"{names.show(name)}: {codes.CODES[codes.NO_QUEUE][1]}")
        return queue

    def _standing(self, message: Message) -> tuple[bytes, int, int, int, int]:
        queue = self._state.by_id[message.queue_id].name
        return queue, _wait_us(message, self._now_us), -message.priority, message.ready_us, message.order

    def _count(self, message: Message, queue: bytes) -> None:
        origin = message.origin or _NOTHING
        self.lost.update([what for what, is_lost in LOST.items() if is_lost(message, origin)])
        self.by_queue[queue] += 1
        self.bytes += len(message.body)


def row_of(message: Message, queue: bytes, ids: Ids, now_us: int) -> Row:
    """A lease is a delay here, as it is in etzel: what nobody ends comes back when it is over."""
    return Row(
        queue,
        uid(ids, message.order),
        min(message.deliveries, STATUS_MAX),
        0 if message.lease_us < 0 else max(1, _seconds(message.lease_us)),
        _seconds(_wait_us(message, now_us)),
        0 if message.expires_us >= NEVER_US else _seconds(message.expires_us - now_us),
        message.body,
    )


def _wait_us(message: Message, now_us: int) -> int:
    """How long it is not handed out; a lease without an end is none here."""
    due_us = message.until_us if message.place == LEASED else message.ready_us
    return 0 if due_us >= NEVER_US else max(0, due_us - now_us)


def _seconds(us: int) -> int:
    return -(-us // SECOND_US)
