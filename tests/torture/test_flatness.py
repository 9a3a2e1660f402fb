"""An hour that is flat is told from one that is not, in made-up figures."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from torture.soak.flatness import ROWS_MIN, Row, judge, trend

QUIET = Row(
    hours=0.0,
    server_mb=60.0,
    archivist_mb=90.0,
    own_mb=70.0,
    p50_us=150.0,
    p99_us=600.0,
    echo_p99_us=90.0,
    journal_mb=40.0,
    journal_max_mb=64.0,
    archive_mb=100.0,
    snapshot=1,
    files=60,
    threads=4,
    connections=30,
    queues=10,
    live=5_000,
    facts=1_000,
    published=500,
    finished=400,
    dropped=1,
    expired=1,
    failed=1,
    server_share=0.1,
    own_share=0.2,
    others_share=0.1,
)
Change = Callable[[int], dict[str, float]]


def hour(change: Change = lambda minute: {}, minutes: int = 60) -> list[Row]:
    """With the waver that real figures have, and memory that settles in the first minutes."""
    chance = random.Random(7)
    rows = []
    for minute in range(minutes):
        row = replace(
            QUIET,
            hours=(minute + 1) / 60,
            server_mb=60 - 20 / (minute + 1) + chance.gauss(0, 0.3),
            journal_mb=chance.uniform(20, 50),
            p99_us=600 * chance.lognormvariate(0, 0.2),
            files=chance.randint(50, 70),
        )
        for name, value in change(minute).items():
            row = replace(row, **{name: getattr(row, name) + value})
        rows.append(row)
    return rows


def test_a_flat_hour_breaks_nothing() -> None:
    verdict = judge(hour())
    assert verdict.broken == ()
    assert verdict.doubtful == ()


@pytest.mark.parametrize(
    ("name", "an_hour", "words"),
    [
        ("server_mb", 6.0, "the server's memory"),
        ("archivist_mb", 9.0, "the archivist's memory"),
        ("journal_mb", 40.0, "the journal, MB"),
        ("files", 30.0, "open files"),
        ("threads", 6.0, "threads"),
    ],
)
def test_what_leaks_is_told(name: str, an_hour: float, words: str) -> None:
    broken = judge(hour(lambda minute: {name: an_hour * minute / 60, "journal_max_mb": 100.0})).broken
    assert len(broken) == 1
    assert broken[0].startswith(words)


def test_a_leak_is_told_by_how_much_it_grows_in_an_hour() -> None:
    (broken,) = judge(hour(lambda minute: {"server_mb": 12 * minute / 60})).broken
    grows = float(broken.partition("by ")[2].split()[0])
    assert grows == pytest.approx(12, rel=0.15)


def test_growth_that_ends_before_the_second_half_is_a_warm_up() -> None:
    assert judge(hour(lambda minute: {"server_mb": min(minute, 20)})).broken == ()


def test_growth_within_one_twentieth_an_hour_is_flat() -> None:
    assert judge(hour(lambda minute: {"archivist_mb": 4 * minute / 60})).broken == ()


def test_saw_teeth_are_flat_and_a_rising_saw_is_not() -> None:
    saw: Change = lambda minute: {"archivist_mb": 8.0 * (minute % 4)}  # noqa: E731
    assert judge(hour(saw)).broken == ()
    rising = judge(hour(lambda minute: {"archivist_mb": saw(minute)["archivist_mb"] + minute})).broken
    assert [words.partition(",")[0] for words in rising] == ["the archivist's memory"]


def test_a_journal_that_takes_more_than_it_may_for_longer_than_a_row_is_told() -> None:
    assert judge(hour(lambda minute: {"journal_mb": 50.0 if minute == 1 else 0.0}, minutes=4)).broken == ()
    (broken,) = judge(hour(lambda minute: {"journal_mb": 50.0 if minute in (1, 2) else 0.0}, minutes=4)).broken
    assert broken.startswith("the journal takes")


def test_a_p99_that_doubles_is_told() -> None:
    (broken,) = judge(hour(lambda minute: {"p99_us": 20.0 * minute})).broken
    assert broken.startswith("p99")


def test_one_slow_minute_is_not() -> None:
    assert judge(hour(lambda minute: {"p99_us": 50_000.0 if minute == 55 else 0.0})).broken == ()


@pytest.mark.parametrize("other", [{"echo_p99_us": 60.0}, {"others_share": 0.8}])
def test_where_the_machine_was_busier_a_p99_is_only_doubtful(other: dict[str, float]) -> None:
    verdict = judge(hour(lambda minute: {"p99_us": 20.0 * minute} | (other if minute > 30 else {})))
    assert verdict.broken == ()
    assert len(verdict.doubtful) == 1


def test_a_busy_machine_excuses_no_leak() -> None:
    verdict = judge(hour(lambda minute: {"server_mb": minute, "others_share": minute / 60}))
    assert len(verdict.broken) == 1


def test_of_a_few_rows_no_trend_is_told() -> None:
    assert judge(hour(lambda minute: {"server_mb": 10 * minute}, minutes=ROWS_MIN - 1)).broken == ()
    assert judge([]).broken == ()


def test_a_trend_is_a_slope_and_its_doubt() -> None:
    exact = [(float(at), 3.0 * at + 1) for at in range(10)]
    assert trend(exact) == pytest.approx((3.0, 0.0))
    slope, error = trend([(at, value + (1 if at % 2 else -1)) for at, value in exact])
    assert abs(slope - 3.0) < 2 * error
    assert error > 0
