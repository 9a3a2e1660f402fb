"""kill -9 under load: the short version of `make torture`."""

from __future__ import annotations

from torture import kill


def test_twenty_kills_break_no_law() -> None:
    outcome = kill.campaign(cycles=20, seed=20_260_101)
    assert outcome.broken == ()
    assert outcome.cycles == 20
    assert outcome.published > 1_000
    assert outcome.finished > 100
    assert outcome.posted > 500
