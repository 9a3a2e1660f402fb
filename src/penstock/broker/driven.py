"""A broker as the loop that owns it sees it: told the time, committed once a tick, synced where answers wait for it."""

from __future__ import annotations

from collections.abc import Callable

from mypy_extensions import i64, mypyc_attr


@mypyc_attr(allow_interpreted_subclasses=True)
class Driven:
    """One tick is `begin`, verbs, `commit`. Any exception is final: nothing may be said after it."""

    def begin(self, now_us: i64) -> None:
        raise NotImplementedError

    def move(self, now_us: i64) -> None:
        """Within a tick: time has gone on since it began, and what comes now comes later."""
        raise NotImplementedError

    def woken(self) -> None:
        """The process had been paused: what begins or moves next grants every lease its grace first."""
        raise NotImplementedError

    def commit(self) -> None:
        """Writes, syncs where that is quick, and says all that is durable enough by then."""
        raise NotImplementedError

    def waited(self) -> bool:
        """Since the last `begin` a sync was waited for."""
        raise NotImplementedError

    def next_due_us(self) -> i64:
        """When it next wants a tick, asked or not."""
        raise NotImplementedError

    def wants_sync(self) -> bool:
        """Answers wait for a sync that has not begun."""
        raise NotImplementedError

    def unsynced(self) -> bool:
        """Something was written that a power cut could take."""
        raise NotImplementedError

    def start_sync(self) -> Callable[[], None]:
        """Between ticks: what to run on a thread; then `finish_sync`, before another is started."""
        raise NotImplementedError

    def finish_sync(self) -> None:
        """The sync that was started has run: says what it covers."""
        raise NotImplementedError

    def wants_spare(self) -> bool:
        """Something is to be made ready, off the loop, by `prepare_spare`."""
        raise NotImplementedError

    def prepare_spare(self) -> None:
        raise NotImplementedError
