"""The test of the tests: every planted bug is noticed within a few short lives, and without one the same lives pass."""

from __future__ import annotations

import pytest

from penstock.engine import engine
from tests.broker.crash_world import CrashWorld
from tests.engine.audit import Broken
from tests.engine.driver import run
from tests.engine.planted import BUGS, Bug, forget
from tests.engine.world import World

SEEDS = range(24)
STEPS = 300

interpreted = pytest.mark.skipif(not engine.__file__.endswith(".py"), reason="compiled classes cannot be patched")


def lives(world: type[World]) -> None:
    for seed in SEEDS:
        run(seed, STEPS, world)


@interpreted
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name.replace(" ", "-"))
def test_a_planted_bug_is_noticed(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    for owner, name, instead in bug.patches:
        assert getattr(owner, name) is not instead
        monkeypatch.setattr(owner, name, instead)
    with pytest.raises(Broken):
        lives(CrashWorld if bug.needs_disk else World)


@pytest.mark.parametrize("world", [World, CrashWorld])
def test_without_a_bug_the_same_lives_pass(world: type[World]) -> None:
    lives(world)


def test_there_are_bugs_of_many_kinds() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS) >= 12
