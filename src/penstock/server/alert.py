"""Whether the loop looks for more before it goes on: at a tick's end, before it is committed, and before it sleeps.

Where more comes at once, looking a little longer is cheaper than to commit or to sleep without it; where it does not,
this learns so, and hardly ever looks.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

_MISSES_MAX: Final[i64] = 7  # after that many in a row it is tried once in 128 times


class Habit:
    """What pays is done every time; what was in vain is left out 2, 4, … 128 times before it is tried again."""

    def __init__(self) -> None:
        self._misses: i64 = 0
        self._skipped: i64 = 0

    def due(self) -> bool:
        if self._skipped > 0:
            self._skipped -= 1
            return False
        return True

    def paid(self) -> None:
        self._misses = 0

    def failed(self) -> None:
        self._misses = min(self._misses + 1, _MISSES_MAX)
        self._skipped = 1 << self._misses


class Alert:
    """Before the loop sleeps, for sleeping and being woken costs more than most requests: told of every tick's end;
    asked, while nothing comes, whether to look on."""

    def __init__(self, patience_us: i64) -> None:
        self._patience_us: i64 = patience_us  # 0: never
        self._until_us: i64 = 0
        self._habit = Habit()

    def begins(self, now_us: i64) -> bool:
        """A tick has ended: look for the next?"""
        if self._patience_us == 0 or not self._habit.due():
            return False
        self._until_us = now_us + self._patience_us
        return True

    def goes_on(self, now_us: i64) -> bool:
        """Nothing has come yet."""
        if now_us < self._until_us:
            return True
        self._habit.failed()
        return False

    def rewarded(self) -> None:
        """The next tick came while it looked."""
        self._habit.paid()


class Gathering:
    """Before a tick is committed, for what comes meanwhile shares its commit: until nothing has come for a while."""

    def __init__(self, quiet_us: i64, most_us: i64) -> None:
        self._quiet_us: i64 = quiet_us  # 0: never
        self._most_us: i64 = most_us
        self._until_us: i64 = 0
        self._last_us: i64 = 0
        self._gained: bool = False
        self._habit = Habit()

    def begins(self, now_us: i64) -> bool:
        """A tick could be committed: look for more?"""
        if self._quiet_us == 0 or not self._habit.due():
            return False
        self._until_us = now_us + self._quiet_us
        self._last_us = now_us + self._most_us
        self._gained = False
        return True

    def goes_on(self, now_us: i64, came: bool) -> bool:
        """Something has come since it was last asked, or not."""
        if came:
            self._gained = True
            self._until_us = min(now_us + self._quiet_us, self._last_us)
        if now_us < self._until_us:
            return True
        if self._gained:
            self._habit.paid()
        else:
            self._habit.failed()
        return False
