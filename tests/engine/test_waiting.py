"""Waiting: who comes first, credits, wake-ups, and that nothing is left behind by those who have gone."""

from __future__ import annotations

import pytest

from penstock.engine.waiting import TRIM_SLACK, Waiting
from penstock.model import codes
from penstock.model.limits import CREDITS_MAX, NEVER_US, SUBSCRIPTIONS_MAX
from penstock.model.options import Reserving
from penstock.model.policy import Policy
from tests.engine.clients import Client
from tests.engine.desk import Desk, S

EMPTY = (codes.EMPTY, (None, 0))


# -- the line


def test_the_oldest_waiter_of_any_kind_is_served_first() -> None:
    desk = Desk(Policy(lease_us=60 * S))
    desk.set()
    desk.reserve(client=desk.two, wait_us=60 * S)
    first = desk.token
    desk.engine.subscribe(desk.three, b"q")
    desk.engine.credit(desk.three, 0)
    desk.take(client=desk.one, wait_us=60 * S)
    last = desk.token
    one, two, three = (desk.publish() for _ in range(3))
    assert desk.handed_out(first) == one
    assert desk.pushes() == [("three", b"q", [two])]
    assert desk.handed_out(last) == three


def test_the_turn_of_a_credit_is_when_it_was_given_not_when_it_was_subscribed_with() -> None:
    desk = Desk()
    desk.set()
    desk.engine.credit(desk.one, 0)
    desk.take(client=desk.two, wait_us=60 * S)
    desk.engine.subscribe(desk.one, b"q")
    number = desk.publish()
    assert desk.pushes() == [("one", b"q", [number])]


def test_several_credits_keep_their_turns() -> None:
    """one, two, one, two: four messages go to them in that order."""
    desk = Desk()
    for client in (desk.one, desk.two):
        desk.engine.subscribe(client, b"q")
    for client in (desk.one, desk.two, desk.two, desk.one):
        desk.engine.credit(client, 0)
    for _ in range(5):
        desk.publish()
    assert [name for name, _, _ in desk.pushes()] == ["one", "two", "two", "one"]
    assert desk.counts()["ready"] == 1


def test_a_wait_ends_on_time_with_nothing_and_not_before() -> None:
    desk = Desk()
    desk.set()
    desk.reserve(wait_us=S)
    desk.pass_time(S - 1)
    assert desk.answer(desk.token) is None
    desk.pass_time(1)
    assert desk.answer(desk.token) == EMPTY
    desk.publish()
    assert desk.counts() == {"published": 1, "ready": 1, "body_bytes": 4}


def test_a_wait_for_a_list_ends_with_an_empty_list() -> None:
    desk = Desk()
    desk.set()
    desk.reserve(wait_us=S, max=3)
    reserve = desk.token
    desk.take(wait_us=S, mates=True)
    desk.pass_time(S)
    assert desk.answer(reserve) == desk.answer(desk.token) == (codes.EMPTY, ())


def test_a_wait_without_end_is_not_in_the_agenda() -> None:
    desk = Desk()
    desk.set()
    desk.reserve(wait_us=NEVER_US)
    assert desk.engine.next_due() == NEVER_US
    assert desk.publish() == desk.handed_out(desk.token - 1)


def test_no_wait_at_all_is_answered_at_once() -> None:
    desk = Desk()
    desk.set()
    assert desk.reserve() == desk.take() == 0


@pytest.mark.parametrize("how", ["publish", "delay over", "lease over", "release", "extend", "resume"])
def test_a_waiter_gets_what_becomes_ready_however_it_does(how: str) -> None:
    desk = Desk(Policy(lease_us=5 * S))
    number = desk.publish(delay_us={"delay over": 5 * S, "extend": 50 * S}.get(how, 0))
    if how == "resume":
        desk.ask("pause", b"q", 0)
    if how in ("lease over", "release"):
        assert desk.reserve() == number
    if how == "publish":
        desk.finish(number)
    desk.reserve(client=desk.two, wait_us=30 * S)
    waiting = desk.token
    assert desk.answer(waiting) is None
    if how == "publish":
        number = desk.publish()
    elif how == "release":
        desk.release(number)
    elif how == "extend":
        desk.extend(number, 0)
    elif how == "resume":
        desk.ask("resume", b"q", 0)
    else:
        desk.pass_time(5 * S)
    assert desk.handed_out(waiting) == number


