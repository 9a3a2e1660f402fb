"""Looking for more, after a tick and before its commit: as long as it pays, and hardly ever where it does not."""

from __future__ import annotations

from penstock.server.alert import Alert, Gathering

PATIENCE_US = 100
QUIET_US = 20
MOST_US = 100


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


def gathered(gathering: Gathering, ticks: int, every_us: int) -> list[int]:
    """How long each of so many ticks that looked for more was held up, where another piece comes so often."""
    waits = []
    for number in range(ticks):
        began_us = now_us = number * 1_000
        if not gathering.begins(began_us):
            continue
        while gathering.goes_on(now_us, came=now_us > began_us and (now_us - began_us) % every_us == 0):
            now_us += 1
        waits.append(now_us - began_us)
    return waits


def test_where_pieces_come_on_every_tick_waits_for_them_but_no_longer_than_it_may() -> None:
    assert gathered(Gathering(QUIET_US, MOST_US), 1_000, every_us=QUIET_US - 1) == [MOST_US] * 1_000


def test_a_tick_that_waits_for_pieces_ends_when_none_has_come_for_a_while() -> None:
    gathering = Gathering(QUIET_US, MOST_US)
    assert gathering.begins(0)
    assert gathering.goes_on(7, came=True)
    assert gathering.goes_on(7 + QUIET_US - 1, came=False)
    assert not gathering.goes_on(7 + QUIET_US, came=False)
    assert gathering.begins(1_000), "it has paid"


def test_a_tick_that_took_longer_than_that_looks_once_and_waits_for_nothing() -> None:
    gathering = Gathering(QUIET_US, MOST_US)
    assert gathering.begins(0)
    assert not gathering.goes_on(QUIET_US, came=False)


def test_where_none_come_hardly_any_tick_waits() -> None:
    assert len(gathered(Gathering(QUIET_US, MOST_US), 10_000, every_us=QUIET_US + 1)) < 100


def test_a_piece_that_comes_after_all_has_every_tick_wait_again() -> None:
    gathering = Gathering(QUIET_US, MOST_US)
    gathered(gathering, 10_000, every_us=QUIET_US + 1)
    assert len(gathered(gathering, 1_000, every_us=1)) > 800


def test_without_patience_no_tick_waits() -> None:
    assert gathered(Gathering(0, 0), 100, every_us=1) == []
