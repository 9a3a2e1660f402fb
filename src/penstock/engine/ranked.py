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


class Ranked:
    """Law: no two messages of one Ranked have the same rank, for no two have the same number."""

    __slots__ = ("_chunks", "count")

    def __init__(self) -> None:
        self.count: i64 = 0
        self._chunks: list[list[Message]] = []  # none of them empty

    def __iter__(self) -> Iterator[Message]:
        for chunk in self._chunks:
            yield from chunk

    def after(self, message: Message) -> Iterator[Message]:
        """Those behind it in rank, be it in here or not."""
        for where in range(self._chunk_of(message), len(self._chunks)):
            for one in self._chunks[where]:
                if self.before(message, one):
                    yield one

    def count_after(self, message: Message) -> int:
        """How many stand behind it in rank, be it in here or not."""
        where = self._chunk_of(message)
        if where == len(self._chunks):
            return 0
        behind = sum([len(chunk) for chunk in self._chunks[where + 1 :]])
        return behind + len(self._chunks[where]) - int(self._position(self._chunks[where], message))

    def first(self) -> Message | None:
        """The oldest: first in rank."""
        return self._chunks[0][0] if self.count else None

    def last(self) -> Message | None:
        return self._chunks[-1][-1] if self.count else None

    def newest(self) -> Message | None:
        """The last within the best priority."""
        if not self.count:
            return None
        best = self._chunks[0][0].priority
        last = self._chunks[-1][-1]
        return last if last.priority == best else self._last_of(best)

    def add(self, message: Message) -> None:
        self.count += 1
        chunks = self._chunks
        if not chunks:
            chunks.append([message])
            return
        chunk = chunks[-1]
        if self.before(chunk[-1], message):
            if len(chunk) < CHUNK:
                chunk.append(message)
            else:
                chunks.append([message])
            return
        self._insert(message)

    def remove(self, message: Message) -> None:
        """Takes out a message that is in here; one that is not is a KeyError."""
        chunks = self._chunks
        if not chunks:
            raise KeyError(message.order)
        where: i64 = 0
        if chunks[0][0] is message:
            del chunks[0][0]
        elif chunks[-1][-1] is message:
            where = len(chunks) - 1
            chunks[-1].pop()
        else:
            where = self._chunk_of(message)
            self._remove_inside(where, message)
        self.count -= 1
        if not chunks[where]:
            del chunks[where]

    def _insert(self, message: Message) -> None:
        where = self._chunk_of(message)
        chunk = self._chunks[where]
        chunk.insert(self._position(chunk, message), message)
        if len(chunk) > 2 * CHUNK:
            self._chunks.insert(where + 1, chunk[CHUNK:])
            del chunk[CHUNK:]

    def _remove_inside(self, where: i64, message: Message) -> None:
        chunk = self._chunks[where] if where < len(self._chunks) else []
        at = self._position(chunk, message)
        if at >= len(chunk) or chunk[at] is not message:
            raise KeyError(message.order)
        del chunk[at]

    def _chunk_of(self, message: Message) -> i64:
        """The first chunk whose last message does not stand before this one."""
        chunks = self._chunks
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
        chunks = self._chunks
        low: i64 = 0
        high: i64 = len(chunks)
        while high - low > 1:
            middle = (low + high) >> 1
            if chunks[middle][0].priority == priority:
                low = middle
            else:
                high = middle
        chunk = chunks[low]
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
        if one.ready_us != other.ready_us:
            return one.ready_us < other.ready_us
        return one.order < other.order
