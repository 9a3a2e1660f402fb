"""Handing out: which message, how long a lease, which key mates come along, and who can have what."""

from __future__ import annotations

import pytest

from penstock.model import codes, stages
from penstock.model.limits import NARROW_MAX, NEVER_US, TAKE_BYTES_MAX, TAKE_MESSAGES_MAX
from penstock.model.options import Publishing
from penstock.model.policy import Policy
from tests.engine.desk import Desk, S, origin

WIDE = bytes(NARROW_MAX + 1)
NARROW = bytes(NARROW_MAX)
PARKED_MATE = Publishing(key=b"k", parked=True)


# -- order


def test_oldest_is_the_first_in_rank_and_newest_the_last_of_the_best_priority() -> None:
    desk = Desk()
    plain, first, second = desk.publish(), desk.publish(priority=5), desk.publish(priority=5)
    assert desk.take() == first
    third = desk.publish(priority=5)
    assert desk.take(newest=True) == third
    assert [desk.take(newest=True), desk.take(newest=True)] == [second, plain]


def test_among_equals_the_one_that_became_ready_first_comes_first() -> None:
    desk = Desk()
    late, early = desk.publish(delay_us=2 * S), desk.publish(delay_us=S)
    desk.pass_time(3 * S)
    assert [desk.take(), desk.take()] == [early, late]


def test_a_reserve_of_several_leases_the_first_in_rank() -> None:
    desk = Desk(Policy(lease_us=S))
    numbers = [desk.publish() for _ in range(4)]
    assert desk.reserve(max=3) == numbers[:3]
    assert desk.reserve(max=3) == numbers[3:]
    assert desk.reserve(max=3) == []


def test_a_waiting_reserve_of_several_is_served_with_one() -> None:
    desk = Desk(Policy(lease_us=S))
    desk.set()
    desk.reserve(max=3, wait_us=60 * S)
    waiting = desk.token
    assert [desk.publish()] == desk.handed_out(waiting)


# -- leases


@pytest.mark.parametrize(
    ("call_us", "message_us", "queue_us", "expected_us"),
    [
        (3 * S, 2 * S, S, 3 * S),
        (-1, 2 * S, S, 2 * S),
        (-1, -1, S, S),
        (0, 2 * S, S, 0),
        (-1, 0, S, 0),
        (-1, -1, 0, NEVER_US),
        (NEVER_US, -1, S, NEVER_US),
    ],
)
def test_call_goes_before_message_before_queue(call_us: int, message_us: int, queue_us: int, expected_us: int) -> None:
    desk = Desk(Policy(lease_us=queue_us))
    number = desk.publish(lease_us=message_us)
    desk.reserve(lease_us=call_us)
    until_us = desk.message(number).until_us
    assert until_us == (NEVER_US if expected_us == NEVER_US else desk.now_us() + expected_us)


def test_each_delivery_is_counted_and_its_number_given_with_the_answer() -> None:
    desk = Desk(Policy(lease_us=S))
    number = desk.publish()
    for deliveries in (1, 2, 3):
        desk.reserve()
        assert desk.answer(desk.token) == (codes.OK, ((number, b"body", None), deliveries))
        desk.pass_time(S)
    assert desk.counts()["delivered"] == 3


def test_the_first_lease_is_remembered() -> None:
    desk = Desk(Policy(lease_us=S))
    number, began_us = desk.publish(), desk.now_us()
    desk.reserve()
    desk.pass_time(2 * S)
    desk.reserve()
    message = desk.message(number)
    assert (message.first_leased_us, message.leased_us) == (began_us, began_us + 2 * S)


# -- key mates


def test_a_take_with_mates_brings_all_of_the_key_the_chosen_first_then_newest_first() -> None:
    desk = Desk()
    old, best, other, parked, new = (
        desk.publish(key=b"k"),
        desk.publish(key=b"k", priority=9),
        desk.publish(key=b"other"),
        desk.publish(key=b"k", parked=True),
        desk.publish(key=b"k"),
    )
    assert desk.take(newest=True, mates=True) == [best, new, parked, old]
    assert desk.take(newest=True, mates=True) == [other]


