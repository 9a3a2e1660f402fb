"""Long seeded runs of a World: the same seed, the same life. A failure names its seed and tells its last steps.

Campaigns of any length: WORLD_SEEDS says how many seeds are tried (by default a few dozen), WORLD_STEPS how long each
life is, WORLD_FIRST_SEED where to begin; tests/broker/test_crashes.py obeys them too. One seed again:

    WORLD_SEEDS=1 WORLD_FIRST_SEED=418 pytest tests/engine/test_against_model.py -k whatever
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable

from tests.engine.acts import CONFIGURATIONS, MOODS, WEIGHTS, Acts
from tests.engine.audit import Broken
from tests.engine.world import Configuration, World

STEPS = int(os.environ.get("WORLD_STEPS", "300"))
TOLD = 40


def seeds(usual: int) -> range:
    first = int(os.environ.get("WORLD_FIRST_SEED", "0"))
    return range(first, first + int(os.environ.get("WORLD_SEEDS", usual)))


def run(seed: int, steps: int = STEPS, make: Callable[[Configuration], World] = World) -> World:
    """Raises Broken, with the seed and the last steps, where a law is broken or the engine breaks down."""
    dice = random.Random(seed)
    log: list[str] = []
    try:
        world = make(dice.choice(CONFIGURATIONS))
        log = world.log
        live(world, dice, steps)
    except Exception as error:
        broken = error if isinstance(error, Broken) else Broken(0, f"{type(error).__name__}: {error}")
        told = "\n  ".join([f"seed {seed}, after {len(log)} steps, the last of them", *log[-TOLD:]])
        raise Broken(broken.law, f"{broken.what}\n{told}") from error
    return world


def live(world: World, dice: random.Random, steps: int) -> None:
    acts = Acts(world, dice)
    weights = {**WEIGHTS, **dice.choice(MOODS)}
    for name in dice.choices(list(weights), list(weights.values()), k=steps):
        getattr(acts, name)()
