"""Which queues the connections of a listener have subscribed to: known while one is left, and bounded."""

from __future__ import annotations

import pytest

from penstock.dialects.subscriptions import Subscriptions
from penstock.model.limits import SUBSCRIBED_BYTES_MAX, SUBSCRIPTION_OVERHEAD

WHOLE = SUBSCRIBED_BYTES_MAX - SUBSCRIPTION_OVERHEAD  # the longest name there is room for


@pytest.fixture
def subscriptions() -> Subscriptions:
    return Subscriptions()


def test_a_queue_is_known_until_the_last_subscriber_has_left(subscriptions: Subscriptions) -> None:
    for _ in range(2):
        assert subscriptions.keep(b"q")
        subscriptions.add(b"q")
    subscriptions.leave(b"q", True)
    assert subscriptions.has(b"q")
    subscriptions.leave(b"q", True)
    assert not subscriptions.has(b"q")


def test_a_name_that_is_only_kept_is_not_subscribed_to(subscriptions: Subscriptions) -> None:
    assert subscriptions.keep(b"q")
    assert not subscriptions.has(b"q")
    subscriptions.leave(b"q", False)
    assert not subscriptions.has(b"q")


def test_there_is_only_so_much_room_and_it_comes_back(subscriptions: Subscriptions) -> None:
    assert not subscriptions.keep(bytes(WHOLE + 1))
    assert subscriptions.keep(bytes(WHOLE))
    assert not subscriptions.keep(b"")
    subscriptions.leave(bytes(WHOLE), False)
    assert subscriptions.keep(bytes(WHOLE))
