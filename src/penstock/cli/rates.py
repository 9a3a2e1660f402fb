"""How fast: 500/s, 30/m or 1000/h on the command line, and the pace that keeps to it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Final

import click

CHUNK: Final = 200  # messages that are asked for at once where nothing slows them down
_PER_S: Final = 10  # a slower pace asks so often, a tenth of a second's worth each time
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600}
_WRITTEN: Final = re.compile(r"(\d+)\s*/\s*([smh])", re.ASCII)


class Rate(click.ParamType[float, str]):
    """The type of --rate: messages a second."""

    name = "rate"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> float:
        match = _WRITTEN.fullmatch(value.strip())
        if match is None or int(match[1]) == 0:
            self.fail(f"'{value}' is no rate; write it like 500/s, 30/m or 1000/h.", param, ctx)
        return int(match[1]) / _SECONDS[match[2]]


class Pace:
    """Law: up to any moment, no more than the rate allows since the start, and one chunk. None: no limit."""

    def __init__(
        self,
        per_s: float | None,
        now_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.chunk = CHUNK if per_s is None else max(1, min(CHUNK, int(per_s / _PER_S)))
        self._per_s = per_s
        self._now_s = now_s
        self._sleep = sleep
        self._start_s = now_s()
        self._sent = 0

    def wait(self, count: int) -> None:
        """Until so many more may go."""
        if self._per_s is not None:
            early_s = self._start_s + self._sent / self._per_s - self._now_s()
            if early_s > 0:
                self._sleep(early_s)
        self._sent += count
