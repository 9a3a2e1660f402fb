"""Which queues the connections of one listener have subscribed to. It hands out nothing: it only knows, and is bounded,
for names take memory."""

from __future__ import annotations

from mypy_extensions import i64

from penstock.model.limits import SUBSCRIBED_BYTES_MAX, SUBSCRIPTION_OVERHEAD


class Subscriptions:
    """By queue name. Every name that a connection keeps needs room, whether it is subscribed to or not."""

    def __init__(self) -> None:
        self._subscribers: dict[bytes, int] = {}
        self._bytes: i64 = 0

    def has(self, queue: bytes) -> bool:
        return queue in self._subscribers

    def count(self, queue: bytes) -> int:
        return self._subscribers.get(queue, 0)

    def keep(self, queue: bytes) -> bool:
        """Room for one more name. False: there is none."""
        needed: i64 = len(queue) + SUBSCRIPTION_OVERHEAD
        if self._bytes + needed > SUBSCRIBED_BYTES_MAX:
            return False
        self._bytes += needed
        return True

    def add(self, queue: bytes) -> None:
        self._subscribers[queue] = self._subscribers.get(queue, 0) + 1

    def leave(self, queue: bytes, subscribed: bool) -> None:
        """A connection that kept this name is gone."""
        self._bytes -= len(queue) + SUBSCRIPTION_OVERHEAD
        if not subscribed:
            return
        left = self._subscribers[queue] - 1
        if left:
            self._subscribers[queue] = left
        else:
            del self._subscribers[queue]
