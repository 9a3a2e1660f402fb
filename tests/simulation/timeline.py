"""Simulated time, all that is to happen in it, and the loop of a server that lives in it. No clock, no thread."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Any, cast

SECOND_US = 1_000_000
THREAD_US = (0, 0, 300, 2_000, 15_000)  # how long what is handed to a thread may take


class Timer:
    """Something to be called, unless it is cancelled; events of a server that has died are not called either."""

    __slots__ = ("args", "call")

    def __init__(self, call: Callable[..., object] | None, args: tuple[Any, ...]) -> None:
        self.call = call
        self.args = args

    def cancel(self) -> None:
        self.call = None


class Timeline:
    """`now_us` is time since boot; the wall clock stands `wall_us` away from it, and may be set."""

    def __init__(self, start_us: int) -> None:
        self.now_us = 0
        self.wall_us = start_us
        self.soon: deque[Timer] = deque()
        self._later: list[tuple[int, int, Timer]] = []
        self._numbers = count()

    def elapsed(self) -> int:
        return self.now_us

    def wall(self) -> int:
        return self.wall_us + self.now_us

    def elapsed_ns(self) -> int:
        return self.now_us * 1_000

    def later(self, wait_us: int, call: Callable[..., object], *args: Any) -> Timer:
        timer = Timer(call, args)
        heappush(self._later, (self.now_us + wait_us, next(self._numbers), timer))
        return timer

    def run(self, for_us: int) -> None:
        """What is due happens, instant by instant; of one instant first all that comes from outside, as in a loop."""
        end_us = self.now_us + for_us
        self._settle()
        while self._later and self._later[0][0] <= end_us:
            self.now_us = max(self.now_us, self._later[0][0])
            while self._later and self._later[0][0] <= self.now_us:
                timer = heappop(self._later)[2]
                if timer.call is not None:
                    timer.call(*timer.args)
            self._settle()
        self.now_us = end_us

    def stand_still(self, for_us: int) -> None:
        """As after SIGSTOP, or on a machine that slept: time has passed, and nothing has happened in it."""
        self.now_us += for_us

    def forget(self) -> None:
        """The server and all its connections are gone."""
        self.soon.clear()
        self._later.clear()

    def _settle(self) -> None:
        soon = self.soon
        while soon:
            timer = soon.popleft()
            if timer.call is not None:
                timer.call(*timer.args)


class Done:
    """The future of something that ran in a thread."""

    def __init__(self) -> None:
        self._error: Exception | None = None
        self._callback: Callable[[Any], object] | None = None

    def add_done_callback(self, call: Callable[[Any], object]) -> None:
        self._callback = call

    def run(self, call: Callable[[], object]) -> None:
        try:
            call()
        except Exception as error:
            self._error = error
        if self._callback is not None:
            self._callback(self)

    def result(self) -> None:
        if self._error is not None:
            raise self._error


class SimLoop:
    """As much of a loop as the heart asks for."""

    def __init__(self, timeline: Timeline, dice: Random) -> None:
        self._timeline = timeline
        self._dice = dice

    def call_soon(self, callback: Callable[..., object], *args: Any) -> Timer:
        timer = Timer(callback, args)
        self._timeline.soon.append(timer)
        return timer

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> Timer:
        return self._timeline.later(round(delay * SECOND_US), callback, *args)

    def run_in_executor(self, executor: object, func: Callable[[], object]) -> Done:
        done = Done()
        self._timeline.later(self._dice.choice(THREAD_US), done.run, func)
        return done


def loop_in(timeline: Timeline, dice: Random) -> asyncio.AbstractEventLoop:
    return cast(asyncio.AbstractEventLoop, SimLoop(timeline, dice))
