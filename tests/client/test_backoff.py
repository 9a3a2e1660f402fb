"""Waiting before the next try."""

from __future__ import annotations

from penstock.client.backoff import Backoff, Steps


def test_each_wait_is_longer_up_to_a_limit() -> None:
    backoff = Backoff(first=0.5, most=3, factor=2)
    assert [backoff.delay(failures) for failures in range(5)] == [0.5, 1, 2, 3, 3]


def test_a_million_failures_wait_no_longer() -> None:
    assert Backoff(most=60).delay(1_000_000) == 60


def test_jitter_takes_a_share_off() -> None:
    backoff = Backoff(first=10, most=10, jitter=0.5)
    delays = {backoff.delay(0) for _ in range(200)}
    assert 5 <= min(delays) < 6 < 9 < max(delays) <= 10


def test_steps_end_with_the_last_one_again_and_again() -> None:
    assert [Steps([1, 5]).delay(failures) for failures in range(4)] == [1, 5, 5, 5]
