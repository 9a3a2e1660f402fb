"""Messages in rank: priority (higher first), then when they became ready, then their number. Order is all it knows.

A sorted list in chunks: appending at the tail and taking either end cost the same at any length, and a message
anywhere inside is found by bisection. Nothing is deleted lazily, so nothing stale is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mypy_extensions import i64

from penstock.model.message import Message

CHUNK: Final = 256

_NO_CHUNKS: Final[list[list[Message]]] = []  # shared by all that have no more than one; nobody changes it


class Ranked:
    """Law: no two messages of one Ranked have the same rank, for no two have the same number.

    Most are short: there may be many queues, so what is in the only chunk is reached without a list of chunks.
    """

    __slots__ = ("_earlier", "_last", "count")

    def __init__(self) -> None:
        self.count: i64 = 0
        self._last: list[Message] = []  # the last chunk: empty only where all is
        self._earlier: list[list[Message]] = _NO_CHUNKS  # those before it, none of them empty

    def __iter__(self) -> Iterator[Message]:
        for chunk in self._earlier:
            yield from chunk
        yield from self._last

    def after(self, message: Message) -> Iterator[Message]:
        """Those behind it in rank, be it in here or not."""
        for where in range(self._chunk_of(message), len(self._earlier) + 1):
            for one in self._chunk(where):
                if self.before(message, one):
                    yield one

    def count_after(self, message: Message) -> int:
        """How many stand behind it in rank, be it in here or not."""
        where = self._chunk_of(message)
        ahead = sum([len(chunk) for chunk in self._earlier[:where]])
        return int(self.count) - ahead - int(self._position(self._chunk(where), message))

    def first(self) -> Message | None:
        """The oldest: first in rank."""
        if self.count == 0:
            return None
        return self._last[0] if self.count == len(self._last) else self._earlier[0][0]

    def last(self) -> Message | None:
        return self._last[-1] if self.count else None

    def newest(self) -> Message | None:
        """The last within the best priority."""
        first = self.first()
        if first is None:
            return None
        last = self._last[-1]
        return last if last.priority == first.priority else self._last_of(first.priority)

    def newest_of(self, key: bytes) -> Message | None:
        """The newest with this key, whatever its priority. It looks through all."""
        newest: Message | None = None
        for chunk in self._earlier:
            newest = _newer_of(chunk, key, newest)
        return _newer_of(self._last, key, newest)

    def add(self, message: Message) -> None:
        last = self._last
        if last and not self.before(last[-1], message):
            self._insert(message)
        elif len(last) < CHUNK:
            last.append(message)
        else:
            self._own_earlier().append(last)
            self._last = [message]
        self.count += 1

    def remove(self, message: Message) -> None:
        """Takes out a message that is in here; one that is not is a KeyError."""
        last = self._last
        if self.count != len(last):
            self._remove_from_many(message)
        elif not last:
            raise KeyError(message.order)
        elif last[0] is message:
            del last[0]
        elif last[-1] is message:
            last.pop()
        else:
            self._remove_inside(last, message)
        self.count -= 1

    def _remove_from_many(self, message: Message) -> None:
        where: i64 = 0
        chunk = self._earlier[0]
        if chunk[0] is message:
            del chunk[0]
        elif self._last[-1] is message:
            where = len(self._earlier)
            chunk = self._last
            chunk.pop()
        else:
            where = self._chunk_of(message)
            chunk = self._chunk(where)
            self._remove_inside(chunk, message)
        if not chunk:
            self._drop(where)

    def _drop(self, where: i64) -> None:
        if where < len(self._earlier):
            del self._earlier[where]
        else:
            self._last = self._earlier.pop()

    def _insert(self, message: Message) -> None:
        where = self._chunk_of(message)
        chunk = self._chunk(where)
        chunk.insert(self._position(chunk, message), message)
        if len(chunk) > 2 * CHUNK:
            self._own_earlier().insert(where, chunk[:CHUNK])
            del chunk[:CHUNK]

    def _remove_inside(self, chunk: list[Message], message: Message) -> None:
        at = self._position(chunk, message)
        if at >= len(chunk) or chunk[at] is not message:
            raise KeyError(message.order)
        del chunk[at]

    def _own_earlier(self) -> list[list[Message]]:
        if self._earlier is _NO_CHUNKS:
            self._earlier = []
        return self._earlier

    def _chunk(self, where: i64) -> list[Message]:
        return self._earlier[where] if where < len(self._earlier) else self._last

    def _chunk_of(self, message: Message) -> i64:
        """The first chunk whose last message does not stand before this one; or the last of all."""
        chunks = self._earlier
        low: i64 = 0
        high: i64 = len(chunks)
        while low < high:
            middle = (low + high) >> 1
            if self.before(chunks[middle][-1], message):
                low = middle + 1
            else:
                high = middle
        return low

    def _last_of(self, priority: i64) -> Message:
        """The last message of the best priority, where worse ones follow it."""
        low: i64 = 0
        high: i64 = len(self._earlier) + 1
        while high - low > 1:
            middle = (low + high) >> 1
            if self._chunk(middle)[0].priority == priority:
                low = middle
            else:
                high = middle
        chunk = self._chunk(low)
        low = 0
        high = len(chunk)
        while high - low > 1:
            middle = (low + high) >> 1
            if chunk[middle].priority == priority:
                low = middle
            else:
                high = middle
        return chunk[low]

    def _position(self, chunk: list[Message], message: Message) -> i64:
        low: i64 = 0
        high: i64 = len(chunk)
        while low < high:
            middle = (low + high) >> 1
            if self.before(chunk[middle], message):
                low = middle + 1
            else:
                high = middle
        return low

    def before(self, one: Message, other: Message) -> bool:
        if one.priority != other.priority:
            return one.priority > other.priority
        if one.ready_us != other.ready_us:
            return one.ready_us < other.ready_us
        return one.order < other.order


class Aged(Ranked):
    """The same by age alone, whatever the priority: the messages of one key."""

    __slots__ = ()

    def before(self, one: Message, other: Message) -> bool:
        return older(one, other)


def older(one: Message, other: Message) -> bool:
    """Became ready before it, or was published before it where both did at once."""
    if one.ready_us != other.ready_us:
        return one.ready_us < other.ready_us
    return one.order < other.order


def _newer_of(chunk: list[Message], key: bytes, newest: Message | None) -> Message | None:
    """The newest with this key in the chunk, if it is newer than that one."""
    for message in chunk:
        own = message.key
        if own is not None and own == key and (newest is None or older(newest, message)):
            newest = message
    return newest
