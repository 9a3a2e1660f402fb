"""What is early or late around a standstill is told, and what is neither is not."""

from __future__ import annotations

import time

import pytest

from torture.timing.events import GRACE_S, LATE_S, Event


def event(ago_s: float, slept_s: float = 0.0, stands: bool = False) -> Event:
    """It was over so long ago."""
    made = Event(lambda: None, slept_s, stands)
    made.over_s = time.monotonic() - ago_s
    return made


def broken(of: Event) -> list[str]:
    return [words.partition(":")[0] for words in of.broken]


@pytest.mark.parametrize(("wait_s", "expected"), [(3.0, []), (5.5, ["early"]), (5.0 - LATE_S - 1, ["late"])])
def test_what_was_asked_for_five_seconds_ago_is_due_now_or_not(wait_s: float, expected: list[str]) -> None:
    happened = event(ago_s=20.0)
    happened.due("a delay", time.monotonic() - 5.0, wait_s)
    assert broken(happened) == expected


def test_what_the_machine_slept_counts_for_delays() -> None:
    for slept_s, expected in ((100.0, []), (10.0, ["early"])):
        happened = event(ago_s=1.0, slept_s=slept_s, stands=True)
        happened.due("a delay", time.monotonic() - 5.0, 100.0)
        assert broken(happened) == expected


@pytest.mark.parametrize(
    ("ago_s", "lease_s", "expected"),
    [(3.0, 4.0, ["early"]), (4.5, 4.0, []), (GRACE_S - 1, 60.0, ["early"]), (GRACE_S + 1, 60.0, [])],
)
def test_after_a_standstill_a_lease_lasts_its_own_length_and_at_most_ten_seconds(
    ago_s: float, lease_s: float, expected: list[str]
) -> None:
    happened = event(ago_s, stands=True)
    happened.lapsed("a lease", time.monotonic() - 150.0, lease_s)
    assert broken(happened) == expected


def test_where_nothing_stood_still_a_lease_lasts_as_long_as_it_was_given() -> None:
    for held_s, expected in ((5.0, []), (3.0, ["early"])):
        happened = event(ago_s=1.0)
        happened.lapsed("a lease", time.monotonic() - held_s, 4.0)
        assert broken(happened) == expected
