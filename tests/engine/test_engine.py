"""Time and starts: what happens without being asked, in which order, and what downtime does to leases."""

from __future__ import annotations

import pytest

from penstock.codecs.facts import read_facts
from penstock.engine.engine import Engine
from penstock.engine.rules import PolicyBook
from penstock.model import codes, facts
from penstock.model.limits import GRACE_US, NEVER_US, START_JUMP
from penstock.model.policy import Policy
from tests.engine.clients import Recorder
from tests.engine.desk import START_US, Desk, S

# -- time


def test_time_never_goes_back() -> None:
    desk = Desk()
    desk.engine.advance(START_US - 5 * S)
    assert desk.now_us() == START_US
    assert desk.message(desk.publish()).published_us == START_US


def test_nothing_happens_before_it_is_asked() -> None:
    desk = Desk()
    number = desk.publish(delay_us=S)
    assert START_US < desk.engine.next_due() <= START_US + S
    assert desk.place(number) == "delayed"


def test_the_engine_wants_to_be_asked_no_later_than_the_first_thing_that_is_due() -> None:
    desk = Desk()
    assert desk.engine.next_due() == NEVER_US
    for delay_us in (90_000 * S, 3_600 * S, 60 * S, S, 5):
        desk.publish(delay_us=delay_us)
        assert desk.engine.next_due() <= START_US + delay_us


def test_at_one_instant_a_message_expires_before_its_delay_is_over() -> None:
    desk = Desk()
    desk.set()
    desk.publish(delay_us=S, ttl_us=S)
    desk.take(wait_us=60 * S)
    waiting = desk.token
    desk.pass_time(S)
    assert desk.answer(waiting) is None
    assert desk.counts()["expired"] == 1


def test_at_one_instant_leases_end_before_delays() -> None:
    desk = Desk()
    leased = desk.publish()
    desk.reserve(lease_us=S)
    delayed = desk.publish(delay_us=S)
    waits = []
    for _ in range(2):
        desk.take(wait_us=60 * S)
        waits.append(desk.token)
    desk.pass_time(S)
    assert [desk.handed_out(token) for token in waits] == [leased, delayed]


def test_at_one_instant_delays_are_over_before_waits() -> None:
    desk = Desk()
    number = desk.publish(delay_us=S)
    desk.take(wait_us=S)
    waiting = desk.token
    desk.pass_time(S)
    assert desk.handed_out(waiting) == number


def test_what_is_due_happens_before_the_requests_of_its_instant() -> None:
    desk = Desk()
    number = desk.publish(delay_us=S)
    desk.pass_time(S)
    assert desk.reserve() == number


def test_after_a_jump_things_happen_in_the_order_of_their_times() -> None:
    desk = Desk()
    desk.set()
    desk.take(wait_us=S)
    over = desk.token
    late, early = desk.publish(delay_us=3 * S), desk.publish(delay_us=2 * S)
    desk.take(wait_us=60 * S)
    first = desk.token
    desk.take(wait_us=60 * S)
    desk.pass_time(100 * S)
    assert desk.answer(over) == (codes.EMPTY, (None, 0))
    assert [desk.handed_out(first), desk.handed_out(desk.token)] == [early, late]


def test_a_lease_of_no_length_ends_when_time_is_next_asked_about() -> None:
    desk = Desk()
    number = desk.publish()
    assert desk.reserve(lease_us=0) == number
    assert desk.place(number) == "leased"
    desk.pass_time(0)
    assert (desk.place(number), desk.message(number).failures) == ("ready", 1)


# -- starts


def restarted(desk: Desk, now_us: int) -> Desk:
    """Another engine on what this one has recorded."""
    record = desk.engine.record
    past = read_facts(record.payload(), int(record.count), record.heap_bytes(), 1, desk.now_us())
    other = Desk()
    other.out = Recorder()
    other.engine = Engine(PolicyBook([(b"*", Policy())]), other.out)
    for fact in past:
        other.engine.replay(fact)
    other.engine.start(now_us, b"note")
    return other


