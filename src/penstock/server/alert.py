"""Whether the loop stays awake after a tick: sleeping and being woken costs more than most requests.

Where the next request comes at once, looking for it a little longer is cheaper than to sleep; where it does not, this
learns so, and hardly ever looks.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

_MISSES_MAX: Final[i64] = 7  # after that many in a row it looks once in 128 ticks


class Alert:
    """Told of every tick's end; asked, while nothing comes, whether to look on."""

    def __init__(self, patience_us: i64) -> None:
        self._patience_us: i64 = patience_us  # 0: never
        self._until_us: i64 = 0
        self._misses: i64 = 0
        self._skipped: i64 = 0

    def begins(self, now_us: i64) -> bool:
        """A tick has ended: look for the next?"""
        if self._patience_us == 0:
            return False
        if self._skipped > 0:
            self._skipped -= 1
            return False
        self._until_us = now_us + self._patience_us
        return True

    def goes_on(self, now_us: i64) -> bool:
        """Nothing has come yet."""
        if now_us < self._until_us:
            return True
        self._misses = min(self._misses + 1, _MISSES_MAX)
        self._skipped = 1 << self._misses
        return False

    def rewarded(self) -> None:
        """The next tick came while it looked."""
        self._misses = 0
