"""The embedded broker keeps its promises over kills, power cuts and slow syncs; see tests/engine/driver.py for more."""

from __future__ import annotations

from functools import partial

import pytest

from penstock.model import stages
from tests.broker.crash_world import CrashWorld
from tests.engine.audit import Broken
from tests.engine.driver import run, seeds
from tests.engine.world import Configuration


@pytest.mark.parametrize("confirm", [stages.READY, stages.WRITE, stages.SYNC])
def test_what_was_told_is_there_after_any_crash(confirm: int) -> None:
    for seed in seeds(12):
        run(seed, make=partial(CrashWorld, confirm=confirm))


def test_a_disk_that_eats_its_syncs_is_found_out() -> None:
    """The test of the one above."""
    with pytest.raises(Broken) as broken:
        lives_on_a_liar()
    assert broken.value.law == 10


def lives_on_a_liar() -> None:
    for seed in range(8):
        run(seed, 250, liar)


def liar(configuration: Configuration) -> CrashWorld:
    world = CrashWorld(configuration, stages.SYNC)
    world.disk.eats_syncs = True
    return world
