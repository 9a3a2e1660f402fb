"""The agenda gives everything back on time, in order, and does not keep what it was told to forget."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.agenda import COARSE_SHIFT, FINE_SHIFT, TRIM_SLACK, Agenda
from penstock.model.limits import NEVER_US
from penstock.model.message import DELAY_OVER, EXPIRY, LEASE_OVER, WAIT_OVER, Due

FINE_US = 1 << FINE_SHIFT
COARSE_US = 1 << COARSE_SHIFT
NOW_US = 1_700_000_000_000_000


def begun(now_us: int = NOW_US) -> Agenda:
    agenda = Agenda()
    assert agenda.pop(now_us) is None
    return agenda


def popped(agenda: Agenda, now_us: int) -> list[Due]:
    found: list[Due] = []
    while (item := agenda.pop(now_us)) is not None:
        found.append(item)
    return found


def within_bounds(agenda: Agenda) -> bool:
    return agenda.entries() <= 2 * len(agenda) + TRIM_SLACK


NEAR_AND_FAR = [0, 1, 1_000, FINE_US - 1, FINE_US, 10 * FINE_US, COARSE_US - 1, COARSE_US, 90 * COARSE_US]


@pytest.mark.parametrize("away_us", NEAR_AND_FAR)
def test_an_item_comes_at_its_due_time_and_not_a_microsecond_before(away_us: int) -> None:
    agenda, item = begun(), Due(1)
    agenda.file(item, NOW_US + away_us, DELAY_OVER)
    assert popped(agenda, NOW_US + away_us - 1) == []
    assert popped(agenda, NOW_US + away_us) == [item]
    assert (item.due_kind, item.slot, len(agenda)) == (DELAY_OVER, 0, 0)


def test_at_one_instant_expiry_comes_first_then_leases_delays_and_waits() -> None:
    agenda = begun()
    kinds = (WAIT_OVER, DELAY_OVER, LEASE_OVER, EXPIRY)
    for order, kind in enumerate(kinds):
        agenda.file(Due(order), NOW_US + 5, kind)
    assert [item.due_kind for item in popped(agenda, NOW_US + 5)] == [EXPIRY, LEASE_OVER, DELAY_OVER, WAIT_OVER]


def test_at_one_instant_and_for_one_reason_lower_numbers_come_first() -> None:
    agenda = begun()
    for order in (7, 3, 9, 1):
        agenda.file(Due(order), NOW_US + COARSE_US, LEASE_OVER)
    assert [item.order for item in popped(agenda, NOW_US + COARSE_US)] == [1, 3, 7, 9]


def test_an_earlier_time_comes_before_any_reason() -> None:
    agenda, wait, expiry = begun(), Due(1), Due(2)
    agenda.file(wait, NOW_US + 1, WAIT_OVER)
    agenda.file(expiry, NOW_US + 2, EXPIRY)
    assert popped(agenda, NOW_US + 10 * COARSE_US) == [wait, expiry]


@pytest.mark.parametrize("first_us", [1, FINE_US, COARSE_US * 2])
@pytest.mark.parametrize("second_us", [2, FINE_US + 1, COARSE_US * 2 + 1])
def test_filing_again_forgets_the_old_time(first_us: int, second_us: int) -> None:
    agenda, item = begun(), Due(1)
    agenda.file(item, NOW_US + first_us, LEASE_OVER)
    agenda.file(item, NOW_US + second_us, EXPIRY)
    assert popped(agenda, NOW_US + second_us - 1) == []
    assert popped(agenda, NOW_US + second_us) == [item]
    assert item.due_kind == EXPIRY
    assert popped(agenda, NOW_US + 10 * COARSE_US) == []


def test_a_dropped_item_never_comes() -> None:
    agenda, item = begun(), Due(1)
    for away_us in (1, FINE_US, 2 * COARSE_US):
        agenda.file(item, NOW_US + away_us, LEASE_OVER)
        agenda.drop(item)
    assert popped(agenda, NOW_US + 10 * COARSE_US) == []
    assert agenda.next_due() == NEVER_US


def test_a_time_that_never_comes_is_no_entry() -> None:
    agenda, item = begun(), Due(1)
    agenda.file(item, NOW_US + 1, LEASE_OVER)
    agenda.file(item, NEVER_US, LEASE_OVER)
    assert len(agenda) == 0
    assert popped(agenda, NOW_US + 10) == []


def test_an_empty_agenda_never_wants_to_be_asked() -> None:
    assert Agenda().next_due() == NEVER_US


TIME = 12  # in place of an item: time moves on
filings = st.tuples(st.integers(0, TIME), st.sampled_from([0, 1, 2, 3]), st.integers(0, 3 * COARSE_US))


@given(st.lists(filings, max_size=60))
def test_everything_comes_on_time_and_in_order_however_it_was_filed(filed: list[tuple[int, int, int]]) -> None:
    """Against a dict and a sort."""
    agenda, items, now_us = begun(), [Due(order) for order in range(TIME)], NOW_US
    expected: dict[int, tuple[int, int, int]] = {}
    for who, kind, away_us in filed:
        if who == TIME:
            now_us += away_us // 100
            due = sorted(entry for entry in expected.values() if entry[0] <= now_us)
            assert [item.order for item in popped(agenda, now_us)] == [order for _, _, order in due]
            expected = {order: entry for order, entry in expected.items() if entry not in due}
        else:
            agenda.file(items[who], now_us + away_us, kind)
            expected[who] = (now_us + away_us, kind, who)
        assert agenda.next_due() <= min([NEVER_US, *(due_us for due_us, _, _ in expected.values())])
        assert len(agenda) == len(expected)
    rest = popped(agenda, now_us + 4 * COARSE_US)
    assert [item.order for item in rest] == [order for _, _, order in sorted(expected.values())]


@pytest.mark.parametrize("away_us", [1, FINE_US * 3, COARSE_US * 3])
def test_items_that_are_filed_and_dropped_leave_nothing_behind(away_us: int) -> None:
    """A lease is nearly always finished long before its end: its entry must not lie there until then."""
    agenda = begun()
    for order in range(20_000):
        item = Due(order)
        agenda.file(item, NOW_US + away_us, LEASE_OVER)
        agenda.drop(item)
        assert within_bounds(agenda)


@pytest.mark.parametrize("places", [(0, FINE_US), (0, 2 * COARSE_US), (0, FINE_US, 2 * COARSE_US)])
def test_an_item_that_moves_to_and_fro_leaves_nothing_behind(places: tuple[int, ...]) -> None:
    agenda, item = begun(), Due(1)
    for turn in range(9_000):
        agenda.file(item, NOW_US + places[turn % len(places)], LEASE_OVER)
        assert within_bounds(agenda)


def test_bounds_hold_while_items_come_due() -> None:
    """Stale far entries must not outlive the near ones that kept them company."""
    agenda = begun()
    near = [Due(order) for order in range(5_000)]
    for item in near:
        agenda.file(item, NOW_US + COARSE_US, LEASE_OVER)
        agenda.file(item, NOW_US + 1, LEASE_OVER)
    for item in near:
        assert agenda.pop(NOW_US + 1) is item
        assert within_bounds(agenda)


def test_sweeping_keeps_everything_that_is_wanted() -> None:
    """Also a message and a waiter with the same number in one bucket."""
    agenda, dice = begun(), random.Random(5)
    message, waiter = Due(7), Due(7)
    agenda.file(message, NOW_US + 2 * COARSE_US, LEASE_OVER)
    agenda.file(waiter, NOW_US + 2 * COARSE_US + 1, WAIT_OVER)
    for order in range(5_000):
        passing = Due(100 + order)
        agenda.file(passing, NOW_US + dice.randrange(1, 4 * COARSE_US), DELAY_OVER)
        agenda.drop(passing)
    assert agenda.entries() < 5_000
    assert popped(agenda, NOW_US + 4 * COARSE_US) == [message, waiter]


def test_an_agenda_that_was_asked_does_not_want_to_be_asked_again_at_once() -> None:
    agenda = begun()
    for away_us in (1, FINE_US, COARSE_US):
        agenda.file(Due(1), NOW_US + away_us, DELAY_OVER)
    for now_us in (NOW_US, NOW_US + 1, NOW_US + FINE_US, NOW_US + COARSE_US):
        popped(agenda, now_us)
        assert agenda.next_due() > now_us
