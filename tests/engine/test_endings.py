"""How leases and lives end: finish, release, failures and back-off, drops with their dead letters, expiry."""

from __future__ import annotations

import pytest

from penstock.model import codes, facts, stages
from penstock.model.limits import EXTRA_MAX, NEVER_US, ORIGIN_FIXED
from penstock.model.options import ANY_LIVE, HOLDER_ONLY, LEASED_ONLY
from penstock.model.policy import Policy
from tests.engine.desk import OK, Desk, S, origin

NO_MESSAGE = int(codes.NO_MESSAGE)


# -- who may


@pytest.mark.parametrize(
    ("rule", "leased", "holder", "allowed"),
    [
        (ANY_LIVE, False, 0, True),
        (ANY_LIVE, True, 0, True),
        (LEASED_ONLY, False, 0, False),
        (LEASED_ONLY, True, 0, True),
        (LEASED_ONLY, True, 8, True),
        (HOLDER_ONLY, False, 7, False),
        (HOLDER_ONLY, True, 7, True),
        (HOLDER_ONLY, True, 8, False),
    ],
)
def test_the_rule_says_who_may_finish(rule: int, leased: bool, holder: int, allowed: bool) -> None:
    desk = Desk(Policy(lease_us=S))
    number = desk.publish()
    if leased:
        desk.reserve(holder=7)
    assert desk.finish(number, rule=rule, holder=holder) == (OK if allowed else NO_MESSAGE)
    assert desk.place(number) == ("ended" if allowed else "leased" if leased else "ready")


@pytest.mark.parametrize("rule", [ANY_LIVE, LEASED_ONLY, HOLDER_ONLY])
def test_only_a_lease_can_be_released_whatever_the_rule(rule: int) -> None:
    desk = Desk(Policy(lease_us=S))
    number = desk.publish()
    assert desk.release(number, rule=rule, holder=7) == NO_MESSAGE
    desk.reserve(holder=7)
    assert desk.release(number, rule=rule, holder=7) == OK


def test_the_lease_of_somebody_else_is_out_of_reach() -> None:
    desk = Desk(Policy(lease_us=S))
    number = desk.publish()
    desk.reserve(holder=7)
    desk.pass_time(S)
    desk.reserve(holder=8)
    facts_before = desk.engine.record.count
    assert desk.finish(number, rule=HOLDER_ONLY, holder=7) == NO_MESSAGE
    assert desk.release(number, rule=HOLDER_ONLY, holder=7) == NO_MESSAGE
    assert desk.extend(number, 9 * S, rule=HOLDER_ONLY, holder=7) == NO_MESSAGE
    assert desk.engine.record.count == facts_before


def test_a_message_ends_once() -> None:
    desk = Desk()
    number = desk.publish()
    assert desk.finish(number) == OK
    assert desk.finish(number) == desk.release(number) == desk.extend(number, S) == NO_MESSAGE
    assert desk.counts() == {"published": 1, "finished": 1}


def test_a_number_of_another_queue_is_unknown() -> None:
    desk = Desk()
    number = desk.publish(queue=b"other")
    desk.publish()
    assert desk.finish(number, queue=b"q") == desk.finish(number, queue=b"nowhere") == NO_MESSAGE
    assert desk.finish(number, queue=b"other") == OK


# -- release


def test_a_release_is_no_failure_and_goes_to_the_tail() -> None:
    desk = Desk(Policy(lease_us=S, attempts=1))
    first, second = desk.publish(), desk.publish()
    assert desk.reserve(old_place=True) == first
    desk.pass_time(1)
    assert desk.release(first) == OK
    assert desk.message(first).failures == 0
    assert [desk.reserve(), desk.reserve()] == [second, first]


def test_a_release_with_a_delay_is_ready_after_it() -> None:
    desk = Desk()
    number = desk.publish()
    desk.reserve()
    desk.release(number, delay_us=S)
    assert desk.place(number) == "delayed"
    desk.pass_time(S - 1)
    assert desk.reserve() == 0
    desk.pass_time(1)
    assert desk.reserve() == number


