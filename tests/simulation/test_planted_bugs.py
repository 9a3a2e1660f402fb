"""The test of the simulation: every planted bug is noticed within a few lives, and without one the same lives pass."""

from __future__ import annotations

import pytest

from penstock.engine import engine
from tests.engine.audit import Broken
from tests.engine.planted import Bug, forget
from tests.simulation.driver import run
from tests.simulation.planted import BUGS, OURS, THEIRS

SEEDS = range(150)

interpreted = pytest.mark.skipif(not engine.__file__.endswith(".py"), reason="compiled classes cannot be patched")


def lives() -> None:
    for seed in SEEDS:
        run(seed)


@interpreted
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name.replace(" ", "-"))
def test_a_planted_bug_is_noticed(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    for owner, name, instead in bug.patches:
        assert getattr(owner, name) is not instead
        monkeypatch.setattr(owner, name, instead)
    with pytest.raises(Broken):
        lives()


def test_every_bug_that_is_named_is_there() -> None:
    assert len(BUGS) == len(OURS) + len(THEIRS)
