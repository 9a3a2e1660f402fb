"""Whole lives by their seeds. A failure names its seed, tells its last steps, and how to see it again."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.engine.audit import Broken
from tests.simulation.acts import Acts
from tests.simulation.timeline import Timeline

STEPS = 50
TOLD = 60


def run(seed: int, steps: int = STEPS, make: Callable[[int], Acts] = Acts) -> Acts:
    """Raises Broken where a law is broken, or the server breaks down."""
    world: Acts | None = None
    trace: list[object] = []
    try:
        world = make(seed)
        trace = world.trace
        with syncs_in(world.timeline):
            world.live(steps)
    except Exception as error:
        broken = error if isinstance(error, Broken) else Broken(0, f"{type(error).__name__}: {error}")
        raise Broken(broken.law, f"{broken.what}\n{told(seed, steps, trace)}") from error
    return world


def told(seed: int, steps: int, trace: list[object]) -> str:
    last = [f"  {line!r}"[:400] for line in trace[-TOLD:]]
    again = f"python -m torture simulate --seed {seed} --seeds 1 --steps {steps}"
    return "\n".join([f"seed {seed}, the last of {len(trace)} lines:", *last, f"again: {again}"])


def digest(world: Acts) -> str:
    """The same for the same life, byte for byte."""
    return hashlib.sha256(repr(world.trace).encode()).hexdigest()


@contextmanager
def syncs_in(timeline: Timeline) -> Iterator[None]:
    """How long a sync takes is asked of the machine, and decides what is done next: here the answer is simulated."""
    real = time.perf_counter_ns
    time.perf_counter_ns = timeline.elapsed_ns
    try:
        yield
    finally:
        time.perf_counter_ns = real
