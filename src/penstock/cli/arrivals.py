"""Which rows of a file a store has had already, as its journal tells; and the others, in batches for the server.

A row is the same message as one of the journal if queue, uid and body are: the uid of a message is the one it was
imported with, and its own. One that was deleted, purged or removed with its queue is as good as never here.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, Final

from penstock.codecs.etzel import uid_seq
from penstock.codecs.etzel_store import Row
from penstock.codecs.facts import Fact, decode_origin
from penstock.codecs.ids import Ids
from penstock.model import facts
from penstock.model.limits import IMPORT_BYTES_MAX, IMPORT_MAX

Identity = tuple[bytes, bytes, bytes]

_DIGEST_BYTES: Final = 16


class Arrivals:
    """To be told every fact; then `fresh` gives each row that is not there yet."""

    def __init__(self, uids: list[bytes], ids: Ids) -> None:
        self.total = len(uids)
        self._uids = set(uids)
        self._own = {int(uid_seq(ids, uid.decode())): uid for uid in self._uids}
        self._queues: dict[int, bytes] = {}
        self._seen: dict[int, list[Identity]] = {}  # by the message's number
        self.known = 0  # rows that were passed over

    def learn(self, fact: Fact) -> None:
        if fact.kind == facts.PUBLISHED:
            self._published(fact)
        elif fact.kind == facts.DELETED:
            self._seen.pop(fact.message, None)
        elif fact.kind == facts.DECLARED:
            self._queues[fact.queue_id] = fact.key or b""

    def fresh(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Of rows that are alike, as many as have not come yet."""
        there = Counter(identity for seen in self._seen.values() for identity in seen)
        for row in rows:
            identity = _identity(row.queue, row.uid, row.item)
            if there[identity] > 0:
                there[identity] -= 1
                self.known += 1
            else:
                yield row

    def _published(self, fact: Fact) -> None:
        uids = [self._own[fact.message]] if fact.message in self._own else []
        origin = decode_origin(fact.extra)
        if origin is not None and origin.foreign_id in self._uids:
            uids.append(origin.foreign_id)
        if uids:
            queue = self._queues.get(fact.queue_id, b"")
            self._seen[fact.message] = [_identity(queue, uid, fact.body) for uid in uids]


def _identity(queue: bytes, uid: bytes, body: bytes) -> Identity:
    return queue, uid, blake2b(body, digest_size=_DIGEST_BYTES).digest()


def batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Neighbours of one queue, as many as one request holds."""
    batch: list[Row] = []
    size = 0
    for row in rows:
        size += len(row.item)
        if batch and (row.queue != batch[0].queue or len(batch) == IMPORT_MAX or size > IMPORT_BYTES_MAX):
            yield batch
            batch, size = [], len(row.item)
        batch.append(row)
    if batch:
        yield batch


def form_of(row: Row) -> dict[str, Any]:
    """As the server's API wants it. A timeout of 0 is left to the queue."""
    return {
        "body64": base64.b64encode(row.item).decode(),
        "foreign_id": row.uid.decode(),
        "delay_s": row.delay_s,
        "ttl_s": row.expires_s,
        "lease_s": row.timeout_s or None,
        "deliveries": row.status,
    }
