"""RSMQ's keys in a Redis, read to be moved: each queue's attributes and ids at one moment, then the bodies, bit by bit.

It only reads. What cannot be moved is told before anything is.
"""

from __future__ import annotations

import base64
import math
import time
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from penstock.cli.output import printable
from penstock.cli.program import Failure
from penstock.cli.progress import progress
from penstock.cli.resp_client import RespClient
from penstock.codecs import names
from penstock.codecs.ids import Ids
from penstock.codecs.rsmq_ids import RsmqIds
from penstock.codecs.rsmq_keys import Keys, due_us, has_keys, number
from penstock.model.limits import BODY_MAX, DELAY_MAX_US, DELIVERIES_MAX, MILLISECOND_US, SECOND_US

CHUNK: Final = 500  # messages that are asked for at once
ID_MAX: Final = 255  # bytes

# attribute -> what holds where a queue does not say it, and the largest that is taken for what was meant
_ATTRIBUTES: Final = {
    "vt": (30.0, 315_360_000.0),
    "delay": (0.0, 315_360_000.0),
    "maxsize": (65_536.0, float(1 << 31)),
    "created": (0.0, float(1 << 40)),
    "modified": (0.0, float(1 << 40)),
    "totalsent": (0.0, float(1 << 52)),
    "totalrecv": (0.0, float(1 << 52)),
}
_TIME_MAX_MS: Final = float(1 << 50)


class Moved(NamedTuple):
    """One message, as it stood there."""

    queue: bytes
    uid: bytes
    item: bytes
    ready_us: int
    rc: int
    first_us: int


class Shelf(NamedTuple):
    """One queue: its attributes, and its ids with their scores, in their order."""

    name: bytes
    said: dict[str, float]
    ids: list[tuple[bytes, bytes]]


class RsmqSource:
    """Law: what is read at first is what is moved; an id that has no body, or no longer, is counted as `gone`."""

    def __init__(self, client: RespClient, namespace: str, only: list[bytes]) -> None:
        """Raises Failure where something cannot be moved."""
        self._client = client
        self._keys = Keys(namespace.encode())
        self.gone = 0
        self._shelves = list(self._all(self._names(only)))

    def ids(self) -> list[bytes]:
        return [id for shelf in self._shelves for id, _ in shelf.ids]

    def forms(self) -> dict[bytes, dict[str, int]]:
        """Each queue, as the server's API wants it."""
        return {shelf.name: _queue_form(shelf) for shelf in self._shelves}

    def rows(self) -> Iterator[Moved]:
        latest_us = int(time.time() * int(SECOND_US)) + int(DELAY_MAX_US) - int(SECOND_US)
        for shelf in self._shelves:
            for at in range(0, len(shelf.ids), CHUNK):
                yield from self._moved(shelf.name, shelf.ids[at : at + CHUNK], latest_us)

    # -- reading

    def _names(self, only: list[bytes]) -> list[bytes]:
        found: list[bytes] = sorted(self._client.call("SMEMBERS", self._keys.queues()))
        missing = [names.show(queue) for queue in only if queue not in found]
        if missing:
            raise Failure(f"{self._client.place.shown()} has no queue {', '.join(missing)}.")
        return [queue for queue in found if has_keys(queue) and (not only or queue in only)]

    def _all(self, queues: list[bytes]) -> Iterator[Shelf]:
        with progress("reading the queues") as tell:
            for at, queue in enumerate(queues, 1):
                tell(at, len(queues))
                yield self._shelf(queue)

    def _shelf(self, queue: bytes) -> Shelf:
        fields, pairs = self._client.atomically(
            ("HMGET", self._keys.hash(queue), *_ATTRIBUTES),
            ("ZRANGE", self._keys.zset(queue), 0, -1, "WITHSCORES"),
        )
        said = {name: _read(value, *row) for (name, row), value in zip(_ATTRIBUTES.items(), fields, strict=True)}
        ids = list(zip(pairs[::2], pairs[1::2], strict=True))
        return Shelf(queue, said, [ids[at] for at in self._movable(queue, [id for id, _ in ids])])

    def _movable(self, queue: bytes, ids: list[bytes]) -> Iterator[int]:
        """Places of those that have a body; an empty one is told from none by asking for it."""
        for at in range(0, len(ids), CHUNK):
            chunk = ids[at : at + CHUNK]
            sizes = self._client.calls([("HSTRLEN", self._keys.hash(queue), id) for id in chunk])
            for place, (id, size) in enumerate(zip(chunk, sizes, strict=True), at):
                _refuse_unmovable(queue, id, size)
                if size or self._client.call("HEXISTS", self._keys.hash(queue), id):
                    yield place
                else:
                    self.gone += 1

    def _moved(self, queue: bytes, ids: list[tuple[bytes, bytes]], latest_us: int) -> Iterator[Moved]:
        fields = [field for id, _ in ids for field in (id, id + b":rc", id + b":fr")]
        values = self._client.call("HMGET", self._keys.hash(queue), *fields)
        for (id, score), body, rc, first in zip(ids, values[::3], values[1::3], values[2::3], strict=True):
            if body is None:
                self.gone += 1
                continue
            ready_us = min(max(int(due_us(score)), 0), latest_us)
            count = int(_read(rc, 0.0, DELIVERIES_MAX))
            first_us = int(_read(first, 0.0, _TIME_MAX_MS)) * int(MILLISECOND_US)
            yield Moved(queue, id, body, ready_us, count, first_us)


def _refuse_unmovable(queue: bytes, id: bytes, size: int) -> None:
    what = f"the message {printable(id.decode('utf-8', 'replace'))} of the queue {names.show(queue)}"
    if size > BODY_MAX:
        raise Failure(f"{what} has {size:,} bytes, and a message here may have {BODY_MAX:,}.", "Nothing was changed.")
    if not id or len(id) > ID_MAX or not _is_text(id):
        raise Failure(f"{what} has an id that is no text of 1 to {ID_MAX} bytes.", "Nothing was changed.")


def _is_text(id: bytes) -> bool:
    try:
        return id.decode().isprintable()
    except UnicodeDecodeError:
        return False


def _read(value: bytes | None, unsaid: float, largest: float) -> float:
    """A number from 0 to the largest, or what holds where there is none."""
    found = unsaid if value is None else number(value)
    return unsaid if math.isnan(found) else min(max(found, 0.0), largest)


# -- as the server's API wants it


def _queue_form(shelf: Shelf) -> dict[str, int]:
    """A maximum of -1 is none, which is 0 here; a lease of 0 would be one without end, and is as short as can be."""
    said = shelf.said
    return {
        "lease_us": max(round(said["vt"] * int(SECOND_US)), 1),
        "delay_us": round(said["delay"] * int(SECOND_US)),
        "max_body": int(said["maxsize"]),
        "published": max(int(said["totalsent"]) - len(shelf.ids), 0),
        "delivered": int(said["totalrecv"]),
        "created_us": int(said["created"]) * int(SECOND_US),
        "modified_us": int(said["modified"]) * int(SECOND_US),
    }


def form_of(row: Moved) -> dict[str, Any]:
    return {
        "body64": base64.b64encode(row.item).decode(),
        "foreign_id": row.uid.decode(),
        "ready_us": row.ready_us,
        "deliveries": row.rc,
        "first_leased_us": row.first_us,
    }


def own_number(ids: Ids, id: bytes) -> int:
    """Of the message that shows itself under this id, where this store has made it."""
    return int(RsmqIds(ids).seq(id))
