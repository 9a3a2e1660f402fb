"""Whether a publish may enter. What is refused has changed nothing: not a fact, not a queue."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.engine.rules import PolicyBook
from penstock.model import codes
from penstock.model.limits import (
    BODY_MAX,
    DEDUP_ID_MAX,
    DELAY_MAX_US,
    DELIVERIES_MAX,
    EXTRA_MAX,
    KEY_MAX,
    LEASE_MAX_US,
    MARK_MAX,
    NEVER_US,
    ORIGIN_FIXED,
    PRIORITY_MAX,
    PRIORITY_MIN,
    QUEUE_NAME_MAX,
    TTL_MAX_US,
)
from penstock.model.policy import Policy
from tests.engine.desk import OK, Desk, S, origin


def refused(desk: Desk, **said: Any) -> int:
    """The code of a publish that must not have left a trace."""
    before = desk.engine.record.count, desk.queue_names(), len(desk.engine.state().messages)
    code, (message, number) = desk.try_publish(**said)
    assert (message, number) == (None, 0)
    assert (desk.engine.record.count, desk.queue_names(), len(desk.engine.state().messages)) == before
    return int(code)


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize(
    ("fits", "too_much", "code"),
    [
        ({"body": bytes(BODY_MAX)}, {"body": bytes(BODY_MAX + 1)}, codes.TOO_LARGE),
        ({"key": bytes(KEY_MAX)}, {"key": bytes(KEY_MAX + 1)}, codes.TOO_LARGE),
        ({"delay_us": DELAY_MAX_US}, {"delay_us": DELAY_MAX_US + 1}, codes.BAD_OPTION),
        ({"ttl_us": TTL_MAX_US}, {"ttl_us": TTL_MAX_US + 1}, codes.BAD_OPTION),
        ({"lease_us": LEASE_MAX_US}, {"lease_us": LEASE_MAX_US + 1}, codes.BAD_OPTION),
        ({"priority": PRIORITY_MAX}, {"priority": PRIORITY_MAX + 1}, codes.BAD_OPTION),
        ({"priority": PRIORITY_MIN}, {"priority": PRIORITY_MIN - 1}, codes.BAD_OPTION),
        (
            {"origin": origin(dedup_id=bytes(DEDUP_ID_MAX))},
            {"origin": origin(dedup_id=bytes(DEDUP_ID_MAX + 1))},
            codes.TOO_LARGE,
        ),
        (
            {"origin": origin(trace=bytes(EXTRA_MAX - ORIGIN_FIXED), poster=1, label=1, notify=1)},
            {"origin": origin(trace=bytes(EXTRA_MAX - ORIGIN_FIXED + 1))},
            codes.TOO_LARGE,
        ),
        (
            {"origin": origin(deliveries=DELIVERIES_MAX, first_leased_us=NEVER_US - 1)},
            {"origin": origin(deliveries=DELIVERIES_MAX + 1)},
            codes.BAD_OPTION,
        ),
        ({"origin": origin(deliveries=1)}, {"origin": origin(deliveries=-1)}, codes.BAD_OPTION),
        ({"origin": origin(first_leased_us=1)}, {"origin": origin(first_leased_us=-1)}, codes.BAD_OPTION),
        (
            {"origin": origin(mark=bytes(MARK_MAX), row=1)},
            {"origin": origin(mark=bytes(MARK_MAX + 1), row=1)},
            codes.TOO_LARGE,
        ),
        ({"origin": origin(mark=b"m", row=1)}, {"origin": origin(mark=b"m", row=0)}, codes.BAD_OPTION),
        (
            {"origin": origin(mark=b"m", row=NEVER_US - 1)},
            {"origin": origin(mark=b"m", row=NEVER_US)},
            codes.BAD_OPTION,
        ),
        ({"origin": origin()}, {"origin": origin(row=1)}, codes.BAD_OPTION),
    ],
)
def test_a_publish_has_to_keep_within_the_limits(
    exists: bool, fits: dict[str, Any], too_much: dict[str, Any], code: int
) -> None:
    desk = Desk()
    if exists:
        desk.set()
    assert refused(desk, **too_much) == code
    assert desk.try_publish(**fits)[0] == OK


def test_the_largest_of_everything_can_be_written_down() -> None:
    desk = Desk()
    told = origin(trace=bytes(EXTRA_MAX - ORIGIN_FIXED), poster=-(1 << 63), label=(1 << 64) - 1, notify=255, dead_of=1)
    told.trace = told.trace[MARK_MAX:]
    told.mark, told.row = bytes(MARK_MAX), NEVER_US - 1
    told.dead_from, told.deliveries, told.first_leased_us = b"", DELIVERIES_MAX, NEVER_US - 1
    desk.publish(bytes(BODY_MAX), bytes(QUEUE_NAME_MAX), key=bytes(KEY_MAX), origin=told, priority=PRIORITY_MAX)
    published = desk.facts()[-1]
    assert len(published.extra) <= EXTRA_MAX
    assert (len(published.body), len(published.key or b"")) == (BODY_MAX, KEY_MAX)


def test_a_queue_name_has_a_limit() -> None:
    desk = Desk()
    assert refused(desk, queue=bytes(QUEUE_NAME_MAX + 1)) == codes.BAD_NAME
    assert desk.try_publish(queue=bytes(QUEUE_NAME_MAX))[0] == OK
    assert desk.try_publish(queue=b"")[0] == OK


def test_a_queue_is_made_by_use_only_where_the_caller_allows_it() -> None:
    desk = Desk()
    assert refused(desk, create=False) == codes.NO_QUEUE
    desk.publish()
    assert desk.try_publish(create=False)[0] == OK


@pytest.mark.parametrize("exists", [False, True])
def test_a_body_has_the_limit_of_its_queue(exists: bool) -> None:
    desk = Desk(Policy(max_body=4))
    if exists:
        desk.set()
    assert refused(desk, body=b"12345") == codes.TOO_LARGE
    assert desk.try_publish(b"1234")[0] == OK


def test_a_queue_is_full_at_its_length_whatever_place_its_messages_are_in() -> None:
    desk = Desk(Policy(max_length=4, lease_us=60 * S))
    leased = desk.publish()
    desk.reserve()
    desk.publish()
    desk.publish(delay_us=S)
    desk.publish(key=b"k", parked=True)
    assert refused(desk) == codes.FULL
    desk.finish(leased)
    assert desk.try_publish()[0] == OK


def test_a_queue_is_full_at_its_bytes() -> None:
    desk = Desk(Policy(max_bytes=10))
    first = desk.publish(b"123456")
    assert refused(desk, body=b"12345") == codes.FULL
    assert desk.try_publish(b"1234")[0] == OK
    desk.finish(first)
    assert desk.try_publish(b"123456")[0] == OK


def test_the_first_message_of_a_queue_is_held_to_its_limits_too() -> None:
    desk = Desk(Policy(max_bytes=3))
    assert refused(desk, body=b"1234") == codes.FULL


def test_a_limit_that_is_lowered_ends_nothing_and_admits_nothing() -> None:
    desk = Desk()
    for _ in range(3):
        desk.publish()
    desk.set(max_length=2)
    assert desk.counts()["ready"] == 3
    assert refused(desk) == codes.FULL


def test_limits_are_those_of_the_dialect_that_makes_the_queue() -> None:
    desk = Desk(book=PolicyBook((), {1: Policy(max_body=1), 2: Policy(max_body=9)}))
    desk.two.dialect = 2
    assert refused(desk, body=b"four", client=desk.one) == codes.TOO_LARGE
    assert desk.try_publish(b"four", client=desk.two)[0] == OK
    assert desk.try_publish(b"four", client=desk.one)[0] == OK


# -- the same publish


def test_a_dedup_id_within_its_window_is_the_same_publish() -> None:
    desk = Desk(Policy(dedup_us=5 * S))
    number = desk.publish(origin=origin(dedup_id=b"once"))
    desk.pass_time(5 * S - 1)
    assert desk.try_publish(origin=origin(dedup_id=b"once")) == (codes.DUPLICATE, (None, number))
    assert desk.try_publish(origin=origin(dedup_id=b"twice"))[0] == OK
    desk.pass_time(1)
    assert desk.try_publish(origin=origin(dedup_id=b"once"))[0] == OK


def test_a_dedup_id_is_remembered_though_its_message_has_ended() -> None:
    desk = Desk(Policy(dedup_us=S))
    number = desk.publish(origin=origin(dedup_id=b"once"))
    desk.finish(number)
    assert desk.try_publish(origin=origin(dedup_id=b"once"))[0] == codes.DUPLICATE


def test_a_window_counts_from_the_last_publish_that_was_one() -> None:
    desk = Desk(Policy(dedup_us=2 * S))
    told = origin(dedup_id=b"once")
    desk.publish(origin=told)
    desk.pass_time(S)
    assert desk.try_publish(origin=told)[0] == codes.DUPLICATE
    desk.pass_time(S)
    second = desk.publish(origin=told)
    desk.pass_time(S)
    assert desk.try_publish(origin=told) == (codes.DUPLICATE, (None, second))


def test_dedup_is_by_queue_and_only_where_there_is_a_window() -> None:
    desk = Desk()
    desk.set(b"with", dedup_us=S)
    for queue in (b"with", b"without", b"without"):
        assert desk.try_publish(queue=queue, origin=origin(dedup_id=b"once"))[0] == OK


def test_a_key_is_no_dedup_id_and_an_empty_dedup_id_is_none() -> None:
    desk = Desk(Policy(dedup_us=S))
    for _ in range(2):
        assert desk.try_publish(key=b"k", origin=origin(dedup_id=b""))[0] == OK


def test_a_duplicate_is_no_refusal_even_where_the_queue_is_full() -> None:
    desk = Desk(Policy(dedup_us=S, max_length=1))
    number = desk.publish(origin=origin(dedup_id=b"once"))
    assert desk.try_publish(origin=origin(dedup_id=b"once")) == (codes.DUPLICATE, (None, number))


def test_a_longer_window_does_not_bring_back_what_was_forgotten() -> None:
    """Whether or not anybody asked in between: or a restart would remember what the running server has forgotten."""
    for asked in (False, True):
        desk = Desk()
        desk.set(dedup_us=S)
        desk.publish(origin=origin(dedup_id=b"once"))
        desk.pass_time(2 * S)
        if asked:
            desk.publish(origin=origin(dedup_id=b"other"))
        desk.set(dedup_us=60 * S)
        assert desk.try_publish(origin=origin(dedup_id=b"once"))[0] == OK


def test_what_is_remembered_does_not_outgrow_its_window() -> None:
    desk = Desk(Policy(dedup_us=S))
    for number in range(1_000):
        desk.finish(desk.publish(origin=origin(dedup_id=b"%d" % number)))
        desk.pass_time(S // 10)
    remembered = desk.engine.state().queues[b"q"].dedup
    assert remembered is not None
    assert len(remembered) <= 10


def test_what_was_moved_from_elsewhere_may_be_as_large_as_the_server_allows() -> None:
    desk = Desk(Policy(max_body=3))
    assert refused(desk, body=b"four") == codes.TOO_LARGE
    assert desk.try_publish(body=b"four", moved=True)[0] == OK
    assert refused(desk, body=bytes(BODY_MAX + 1), moved=True) == codes.TOO_LARGE
