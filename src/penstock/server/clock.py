"""Engine time: where the wall clock or the last fact stood at the start, plus what has elapsed since.

Steps of the wall clock are ignored while running. Nothing below the server reads a clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from penstock.model.limits import PAUSE_NOTICED_US

HEARTBEAT_US: Final[i64] = 500_000


def wall_us() -> int:
    return time.time_ns() // 1_000


def elapsed_us() -> int:
    """Counts on while the machine sleeps, and never steps."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000


class Clock:
    """Reads the wall clock once, at its making."""

    def __init__(self, wall: Callable[[], int] = wall_us, elapsed: Callable[[], int] = elapsed_us) -> None:
        self._elapsed = elapsed
        self._base_us: i64 = wall() - elapsed()

    def now_us(self) -> i64:
        return self._base_us + self._elapsed()

    def not_before(self, last_fact_us: i64) -> None:
        """Time goes on from the last fact where the wall clock stands behind it."""
        self._base_us += max(0, last_fact_us - self.now_us())


class PauseWatch:
    """Notices that the process stood still: it beats twice a second, and a beat came much too late. A pause is noticed
    for certain if it is longer than a second, wherever between two beats it began."""

    def __init__(self, now_us: i64) -> None:
        self._last_us: i64 = now_us

    def beat(self, now_us: i64) -> None:
        self._last_us = now_us

    def late(self, now_us: i64) -> bool:
        return now_us - self._last_us > PAUSE_NOTICED_US

    def noticed(self, now_us: i64) -> bool:
        """True once for each pause."""
        paused = self.late(now_us)
        if paused:
            self._last_us = now_us
        return paused