def test_delayed_and_leased_mates_stay_where_they_are() -> None:
    desk = Desk(Policy(lease_us=60 * S))
    leased, delayed, chosen = desk.publish(key=b"k"), desk.publish(key=b"k", delay_us=S), 0
    assert desk.reserve() == leased
    chosen = desk.publish(key=b"k")
    assert desk.take(mates=True) == [chosen]
    assert (desk.place(leased), desk.place(delayed)) == ("leased", "delayed")


def test_mates_are_of_one_queue() -> None:
    desk = Desk()
    here, there = desk.publish(key=b"k"), desk.publish(key=b"k", queue=b"other")
    assert desk.take(mates=True) == [here]
    assert desk.place(there) == "ready"


def test_the_empty_key_is_a_key_and_no_key_is_none() -> None:
    desk = Desk()
    empty = [desk.publish(key=b"") for _ in range(2)]
    none = [desk.publish() for _ in range(2)]
    assert desk.take(mates=True) == [empty[0], empty[1]]
    assert desk.take(mates=True) == [none[0]]


def test_a_parked_message_is_never_chosen_by_itself() -> None:
    desk = Desk()
    parked = desk.publish(key=b"k", parked=True)
    assert desk.take() == desk.take(newest=True) == desk.reserve() == 0
    assert desk.take(mates=True) == []
    chosen = desk.publish(key=b"k")
    assert desk.take(mates=True) == [chosen, parked]


def test_a_take_without_mates_leaves_them() -> None:
    desk = Desk()
    first, second = desk.publish(key=b"k"), desk.publish(key=b"k")
    assert desk.take() == first
    assert desk.place(second) == "ready"


def test_one_answer_holds_so_many_messages_and_the_rest_comes_with_the_next() -> None:
    desk = Desk()
    for _ in range(TAKE_MESSAGES_MAX + 10):
        desk.engine.publish(desk.one, 0, b"q", b"", 0, PARKED_MATE, 0)
    desk.publish(b"", key=b"k")
    assert len(desk.take(mates=True)) == TAKE_MESSAGES_MAX
    desk.publish(b"", key=b"k")
    assert len(desk.take(mates=True)) == 12


def test_one_answer_holds_so_many_bytes_of_keys_and_bodies() -> None:
    desk = Desk()
    fit = TAKE_BYTES_MAX // (NARROW_MAX + 1)
    for _ in range(fit + 3):
        desk.publish(NARROW, key=b"k")
    assert len(desk.take(mates=True)) == fit
    assert len(desk.take(mates=True)) == 3


