"""Staying awake after a tick: as long as it pays, and hardly ever where it does not."""

from __future__ import annotations

from penstock.server.alert import Alert

PATIENCE_US = 100


def looks(alert: Alert, ticks: int, comes_after_us: int) -> int:
    """How many of so many ticks were looked for, where each comes so long after the last."""
    looked = 0
    for number in range(ticks):
        now_us = number * 1_000
        if not alert.begins(now_us):
            continue
        looked += 1
        if comes_after_us < PATIENCE_US:
            assert alert.goes_on(now_us + comes_after_us)
            alert.rewarded()
        else:
            assert not alert.goes_on(now_us + PATIENCE_US)
    return looked


def test_where_requests_come_at_once_every_one_is_looked_for() -> None:
    assert looks(Alert(PATIENCE_US), 1_000, comes_after_us=PATIENCE_US - 1) == 1_000


def test_where_they_do_not_it_hardly_ever_looks() -> None:
    assert looks(Alert(PATIENCE_US), 10_000, comes_after_us=PATIENCE_US) < 100


def test_one_that_comes_at_once_after_all_wins_it_back() -> None:
    alert = Alert(PATIENCE_US)
    looks(alert, 10_000, comes_after_us=PATIENCE_US)
    assert looks(alert, 1_000, comes_after_us=0) > 800


def test_without_patience_it_never_looks() -> None:
    assert looks(Alert(0), 100, comes_after_us=0) == 0
