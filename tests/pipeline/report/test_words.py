"""Numbers, durations and times as people read them."""

from __future__ import annotations

import pytest

from penstock.pipeline.report.words import LONGEST, count, duration, minute, moment, share, shown, size, text


@pytest.mark.parametrize(
    ("us", "words"),
    [
        (None, "–"),
        (0, "0 s"),
        (840, "840 µs"),
        (1_000, "1 ms"),
        (1_250, "1.2 ms"),
        (12_500_000, "12 s"),
        (90_000_000, "1.5 min"),
        (3_600_000_000, "1 h"),
        (200_000_000_000, "2.3 d"),
    ],
)
def test_a_duration_has_two_digits_and_a_unit(us: int | None, words: str) -> None:
    assert duration(us) == words


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [(0, 0, "–"), (0, 10, "0 %"), (1, 3, "33 %"), (1, 30, "3.3 %"), (1, 10_000, "< 0.1 %"), (5, 5, "100 %")],
)
def test_a_share_is_a_percentage(part: int, whole: int, words: str) -> None:
    assert share(part, whole) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 B"), (1_023, "1023 B"), (1_536, "1.5 KiB"), (300 << 20, "300 MiB"), (5 << 50, "5120 TiB")],
)
def test_sizes_have_a_unit(number: int, words: str) -> None:
    assert size(number) == words


def test_counts_are_in_thousands_and_times_in_utc() -> None:
    assert count(1_234_567) == "1,234,567"
    assert moment(1_767_312_000_000_000) == "2026-01-02 00:00:00"
    assert minute(1_767_312_059_999_999) == "2026-01-02 00:00"


def test_what_nobody_can_see_is_shown_and_what_has_no_end_is_cut() -> None:
    assert shown("a\x00\u202eé") == "a\\u0000\\u202eé"
    assert shown("x" * (LONGEST + 1)) == "x" * LONGEST + "…"
    assert text("<a&'\">") == "&lt;a&amp;&#x27;&quot;&gt;"
    assert text("") == "(no name)"
