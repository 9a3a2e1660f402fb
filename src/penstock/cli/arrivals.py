"""Which rows from elsewhere a store has had already, as its journal tells; and the others, in batches for the server.

A row is the same message as one of the journal if queue, uid and body are: the uid of a message is the one it was
imported with, and its own. One that was deleted, purged or removed with its queue is as good as never here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import Final, Protocol, TypeVar

from penstock.codecs import snapshots
from penstock.codecs.facts import Fact, decode_origin
from penstock.model import facts
from penstock.model.limits import IMPORT_BYTES_MAX, IMPORT_MAX
from penstock.model.message import Origin

Identity = tuple[bytes, bytes, bytes]

_DIGEST_BYTES: Final = 16


class Row(Protocol):
    """What makes a message the same as another."""

    @property
    def queue(self) -> bytes: ...

    @property
    def uid(self) -> bytes: ...

    @property
    def item(self) -> bytes: ...


R = TypeVar("R", bound=Row)


class Arrivals:
    """To be told a snapshot and every fact; then `fresh` gives each row that is not there yet.

    `own` gives the number of the message of this store that has such a uid, if any.
    """

    def __init__(self, uids: list[bytes], own: Callable[[bytes], int]) -> None:
        self.total = len(uids)
        self._uids = set(uids)
        self._own = {own(uid): uid for uid in self._uids}
        self._queues: dict[int, bytes] = {}
        self._seen: dict[int, list[Identity]] = {}  # by the message's number
        self.known = 0  # rows that were passed over

    def restore(self, kind: int, rows: int, payload: bytes) -> None:
        """A block of a snapshot: what was finished before it is not known any more."""
        if kind == snapshots.QUEUES:
            self._queues.update(snapshots.queue_names(rows, payload))
        elif kind == snapshots.MESSAGES:
            for message, _ in snapshots.read_messages(rows, payload):
                self._seen_one(message.order, message.queue_id, message.body, message.origin)

    def learn(self, fact: Fact) -> None:
        if fact.kind == facts.PUBLISHED:
            self._seen_one(fact.message, fact.queue_id, fact.body, decode_origin(fact.extra))
        elif fact.kind == facts.DELETED:
            self._seen.pop(fact.message, None)
        elif fact.kind == facts.DECLARED:
            self._queues[fact.queue_id] = fact.key or b""
        elif fact.kind == facts.REMOVED:
            self._queues.pop(fact.queue_id, None)

    def queues(self) -> set[bytes]:
        """Those that are there."""
        return set(self._queues.values())

    def fresh(self, rows: Iterable[R]) -> Iterator[R]:
        """Of rows that are alike, as many as have not come yet."""
        there = Counter(identity for seen in self._seen.values() for identity in seen)
        for row in rows:
            identity = _identity(row.queue, row.uid, row.item)
            if there[identity] > 0:
                there[identity] -= 1
                self.known += 1
            else:
                yield row

    def _seen_one(self, number: int, queue_id: int, body: bytes, origin: Origin | None) -> None:
        uids = [self._own[number]] if number in self._own else []
        if origin is not None and origin.foreign_id in self._uids:
            uids.append(origin.foreign_id)
        if uids:
            queue = self._queues.get(queue_id, b"")
            self._seen[number] = [_identity(queue, uid, body) for uid in uids]


def _identity(queue: bytes, uid: bytes, body: bytes) -> Identity:
    return queue, uid, blake2b(body, digest_size=_DIGEST_BYTES).digest()


def batches(rows: Iterable[R]) -> Iterator[list[R]]:
    """Neighbours of one queue, as many as one request holds."""
    batch: list[R] = []
    size = 0
    for row in rows:
        size += len(row.item)
        if batch and (row.queue != batch[0].queue or len(batch) == IMPORT_MAX or size > IMPORT_BYTES_MAX):
            yield batch
            batch, size = [], len(row.item)
        batch.append(row)
    if batch:
        yield batch