def test_a_release_after_expiry_ends_the_message() -> None:
    desk = Desk(Policy(ttl_us=S))
    number = desk.publish()
    desk.reserve(lease_us=9 * S)
    desk.pass_time(2 * S)
    assert desk.place(number) == "leased"
    assert desk.release(number) == OK
    assert desk.counts() == {"published": 1, "delivered": 1, "expired": 1}


# -- failures


def test_a_lease_that_runs_out_is_a_failure_and_its_message_ready_again() -> None:
    desk = Desk(Policy(lease_us=S))
    number = desk.publish()
    desk.reserve(holder=7)
    desk.pass_time(S - 1)
    assert desk.place(number) == "leased"
    desk.pass_time(1)
    message = desk.message(number)
    assert (desk.place(number), message.failures, message.holder, message.until_us) == ("ready", 1, 0, 0)
    assert desk.counts()["failed"] == 1


def test_a_taker_chooses_between_the_tail_and_the_old_place() -> None:
    for old_place in (False, True):
        desk = Desk(Policy(lease_us=S))
        first, second = desk.publish(), desk.publish()
        assert desk.reserve(old_place=old_place) == first
        desk.pass_time(S)
        assert desk.reserve() == (first if old_place else second)


def test_a_release_as_failed_goes_to_the_tail_whatever_its_taker_chose() -> None:
    desk = Desk(Policy(lease_us=S))
    first, second = desk.publish(), desk.publish()
    desk.reserve(old_place=True)
    desk.pass_time(1)
    desk.release(first, failed=True)
    assert desk.message(first).failures == 1
    assert desk.reserve() == second


def test_failures_wait_longer_and_longer_by_the_policy() -> None:
    desk = Desk(Policy(lease_us=S, backoff_us=(0, 2 * S, 5 * S)))
    number = desk.publish()
    for pause_us in (0, 2 * S, 5 * S, 5 * S):
        assert desk.reserve(old_place=True) == number
        desk.pass_time(S)
        if pause_us:
            desk.pass_time(pause_us - 1)
            assert desk.reserve() == 0
            desk.pass_time(1)


def test_a_delay_that_is_said_goes_before_the_back_off() -> None:
    desk = Desk(Policy(lease_us=S, backoff_us=(9 * S,)))
    number = desk.publish()
    desk.reserve()
    desk.release(number, delay_us=0, failed=True)
    assert desk.place(number) == "ready"


@pytest.mark.parametrize("failed", [True, False])
def test_at_the_limit_a_message_is_dropped(failed: bool) -> None:
    desk = Desk(Policy(lease_us=S, attempts=3))
    number = desk.publish()
    for _ in range(3):
        assert desk.reserve() == number
        if failed:
            desk.release(number, failed=True)
        else:
            desk.pass_time(S)
    assert desk.counts() == {"published": 1, "delivered": 3, "failed": 3, "dropped": 1}


def test_returns_burn_no_attempt() -> None:
    desk = Desk(Policy(lease_us=S, attempts=1))
    number = desk.publish()
    for _ in range(5):
        desk.reserve()
        desk.release(number)
    assert desk.place(number) == "ready"
    assert desk.message(number).deliveries == 5


def test_a_limit_that_is_lowered_counts_at_the_next_failure() -> None:
    desk = Desk(Policy(lease_us=S))
    number = desk.publish()
    desk.reserve()
    desk.pass_time(S)
    desk.set(attempts=1)
    assert desk.place(number) == "ready"
    desk.reserve()
    desk.pass_time(S)
    assert desk.place(number) == "ended"


# -- dead letters


def dead_letter_of(desk: Desk) -> int:
    """Publishes, fails and drops a message with everything on it; the number of its dead letter."""
    told = origin(poster=7, label=42, notify=127, trace=b"trace", principal=b"who", dedup_id=b"once", foreign_id=b"x")
    told.deliveries, told.first_leased_us = 9, 1
    number = desk.publish(b"text", key=b"k", priority=3, ttl_us=60 * S, lease_us=S, origin=told)
    desk.reserve()
    desk.pass_time(S)
    assert desk.place(number) == "ended"
    return max(int(message.order) for message in desk.engine.state().messages.values())


