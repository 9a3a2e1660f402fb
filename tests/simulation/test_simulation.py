"""Thousands of short lives of a server with clients of all five dialects; see driver.py for how to see one again."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.engine.audit import Broken
from tests.simulation.acts import ACTS, Acts
from tests.simulation.driver import digest, run, told

BLOCKS = 80
BLOCK = 25


@pytest.mark.parametrize("block", range(BLOCKS))
def test_all_laws_hold_whatever_happens(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        run(seed)


def test_a_long_life_holds_them_too() -> None:
    for seed in range(3):
        run(seed, steps=600)


def test_the_same_seed_is_the_same_life_byte_for_byte() -> None:
    for seed in range(8):
        assert digest(run(seed)) == digest(run(seed))


def test_it_is_the_same_in_another_process() -> None:
    """Where addresses and the hashes of strings are others."""
    script = "from tests.simulation.driver import digest, run; print(digest(run(5)))"
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": os.pathsep.join(sys.path)}
    other = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert other.stdout.strip() == digest(run(5))


def test_lives_are_as_rich_as_they_are_meant_to_be() -> None:
    """Every dialect has published and taken, servers have crashed, snapshots were folded, and much was told."""
    worlds = [run(seed) for seed in range(40)]
    for name, least in (("published", 300), ("delivered", 500), ("finished", 60)):
        assert sum(world.laws.counts[name] for world in worlds) > least, name
    assert sum(world.crashes for world in worlds) > 20
    assert sum(world.snapshots for world in worlds) > 10
    told_of = {fact.dialect for world in worlds for fact in world.laws.facts if fact.dialect}
    assert told_of == {1, 2, 3, 4, 5}


def test_a_failure_names_its_seed_and_how_to_see_it_again() -> None:
    class Unlucky(Acts):
        def quiet(self) -> None:
            raise Broken(5, "nobody is content")

    with pytest.raises(Broken, match="nobody is content") as broken:
        run(11, make=Unlucky)
    assert broken.value.law == 5
    assert "seed 11" in str(broken.value)
    assert "python -m torture simulate --seed 11 --seeds 1" in str(broken.value)


def test_of_a_long_trace_only_the_end_is_told() -> None:
    lines = told(1, 50, [(at, "world", "x" * 1_000) for at in range(1_000)]).splitlines()
    assert len(lines) < 70
    assert max(map(len, lines)) <= 400


def test_everything_that_may_happen_is_something_a_world_can_do() -> None:
    assert all(callable(getattr(Acts, name)) for name in ACTS)
