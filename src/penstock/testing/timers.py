"""Simulated time, and what is to happen in it."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

from penstock.model.limits import NEVER_US, SECOND_US


class Timer:
    """Ordered by its time, then by its making."""

    def __init__(self, due_us: int, number: int, call: Callable[[], None]) -> None:
        self.due_us = due_us
        self._number = number
        self.call: Callable[[], None] | None = call

    def cancel(self) -> None:
        self.call = None

    def __lt__(self, other: Timer) -> bool:
        return (self.due_us, self._number) < (other.due_us, other._number)


class Timers:
    """`now_us` is set by whoever owns it."""

    def __init__(self, now_us: int) -> None:
        self.now_us = now_us
        self._timers: list[Timer] = []
        self._numbers = itertools.count()

    def later(self, seconds: float, call: Callable[[], None]) -> Timer:
        timer = Timer(self.now_us + round(max(seconds, 0.0) * int(SECOND_US)), next(self._numbers), call)
        heapq.heappush(self._timers, timer)
        return timer

    def next_due_us(self) -> int:
        while self._timers and self._timers[0].call is None:
            heapq.heappop(self._timers)
        return self._timers[0].due_us if self._timers else int(NEVER_US)

    def fire(self) -> None:
        """All that is due, but not what that puts off until now."""
        due: list[Timer] = []
        while self.next_due_us() <= self.now_us:
            due.append(heapq.heappop(self._timers))
        for timer in due:
            if timer.call is not None:
                timer.call()