def test_a_client_that_has_gone_is_passed_over_but_keeps_its_leases() -> None:
    desk = Desk(Policy(lease_us=60 * S))
    leased = desk.publish()
    assert desk.reserve() == leased
    desk.reserve(wait_us=60 * S)
    gone = desk.token
    desk.reserve(client=desk.two, wait_us=60 * S)
    desk.engine.cancel(desk.one)
    number = desk.publish()
    assert desk.handed_out(desk.token - 1) == number
    assert desk.answer(gone) is None
    assert desk.place(leased) == "leased"


def test_waiting_outlives_the_queue_it_waits_for() -> None:
    desk = Desk()
    desk.set()
    desk.reserve(wait_us=60 * S)
    waiting = desk.token
    desk.ask("remove", b"q", 0)
    assert desk.publish() == desk.handed_out(waiting)


def test_nobody_waits_at_a_queue_that_is_not_there() -> None:
    desk = Desk()
    assert desk.ask("reserve", b"q", Reserving(wait_us=60 * S), 0) == (codes.NO_QUEUE, (None, 0))


# -- subscriptions and credits


def test_a_push_needs_both_a_subscription_and_a_credit_in_either_order() -> None:
    for order in (("subscribe", "credit"), ("credit", "subscribe")):
        desk = Desk()
        number = desk.publish()
        for step in order:
            assert desk.pushes() == []
            getattr(desk.engine, step)(desk.one, b"q" if step == "subscribe" else 0)
        assert desk.pushes() == [("one", b"q", [number])]


def test_each_credit_is_good_for_one_push() -> None:
    desk = Desk()
    desk.engine.subscribe(desk.one, b"q")
    desk.engine.credit(desk.one, 0)
    desk.engine.credit(desk.one, 0)
    numbers = [desk.publish() for _ in range(3)]
    assert [group for _, _, group in desk.pushes()] == [[numbers[0]], [numbers[1]]]


def test_credits_stay_when_a_subscription_ends() -> None:
    desk = Desk()
    desk.engine.subscribe(desk.one, b"q")
    desk.engine.credit(desk.one, 0)
    desk.engine.unsubscribe(desk.one, b"q")
    number = desk.publish()
    assert desk.pushes() == []
    desk.engine.subscribe(desk.one, b"q")
    assert desk.pushes() == [("one", b"q", [number])]


def test_one_may_subscribe_before_the_queue_is_there() -> None:
    desk = Desk()
    desk.engine.subscribe(desk.one, b"q")
    desk.engine.credit(desk.one, 0)
    number = desk.publish()
    assert desk.pushes() == [("one", b"q", [number])]


def test_subscriptions_have_a_limit_and_the_same_one_counts_once() -> None:
    waiting, client = Waiting(), Client("one")
    for number in range(SUBSCRIPTIONS_MAX):
        assert waiting.subscribe(client, b"%d" % number)
    assert waiting.subscribe(client, b"0")
    assert not waiting.subscribe(client, b"one more")


def test_credits_have_a_limit() -> None:
    waiting, client = Waiting(), Client("one")
    for _ in range(CREDITS_MAX):
        assert waiting.credit(client, 0) is not None
    assert waiting.credit(client, 0) is None


# -- sleepers


def test_a_sleeper_is_woken_at_once_if_something_is_ready() -> None:
    desk = Desk()
    desk.publish()
    desk.ask("wait", b"q")
    assert desk.woken() == ["one"]


def test_one_wake_up_for_each_sleep_however_much_becomes_ready() -> None:
    desk = Desk()
    desk.ask("wait", b"q")
    desk.ask("wait", b"q")
    desk.publish()
    desk.publish()
    assert desk.woken() == ["one"]
    desk.ask("wait", b"q")
    assert desk.woken() == ["one"]


