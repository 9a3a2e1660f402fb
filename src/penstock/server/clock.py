"""Engine time: where the wall clock or the last fact stood at the start, plus what has elapsed since.

Steps of the wall clock are ignored while running. Nothing below the server reads a clock.
"""

from __future__ import annotations

import time
from typing import Final

from mypy_extensions import i64, mypyc_attr

from penstock.model.limits import PAUSE_NOTICED_US

HEARTBEAT_US: Final[i64] = 500_000

# Looked up once: time is asked for with everything that a socket brings.
_read_ns: Final = time.clock_gettime_ns
_ELAPSED: Final = time.CLOCK_BOOTTIME


@mypyc_attr(allow_interpreted_subclasses=True)
class Clock:
    """Reads the wall clock once, at its making."""

    def __init__(self) -> None:
        self._base_us: i64 = self.wall_us() - self.elapsed_us()

    def wall_us(self) -> i64:
        ns: i64 = time.time_ns()
        return ns // 1_000

    def elapsed_us(self) -> i64:
        """Counts on while the machine sleeps, and never steps."""
        ns: i64 = _read_ns(_ELAPSED)
        return ns // 1_000

    def now_us(self) -> i64:
        return self._base_us + self.elapsed_us()

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