def test_a_start_is_the_first_fact_and_says_which_numbers_are_free() -> None:
    desk = restarted(Desk(), START_US)
    started = desk.facts()[0]
    assert (started.kind, started.body) == (facts.STARTED, b"note")
    assert desk.publish() == started.message


@pytest.mark.parametrize("given", [1, START_JUMP - 1, START_JUMP, START_JUMP + 7])
def test_each_start_jumps_over_all_numbers_that_a_crash_can_have_lost(given: int) -> None:
    """Wherever the last number stands that has come down to us."""
    engine = Engine(PolicyBook(), Recorder())
    engine.state().next_seq = given
    engine.start(START_US, b"")
    assert engine.state().next_seq >= given + START_JUMP


def test_numbers_jump_though_nothing_was_published() -> None:
    engines = [Engine(PolicyBook(), Recorder()) for _ in range(2)]
    engines[0].start(START_US, b"")
    record = engines[0].record
    for fact in read_facts(record.payload(), 1, record.heap_bytes(), 1, START_US):
        engines[1].replay(fact)
    engines[1].start(START_US, b"")
    assert engines[1].state().next_seq - engines[0].state().next_seq == START_JUMP


@pytest.mark.parametrize("wall_us", [START_US - 900 * S, START_US + 900 * S])
def test_time_goes_on_from_the_last_fact_or_from_the_wall_clock_whichever_is_later(wall_us: int) -> None:
    desk = Desk()
    desk.publish()
    assert restarted(desk, wall_us).now_us() == max(wall_us, START_US)


def test_what_became_due_or_expired_meanwhile_is_so_at_the_first_tick() -> None:
    desk = Desk()
    due, over = desk.publish(delay_us=S), desk.publish(ttl_us=S)
    other = restarted(desk, START_US + 5 * S)
    other.pass_time(0)
    assert (other.place(due), other.place(over)) == ("ready", "ended")


# -- grace

# the lease, how long nobody was there, and how long it lasts from then on
GRACE = [
    (60 * S, 5 * S, 55 * S),
    (60 * S, 55 * S, GRACE_US),
    (60 * S, 900 * S, GRACE_US),
    (4 * S, S, 4 * S),
    (4 * S, 900 * S, 4 * S),
    (0, 900 * S, 0),
]


@pytest.mark.parametrize(("lease_us", "down_us", "left_us"), GRACE)
def test_a_lease_that_survives_a_restart_gets_its_grace(lease_us: int, down_us: int, left_us: int) -> None:
    desk = Desk()
    number = desk.publish()
    desk.reserve(lease_us=lease_us)
    other = restarted(desk, START_US + down_us)
    assert other.message(number).until_us == other.now_us() + left_us
    if left_us:
        other.pass_time(left_us - 1)
        assert (other.place(number), other.message(number).failures) == ("leased", 0)
    other.pass_time(1)
    assert (other.place(number), other.message(number).failures) == ("ready", 1)


@pytest.mark.parametrize(("lease_us", "down_us", "left_us"), GRACE)
def test_a_lease_gets_the_same_grace_where_the_process_stood_still(lease_us: int, down_us: int, left_us: int) -> None:
    desk = Desk()
    number = desk.publish()
    desk.reserve(lease_us=lease_us)
    desk.engine.woken(START_US + down_us)
    assert desk.message(number).until_us == START_US + down_us + left_us
    desk.engine.advance(START_US + down_us)
    assert desk.place(number) == ("leased" if left_us else "ready")


def test_a_lease_without_end_needs_no_grace() -> None:
    desk = Desk()
    number = desk.publish()
    desk.reserve()
    assert restarted(desk, START_US + 900 * S).message(number).until_us == NEVER_US


def test_a_holder_keeps_its_lease_over_a_restart_and_those_who_waited_do_not_wait_any_more() -> None:
    desk = Desk()
    number = desk.publish()
    desk.reserve(lease_us=60 * S, holder=7)
    desk.reserve(wait_us=900 * S)
    other = restarted(desk, START_US + S)
    assert other.message(number).holder == 7
    other.publish()
    assert other.counts()["ready"] == 1
