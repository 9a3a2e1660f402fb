"""Something that goes wrong with time while clients wait, and what must hold for all that they waited for and held."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

GRACE_S = 10.0
SLACK_S = 0.002
LATE_S = 10.0  # a busy machine may be so slow; nothing may be later


@dataclass
class Event:
    """What goes wrong. All who wait for it have everything under way; afterwards all go on."""

    happens: Callable[[], None]
    slept_s: float = 0.0  # that passed for the server and not for its clients
    stands: bool = False  # the server does, for longer than a second
    broken: list[str] = field(default_factory=list)

    over_s: float = 0.0  # when it was

    def gather(self, count: int) -> None:
        """So many will wait for it."""
        self._barrier = threading.Barrier(count, self._act)

    def _act(self) -> None:
        self.happens()
        self.over_s = time.monotonic()

    def wait(self) -> None:
        self._barrier.wait()

    def give_up(self) -> None:
        self._barrier.abort()

    # -- laws

    def due(self, what: str, since_s: float, wait_s: float) -> None:
        """It has come, now: not before its time, nor long after it."""
        self._at(what, since_s + wait_s - self.slept_s)

    def lapsed(self, what: str, since_s: float, lease_s: float) -> None:
        """A lease has ended, now. Where the server stood still, it gets as much as it had, or ten seconds."""
        graced_s = self.over_s + min(lease_s, GRACE_S) if self.stands else 0.0
        self._at(what, max(since_s + lease_s - self.slept_s, graced_s))

    def _at(self, what: str, least_s: float) -> None:
        now_s = time.monotonic()
        self.law(now_s >= least_s - SLACK_S, f"early: {what}, by {least_s - now_s:.4f} s")
        late_s = now_s - max(least_s, self.over_s)
        self.law(late_s < LATE_S, f"late: {what}, by {late_s:.1f} s")

    def is_over(self, since_s: float, ttl_s: float) -> bool:
        return time.monotonic() > since_s + ttl_s - self.slept_s

    def law(self, holds: bool, words: str) -> None:
        if not holds:
            self.broken.append(words)


@dataclass(frozen=True)
class Waiting:
    """Where somebody waits, on a queue of their own."""

    ports: Mapping[str, int]
    queue: str
    event: Event
