"""How long to wait before the next try: longer each time, up to a limit."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_EXPONENT_MAX: Final = 64  # beyond it any factor has long reached the limit, and floats have an end


@dataclass(frozen=True, slots=True)
class Backoff:
    """`first`, then each time `factor` times as long, at most `most` seconds; of each, a random share up to `jitter`
    is taken off."""

    first: float = 1.0
    most: float = 300.0
    factor: float = 2.0
    jitter: float = 0.0

    def delay(self, failures: int) -> float:
        """Before the next try, after so many failures before this one."""
        whole = min(self.most, self.first * self.factor ** min(failures, _EXPONENT_MAX))
        return whole * (1.0 - self.jitter * random.random())


@dataclass(frozen=True, slots=True)
class Steps:
    """Each in turn; the last one repeats."""

    steps: Sequence[float]

    def delay(self, failures: int) -> float:
        return self.steps[min(failures, len(self.steps) - 1)]
