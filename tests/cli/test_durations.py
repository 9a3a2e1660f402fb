"""Durations, written and read."""

from __future__ import annotations

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.cli.durations import UNITS, BadDuration, Duration, parse, seconds, show


@pytest.mark.parametrize(
    ("text", "us"),
    [
        ("500ms", 500_000),
        ("5s", 5_000_000),
        ("2m", 120_000_000),
        ("1h", 3_600_000_000),
        ("3d", 259_200_000_000),
        ("1.5s", 1_500_000),
        ("0.001ms", 1),
        (" 7 s ", 7_000_000),
        ("0", 0),
        ("0s", 0),
    ],
)
def test_a_duration_is_a_number_and_a_unit(text: str, us: int) -> None:
    assert parse(text) == us


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("5", "has no unit; for seconds write 5s"),
        ("5y", "has the unknown unit 'y'; there are ms, s, m, h, d"),
        ("5S", "unknown unit 'S'"),
        ("-5s", "is no duration; write it like 500ms, 5s"),
        ("", "is no duration"),
        ("soon", "is no duration"),
        ("1h30m", "is no duration"),
        ("1e3s", "is no duration"),
        ("٥s", "is no duration"),
        ("0.0001ms", "is finer than a microsecond"),
    ],
)
def test_what_is_wrong_with_a_duration_is_said(text: str, words: str) -> None:
    with pytest.raises(BadDuration) as wrong:
        parse(text)
    assert words in str(wrong.value)


@pytest.mark.parametrize(
    ("us", "shown"),
    [
        (0, "0s"),
        (999, "999us"),
        (1_000, "1ms"),
        (12_345, "12.3ms"),
        (845_999, "845ms"),
        (5_000_000, "5s"),
        (5_250_000, "5.25s"),
        (59_999_999, "59.9s"),
        (60_000_000, "1m"),
        (200_000_000, "3m 20s"),
        (7_200_000_000, "2h"),
        (273_600_000_000, "3d 4h"),
        (-1_500, "-1.5ms"),
    ],
)
def test_a_duration_is_shown_short(us: int, shown: str) -> None:
    assert show(us) == shown


@given(st.integers(1_000, UNITS["m"] - 1))
def test_what_is_shown_below_a_minute_reads_back_as_nearly_as_much_and_never_more(us: int) -> None:
    assert us * 0.99 <= parse(show(us)) <= us


def test_a_flag_knows_the_longest_it_takes() -> None:
    assert Duration(5_000_000).convert("5s", None, None) == 5_000_000
    with pytest.raises(click.BadParameter, match="'6s' is too long; at most 5s"):
        Duration(5_000_000).convert("6s", None, None)


def test_the_api_has_seconds_and_may_be_told_nothing() -> None:
    assert seconds(1_500_000) == 1.5
    assert seconds(None) is None
