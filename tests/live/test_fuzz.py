"""Fuzzed input over real sockets: the short version of `make torture ARGS="fuzz --live"`."""

from __future__ import annotations

import pytest

from torture import fuzz


@pytest.mark.parametrize("dialect", fuzz.NAMES)
def test_whatever_is_sent_the_server_stays_well(dialect: str) -> None:
    outcome = fuzz.campaign(dialect, count=2_500, seed=20_260_101, live=True)
    assert outcome.broken == ()
    assert outcome.inputs == 2_500
    assert outcome.connections > 200
