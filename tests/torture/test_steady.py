"""A history that forgets what has ended breaks a law for the same things as one that does not."""

from __future__ import annotations

import time

import pytest

from torture.crowd.history import Life
from torture.soak.steady import GONE_S, SHORTEST_S, Passing

LEASE_S = 5.0
ID = b"deferred 1"


@pytest.fixture
def history() -> Passing:
    return Passing(LEASE_S, finals=True)


@pytest.fixture
def life(history: Passing) -> Life:
    made = history.publishing(b"body", 0.0, time.monotonic() - 100)
    history.published(made, ID)
    return made


def kinds(history: Passing) -> list[str]:
    return [words.partition(":")[0] for words in history.broken]


def give(history: Passing, ago_s: float = 0.0) -> None:
    now_s = time.monotonic()
    history.delivered(ID, b"body", now_s - ago_s, now_s)


def test_what_is_finished_is_forgotten_and_breaks_a_law_when_it_comes_back(history: Passing, life: Life) -> None:
    give(history)
    history.finished(life)
    history.forget(time.monotonic() + GONE_S / 2, LEASE_S)
    assert b"body" in history.lives
    history.forget(time.monotonic() + GONE_S + 1, LEASE_S)
    assert not history.lives
    assert not history.by_id
    give(history)
    assert kinds(history) == ["wrong body"]


def test_what_was_asked_for_before_it_was_finished_may_be_it_and_nothing_later(history: Passing, life: Life) -> None:
    life.gone_s = time.monotonic() - 1
    give(history, ago_s=2)
    assert kinds(history) == []
    life.held_until_s = 0.0
    give(history)
    assert kinds(history) == ["resurrected"]


def test_what_waits_is_never_forgotten(history: Passing, life: Life) -> None:
    history.forget(time.monotonic() + 10_000, LEASE_S)
    assert history.outstanding() == [life]


def test_what_is_in_doubt_is_forgotten_when_it_would_have_come_back(history: Passing, life: Life) -> None:
    give(history)
    history.finishing(life)
    history.forget(time.monotonic() + LEASE_S, 4 * LEASE_S)
    assert history.lives
    history.forget(time.monotonic() + 6 * LEASE_S, 4 * LEASE_S)
    assert not history.lives


def test_two_who_have_it_at_once_break_a_law_unless_the_answer_of_one_took_longer_than_a_lease(
    history: Passing, life: Life
) -> None:
    give(history)
    give(history, ago_s=SHORTEST_S + 1)
    assert kinds(history) == []
    give(history)
    assert kinds(history) == ["twice at once"]


def test_whoever_had_it_before_another_may_not_finish_it(history: Passing, life: Life) -> None:
    give(history)
    history.finishing(life)
    history.finish_refused(life, time.monotonic())
    assert kinds(history) == ["lost"]
    life.told_s.append(time.monotonic())
    history.finish_refused(life, time.monotonic())
    assert kinds(history) == ["lost"]
