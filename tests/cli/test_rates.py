"""Rates as people write them, and a pace that keeps to one."""

from __future__ import annotations

import click
import pytest

from penstock.cli.rates import CHUNK, Pace, Rate


@pytest.mark.parametrize(("text", "per_s"), [("500/s", 500.0), ("30/m", 0.5), ("7200/h", 2.0), (" 10 / s ", 10.0)])
def test_a_rate_is_a_number_and_a_time(text: str, per_s: float) -> None:
    assert Rate().convert(text, None, None) == per_s


@pytest.mark.parametrize("text", ["", "500", "0/s", "-1/s", "1.5/s", "5/d", "/s", "5/second"])
def test_what_is_no_rate_is_told(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"is no rate; write it like 500/s, 30/m or 1000/h\."):
        Rate().convert(text, None, None)


class Clock:
    """Time that passes only where somebody sleeps, or a test says so."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def now(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now_s += seconds


@pytest.mark.parametrize("per_s", [0.5, 3.0, 10.0, 99.0, 500.0, 1e6])
def test_no_more_go_than_the_rate_allows_and_not_much_less(per_s: float) -> None:
    clock = Clock()
    pace = Pace(per_s, clock.now, clock.sleep)
    sent = 0
    for _ in range(50):
        pace.wait(pace.chunk)
        sent += pace.chunk
        elapsed_s = clock.now_s - 100.0
        assert per_s * elapsed_s - 1e-6 <= sent <= per_s * elapsed_s + pace.chunk + 1e-6


def test_a_slow_pace_goes_one_by_one_and_a_quick_one_in_chunks() -> None:
    assert [Pace(per_s).chunk for per_s in (0.01, 1.0, 19.0, 20.0, 500.0, 1e6)] == [1, 1, 1, 2, 50, CHUNK]


def test_time_that_was_lost_is_made_up_for() -> None:
    clock = Clock()
    pace = Pace(10.0, clock.now, clock.sleep)
    pace.wait(1)
    clock.now_s += 1.0
    for _ in range(9):
        pace.wait(1)
    assert clock.now_s == 101.0


def test_without_a_rate_nobody_waits() -> None:
    clock = Clock()
    pace = Pace(None, clock.now, clock.sleep)
    for _ in range(5):
        pace.wait(1_000_000)
    assert (clock.now_s, pace.chunk) == (100.0, CHUNK)