def test_mates_end_at_the_first_that_does_not_fit() -> None:
    desk = Desk()
    small = desk.publish(b"", key=b"k")
    for _ in range(TAKE_BYTES_MAX // (NARROW_MAX + 1) + 1):
        desk.publish(NARROW, key=b"k")
    assert small not in desk.take(newest=True, mates=True)
    assert small in desk.take(newest=True, mates=True)


# -- wide messages


def test_newest_passes_over_what_does_not_fit_sixteen_bits() -> None:
    desk = Desk()
    wide = desk.publish(WIDE, priority=9)
    narrow = desk.publish(NARROW)
    assert desk.take(newest=True) == narrow
    assert desk.take(newest=True) == 0
    assert desk.take() == wide


def test_wide_and_narrow_messages_are_one_row_for_everybody_else() -> None:
    desk = Desk()
    bodies = (NARROW, WIDE, WIDE, NARROW, WIDE)
    numbers = [desk.publish(body) for body in bodies]
    best = desk.publish(WIDE, priority=1)
    assert [desk.take() for _ in range(6)] == [best, *numbers]


def test_a_wide_mate_stays() -> None:
    desk = Desk()
    wide, narrow = desk.publish(WIDE, key=b"k"), desk.publish(NARROW, key=b"k")
    assert desk.take(newest=True, mates=True) == [narrow]
    assert desk.place(wide) == "ready"


def test_one_who_cannot_have_a_wide_message_is_no_obstacle_to_one_who_can() -> None:
    desk = Desk(Policy(lease_us=S))
    desk.set()
    desk.take(client=desk.one, newest=True, wait_us=60 * S)
    narrow_only = desk.token
    desk.engine.subscribe(desk.two, b"q")
    desk.engine.credit(desk.two, 0)
    desk.reserve(client=desk.three, wait_us=60 * S)
    anything = desk.token
    assert desk.publish(WIDE) == desk.handed_out(anything)
    assert desk.answer(narrow_only) is None
    assert desk.publish(NARROW) == desk.handed_out(narrow_only)
    assert desk.pushes() == []


# -- several subscriptions


def test_a_credit_is_served_with_the_best_priority_of_all_subscriptions_then_the_newest() -> None:
    desk = Desk()
    old, best, new = desk.publish(queue=b"a"), desk.publish(queue=b"b", priority=1), desk.publish(queue=b"c")
    for name in (b"a", b"b", b"c"):
        desk.engine.subscribe(desk.one, name)
    for _ in range(4):
        desk.engine.credit(desk.one, 0)
    assert desk.pushes() == [("one", b"b", [best]), ("one", b"c", [new]), ("one", b"a", [old])]


def test_a_push_brings_key_mates_along() -> None:
    desk = Desk()
    desk.engine.subscribe(desk.one, b"q")
    parked = desk.publish(key=b"k", parked=True)
    desk.engine.credit(desk.one, 0)
    chosen = desk.publish(key=b"k")
    assert desk.pushes() == [("one", b"q", [chosen, parked])]


def test_a_paused_queue_is_left_out() -> None:
    desk = Desk()
    desk.publish(queue=b"a", priority=9)
    there = desk.publish(queue=b"b")
    desk.ask("pause", b"a", 0)
    for name in (b"a", b"b"):
        desk.engine.subscribe(desk.one, name)
    desk.engine.credit(desk.one, 0)
    assert desk.pushes() == [("one", b"b", [there])]


# -- where time jumped


def test_what_expired_while_time_jumped_is_not_taken_along_as_a_mate() -> None:
    desk = Desk()
    desk.publish(key=b"k", parked=True, ttl_us=2 * S)
    chosen = desk.publish(key=b"k", delay_us=S)
    desk.take(mates=True, wait_us=60 * S)
    waiting = desk.token
    desk.pass_time(10 * S)
    assert desk.handed_out(waiting) == [chosen]
    assert desk.counts() == {"published": 2, "finished": 1, "expired": 1, "delivered": 1}


# -- notices


def test_every_turn_is_told_to_a_poster_who_asked_and_nothing_else() -> None:
    desk = Desk(Policy(lease_us=S, attempts=2))
    asked = 1 << stages.ASSIGN | 1 << stages.RETRY | 1 << stages.DROP
    desk.publish(origin=origin(poster=7, label=42, notify=asked))
    assert desk.notices() == []
    desk.reserve()
    assert desk.notices() == [(stages.ASSIGN, 42)]
    desk.pass_time(S)
    assert desk.notices() == [(stages.RETRY, 42)]
    desk.reserve()
    desk.pass_time(S)
    assert desk.notices() == [(stages.ASSIGN, 42), (stages.DROP, 42)]


@pytest.mark.parametrize("asked", [(stages.READY,), (stages.FINISH,), (stages.READY, stages.WRITE, stages.FINISH)])
def test_a_message_that_a_waiting_take_got_at_once_is_told_as_finished_once(asked: tuple[int, ...]) -> None:
    desk = Desk()
    desk.set()
    desk.take(wait_us=60 * S)
    desk.publish(origin=origin(poster=7, label=42, notify=sum(1 << stage for stage in asked)))
    assert desk.notices() == [(stages.FINISH, 42)]


def test_a_message_that_is_stored_is_told_as_ready_then_written_then_synced() -> None:
    desk = Desk()
    desk.publish(origin=origin(poster=7, label=42, notify=127))
    assert desk.notices() == [(stages.READY, 42), (stages.WRITE, 42), (stages.SYNC, 42)]