def test_a_dead_letter_is_a_copy_without_ttl_and_notices_linked_to_the_old_one() -> None:
    desk = Desk(Policy(attempts=1, dead_letter=b"dead", dedup_us=S))
    dead = desk.message(dead_letter_of(desk))
    assert (dead.body, dead.key, dead.priority, dead.lease_us) == (b"text", b"k", 3, S)
    assert (dead.expires_us, dead.deliveries, dead.failures) == (NEVER_US, 0, 0)
    assert dead.origin is not None
    assert (dead.origin.dead_of, dead.origin.trace, dead.origin.principal) == (dead.order - 1, b"trace", b"who")
    assert dead.origin.dead_from == b"q"
    assert (dead.origin.notify, dead.origin.label, dead.origin.dedup_id, dead.origin.foreign_id) == (0, 0, b"", b"")


@pytest.mark.parametrize(("room", "known"), [(ORIGIN_FIXED, True), (ORIGIN_FIXED - 1, False)])
def test_where_it_came_from_is_left_out_where_it_does_not_fit(room: int, known: bool) -> None:
    desk = Desk(Policy(attempts=1, dead_letter=b"dead"))
    name, trace = bytes(EXTRA_MAX - 100), bytes(100 - room)
    number = desk.publish(queue=name, lease_us=S, origin=origin(trace=trace))
    desk.reserve(name)
    desk.pass_time(S)
    dead = desk.message(number + 1)
    assert dead.origin is not None
    assert dead.origin.dead_from == (name if known else None)
    assert [fact.message for fact in desk.facts() if fact.kind == facts.PUBLISHED] == [number, number + 1]


def test_the_dead_letter_is_published_in_the_same_commit_right_after_the_drop() -> None:
    desk = Desk(Policy(attempts=1, dead_letter=b"dead"))
    dead_letter_of(desk)
    kinds = [int(fact.kind) for fact in desk.facts()]
    assert kinds[-3:] == [facts.DROPPED, facts.DECLARED, facts.PUBLISHED]


def test_limits_delays_and_ttl_of_the_dead_letter_queue_do_not_hold_for_dead_letters() -> None:
    desk = Desk(Policy(attempts=1, dead_letter=b"dead"))
    desk.set(b"dead", max_length=1, max_bytes=1, max_body=1, delay_us=S, ttl_us=S)
    for _ in range(3):
        assert desk.place(dead_letter_of(desk)) == "ready"
    assert desk.counts(b"dead")["ready"] == 3


def test_a_dead_letter_goes_to_whoever_waits_for_it() -> None:
    desk = Desk(Policy(attempts=1, dead_letter=b"dead"))
    desk.set(b"dead")
    desk.take(queue=b"dead", wait_us=60 * S)
    waiting = desk.token
    number = desk.publish(lease_us=S)
    desk.reserve()
    desk.pass_time(S)
    assert desk.handed_out(waiting) == number + 1


def test_a_queue_whose_pattern_names_itself_has_no_dead_letters() -> None:
    desk = Desk(Policy(attempts=1, dead_letter=b"q", lease_us=S))
    desk.publish()
    desk.reserve()
    desk.pass_time(S)
    assert desk.counts() == {"published": 1, "delivered": 1, "failed": 1, "dropped": 1}


def test_the_dead_letter_queue_is_made_by_the_dialect_of_the_queue_it_serves() -> None:
    desk = Desk(Policy(attempts=1, dead_letter=b"dead"))
    dead_letter_of(desk)
    state = desk.engine.state()
    assert state.queues[b"dead"].dialect == state.queues[b"q"].dialect


# -- expiry