def test_a_wake_up_has_the_token_of_the_first_call_of_its_sleep() -> None:
    desk = Desk()
    desk.ask("wait", b"q")
    first = desk.token
    desk.ask("wait", b"q")
    desk.publish()
    assert desk.heard("wake") == [("one", first, 0, None)]


@pytest.mark.parametrize("how", ["publish", "delay over", "lease over", "release", "extend", "resume"])
def test_every_sleeper_is_woken_however_a_message_becomes_ready(how: str) -> None:
    desk = Desk(Policy(lease_us=5 * S))
    number = desk.publish(delay_us={"delay over": 5 * S, "extend": 50 * S}.get(how, 0))
    if how == "resume":
        desk.ask("pause", b"q", 0)
    if how in ("publish", "lease over", "release"):
        assert desk.reserve() == number
    for client in (desk.one, desk.two):
        desk.ask("wait", b"q", client=client)
    assert desk.woken() == []
    if how == "publish":
        desk.publish()
    elif how == "release":
        desk.release(number)
    elif how == "extend":
        desk.extend(number, 0)
    elif how == "resume":
        desk.ask("resume", b"q", 0)
    else:
        desk.pass_time(5 * S)
    assert desk.woken() == ["one", "two"]


def test_sleepers_sleep_on_while_waiters_take_what_comes() -> None:
    desk = Desk()
    desk.set()
    desk.ask("wait", b"q", client=desk.two)
    desk.take(wait_us=60 * S)
    desk.publish()
    assert desk.woken() == []
    desk.publish()
    assert desk.woken() == ["two"]


def test_nobody_is_woken_for_a_parked_or_a_paused_message() -> None:
    desk = Desk()
    desk.ask("wait", b"q")
    desk.publish(parked=True, key=b"k")
    desk.ask("pause", b"q", 0)
    desk.publish()
    assert desk.woken() == []


def test_one_may_sleep_before_the_queue_is_there() -> None:
    desk = Desk()
    desk.ask("wait", b"q")
    desk.publish()
    assert desk.woken() == ["one"]


def test_one_who_has_gone_is_not_woken() -> None:
    desk = Desk()
    desk.ask("wait", b"q")
    desk.engine.cancel(desk.one)
    desk.publish()
    assert desk.woken() == []


# -- nothing is left behind


def test_waits_that_are_over_leave_no_line() -> None:
    desk = Desk()
    desk.set()
    for _ in range(500):
        desk.reserve(wait_us=1)
        desk.ask("wait", b"q", client=desk.two)
        desk.pass_time(1)
        desk.take(wait_us=1, client=desk.three)
        desk.publish()
    desk.publish()
    assert desk.engine._waiting.lines == {}
    assert desk.engine._waiting._presences == {}


def test_clients_that_come_and_go_leave_nothing() -> None:
    desk = Desk()
    desk.set()
    for number in range(500):
        client = Client(f"client {number}")
        desk.engine.subscribe(client, b"q")
        desk.engine.subscribe(client, b"other")
        desk.engine.credit(client, 0)
        desk.reserve(client=client, wait_us=NEVER_US)
        desk.ask("wait", b"q", client=client)
        desk.engine.cancel(client)
    assert desk.engine._waiting.lines == {}
    assert desk.engine._waiting._presences == {}
    assert desk.engine.next_due() == NEVER_US


def test_a_line_does_not_grow_by_subscribing_again_and_again() -> None:
    waiting, client = Waiting(), Client("one")
    waiting.credit(client, 0)
    for _ in range(10 * TRIM_SLACK):
        waiting.subscribe(client, b"q")
        waiting.subscribe(client, b"r")
        waiting.unsubscribe(client, b"q")
    waiting.subscribe(client, b"q")
    assert len(waiting.lines[b"q"]._heap) <= TRIM_SLACK + 4
    assert waiting.lines[b"q"].first() is waiting.subscriber(client)
