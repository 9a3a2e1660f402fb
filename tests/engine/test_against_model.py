"""The engine does what the model says, whatever happens: by chance, at length, and by hypothesis, to the point.

`tests/engine/driver.py` tells how to run longer campaigns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from penstock.engine.lifecycle import BEFORE
from penstock.model.facts import FACT_NAMES
from tests.engine.acts import CONFIGURATIONS, WEIGHTS, Acts
from tests.engine.driver import run, seeds
from tests.engine.world import Configuration, World

T = TypeVar("T")

LANES = 4


@cache
def turns_in(seed: int) -> Counter[tuple[int, int]]:
    """One life; the kinds of its facts and their reasons."""
    facts = [fact for batch in run(seed).batches for fact in batch]
    return Counter((int(fact.kind), int(fact.reason)) for fact in facts)


@pytest.mark.parametrize("lane", range(LANES))
def test_the_engine_does_what_the_model_says_whatever_chance_brings(lane: int) -> None:
    for seed in seeds(40)[lane::LANES]:
        turns_in(seed)


def test_chance_brings_everything_that_can_happen() -> None:
    """The test of the one above: no kind of fact, and no reason for one, is left out of these lives."""
    turns = set().union(*map(turns_in, range(24)))
    assert {kind for kind, _ in turns} == set(FACT_NAMES)
    assert set(BEFORE) <= turns


class Drawn:
    """Chance, as hypothesis has it: plainest first, so that a failure shrinks to plain arguments."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data

    def choice(self, options: Sequence[T], /) -> T:
        return self._data.draw(st.sampled_from(options))


class EngineAndModel(RuleBasedStateMachine):
    @initialize(configuration=st.sampled_from(CONFIGURATIONS))
    def begin(self, configuration: Configuration) -> None:
        self.world = World(configuration)

    @rule(name=st.sampled_from(list(WEIGHTS)), data=st.data())
    def something_happens(self, name: str, data: st.DataObject) -> None:
        acts = Acts(self.world, Drawn(data))
        acts.labels = len(self.world.log)
        getattr(acts, name)()

    @rule(data=st.data())
    def time_passes(self, data: st.DataObject) -> None:
        Acts(self.world, Drawn(data)).time_passes()

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.commit()


EngineAndModel.TestCase.settings = settings(
    max_examples=100, stateful_step_count=40, suppress_health_check=list(HealthCheck)
)
TestEngineAndModel = EngineAndModel.TestCase