def test_a_message_expires_at_its_time_counted_from_publish() -> None:
    desk = Desk()
    number = desk.publish(ttl_us=2 * S, delay_us=S)
    desk.pass_time(2 * S - 1)
    assert desk.place(number) == "ready"
    desk.pass_time(1)
    assert desk.counts() == {"published": 1, "expired": 1}


def test_a_delay_beyond_the_expiry_is_never_over() -> None:
    desk = Desk()
    desk.publish(ttl_us=S, delay_us=S)
    desk.pass_time(S)
    assert desk.counts() == {"published": 1, "expired": 1}


def test_parked_messages_expire_too() -> None:
    desk = Desk()
    desk.publish(ttl_us=S, key=b"k", parked=True)
    desk.pass_time(S)
    assert desk.counts() == {"published": 1, "expired": 1}


def test_expiry_does_not_cut_a_lease_short_and_beats_the_drop_at_its_end() -> None:
    desk = Desk(Policy(attempts=1, dead_letter=b"dead"))
    number = desk.publish(ttl_us=S)
    desk.reserve(lease_us=3 * S)
    desk.pass_time(3 * S - 1)
    assert desk.place(number) == "leased"
    desk.pass_time(1)
    assert desk.counts() == {"published": 1, "delivered": 1, "expired": 1}
    assert desk.queue_names() == [b"q"]


def test_a_message_given_back_before_its_expiry_still_expires() -> None:
    desk = Desk()
    number = desk.publish(ttl_us=3 * S)
    desk.reserve(lease_us=S)
    desk.pass_time(S)
    assert desk.place(number) == "ready"
    desk.pass_time(2 * S)
    assert desk.place(number) == "ended"


def test_what_expired_while_time_jumped_is_not_delivered_even_if_it_became_due_meanwhile() -> None:
    desk = Desk()
    desk.set()
    desk.publish(delay_us=S, ttl_us=2 * S)
    desk.take(wait_us=60 * S)
    waiting = desk.token
    desk.pass_time(10 * S)
    assert desk.answer(waiting) is None
    assert desk.counts() == {"published": 1, "expired": 1}


# -- extend


def test_extending_a_lease_moves_its_end_either_way() -> None:
    desk = Desk()
    number = desk.publish()
    desk.reserve(lease_us=5 * S)
    assert desk.ask("extend", b"q", number, 9 * S, LEASED_ONLY, 0, 0) == (OK, (None, desk.now_us() + 9 * S))
    desk.pass_time(8 * S)
    assert desk.place(number) == "leased"
    desk.extend(number, 0)
    desk.pass_time(0)
    assert desk.place(number) == "ready"


def test_a_lease_can_be_extended_for_ever() -> None:
    desk = Desk()
    number = desk.publish()
    desk.reserve(lease_us=S)
    desk.extend(number, NEVER_US)
    desk.pass_time(10**9 * S)
    assert desk.place(number) == "leased"


def test_extending_a_waiting_message_moves_its_due_time_where_the_rule_allows_it() -> None:
    desk = Desk()
    number = desk.publish()
    assert desk.extend(number, S, rule=LEASED_ONLY) == NO_MESSAGE
    assert desk.extend(number, S) == OK
    assert desk.place(number) == "delayed"
    desk.extend(number, 0)
    assert desk.place(number) == "ready"


def test_a_parked_message_cannot_be_extended() -> None:
    desk = Desk()
    number = desk.publish(key=b"k", parked=True)
    assert desk.extend(number, S) == NO_MESSAGE
    assert desk.place(number) == "parked"


def test_notices_of_a_life_assigns_are_retries_and_one_end() -> None:
    desk = Desk(Policy(lease_us=S))
    number = desk.publish(origin=origin(poster=7, label=42, notify=127))
    for _ in range(2):
        desk.reserve()
        desk.release(number)
    desk.reserve()
    desk.finish(number)
    told = [stage for stage, _ in desk.notices()]
    assert told[3:] == [stages.ASSIGN, stages.RETRY, stages.ASSIGN, stages.RETRY, stages.ASSIGN, stages.FINISH]
