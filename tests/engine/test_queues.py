"""Whole queues: declare, set, remove, purge, pause and resume."""

from __future__ import annotations

import pytest

from penstock.model import codes, facts
from penstock.model.limits import QUEUE_NAME_MAX
from penstock.model.policy import Policy
from tests.engine.clients import plain_policy
from tests.engine.desk import OK, Desk, S, origin

DONE = (OK, (None, 0))


def refusal(code: int) -> tuple[int, tuple[None, int]]:
    return code, (None, 0)


VERBS = [("set", (Policy(),)), ("remove", ()), ("purge", ()), ("pause", ()), ("resume", ())]


@pytest.mark.parametrize(("verb", "said"), VERBS)
def test_what_is_not_there_can_only_be_declared(verb: str, said: tuple[object, ...]) -> None:
    desk = Desk()
    assert desk.ask(verb, b"q", *said, 0) == refusal(codes.NO_QUEUE)
    assert desk.engine.record.count == 0


def test_a_queue_is_declared_once() -> None:
    desk = Desk()
    assert desk.ask("declare", b"q", Policy(lease_us=S), 0) == DONE
    assert desk.ask("declare", b"q", Policy(), 0) == refusal(codes.QUEUE_EXISTS)
    assert plain_policy(desk.engine.state().queues[b"q"].policy) == {"lease_us": S}


def test_a_bad_name_or_policy_is_refused() -> None:
    desk = Desk()
    assert desk.ask("declare", bytes(QUEUE_NAME_MAX + 1), Policy(), 0) == refusal(codes.BAD_NAME)
    assert desk.ask("declare", b"q", Policy(lease_us=-1), 0) == refusal(codes.BAD_POLICY)
    desk.set()
    desk.engine.record.clear()
    assert desk.ask("set", b"q", Policy(dead_letter=b"q"), 0) == refusal(codes.BAD_POLICY)
    assert desk.engine.record.count == 0


def test_setting_overrides_what_is_said_and_keeps_the_rest() -> None:
    desk = Desk()
    desk.ask("declare", b"q", Policy(lease_us=S, attempts=2), 0)
    desk.pass_time(S)
    desk.ask("set", b"q", Policy(attempts=5, delay_us=1), 0)
    queue = desk.engine.state().queues[b"q"]
    assert plain_policy(queue.policy) == {"lease_us": S, "attempts": 5, "delay_us": 1}
    assert queue.modified_us - queue.created_us == S


def test_setting_forgets_what_is_unsaid_so_that_the_configuration_holds_again() -> None:
    desk = Desk(Policy(lease_us=7))
    desk.ask("declare", b"q", Policy(lease_us=S, attempts=2, ttl_us=S), 0)
    assert desk.ask("set", b"q", Policy(ttl_us=5), 0, ("lease_us", "delay_us", "ttl_us")) == DONE
    queue = desk.engine.state().queues[b"q"]
    assert plain_policy(queue.policy) == {"attempts": 2, "ttl_us": 5}
    assert queue.rules.lease_us == 7
    assert desk.ask("set", b"q", Policy(), 0, ("name",)) == refusal(codes.BAD_POLICY)


def test_a_policy_holds_for_what_is_published_after_it() -> None:
    desk = Desk()
    before = desk.publish()
    desk.set(delay_us=S, ttl_us=3 * S)
    after = desk.publish()
    assert (desk.place(before), desk.place(after)) == ("ready", "delayed")
    desk.pass_time(3 * S)
    assert (desk.place(before), desk.place(after)) == ("ready", "ended")


def test_a_purge_deletes_all_but_what_is_leased() -> None:
    desk = Desk(Policy(lease_us=S))
    desk.publish()
    desk.reserve()
    desk.publish()
    desk.publish(delay_us=S)
    desk.publish(key=b"k", parked=True)
    desk.publish(queue=b"other")
    assert desk.ask("purge", b"q", 0) == (OK, (None, 3))
    assert desk.counts() == {"published": 4, "leased": 1, "deleted": 3, "delivered": 1, "body_bytes": 4}
    assert desk.counts(b"other")["ready"] == 1


def test_removing_a_queue_deletes_everything_in_it_first() -> None:
    desk = Desk(Policy(lease_us=S))
    numbers = [desk.publish() for _ in range(3)]
    desk.reserve()
    desk.engine.record.clear()
    assert desk.ask("remove", b"q", 0) == (OK, (None, 3))
    found = desk.facts()
    assert [int(fact.kind) for fact in found] == [*[facts.DELETED] * 3, facts.REMOVED]
    assert {int(fact.reason) for fact in found[:3]} == {facts.QUEUE_REMOVED}
    assert [desk.place(number) for number in numbers] == ["ended"] * 3
    desk.pass_time(9 * S)
    assert desk.queue_names() == []


def test_a_queue_that_was_removed_begins_anew() -> None:
    desk = Desk(Policy(dedup_us=60 * S))
    desk.publish(origin=origin(dedup_id=b"once"))
    desk.ask("pause", b"q", 0)
    desk.ask("remove", b"q", 0)
    number = desk.publish(origin=origin(dedup_id=b"once"))
    assert desk.counts() == {"published": 1, "ready": 1, "body_bytes": 4}
    assert desk.take() == number


def test_a_paused_queue_hands_out_nothing_and_does_everything_else() -> None:
    desk = Desk(Policy(lease_us=S))
    leased = desk.publish()
    desk.reserve()
    assert desk.ask("pause", b"q", 0) == DONE
    ready = desk.publish()
    assert desk.reserve() == desk.take() == desk.take(newest=True) == 0
    assert desk.reserve(max=2) == desk.take(mates=True) == []
    desk.pass_time(S)
    assert desk.place(leased) == "ready"
    assert desk.finish(leased) == OK
    assert desk.ask("resume", b"q", 0) == DONE
    assert desk.take() == ready


def test_waits_end_on_time_while_paused() -> None:
    desk = Desk()
    desk.publish()
    desk.ask("pause", b"q", 0)
    desk.reserve(wait_us=S)
    waiting = desk.token
    desk.pass_time(S)
    assert desk.answer(waiting) == refusal(codes.EMPTY)


def test_resuming_serves_waiters_first_then_wakes_sleepers() -> None:
    desk = Desk()
    first, _ = desk.publish(), desk.publish()
    desk.ask("pause", b"q", 0)
    desk.ask("wait", b"q", client=desk.two)
    desk.take(wait_us=60 * S)
    waiting = desk.token
    desk.ask("resume", b"q", 0)
    assert desk.handed_out(waiting) == first
    assert desk.woken() == ["two"]


def test_pausing_twice_is_pausing_once() -> None:
    desk = Desk()
    desk.set()
    desk.engine.record.clear()
    for verb in ("pause", "pause", "resume", "resume"):
        assert desk.ask(verb, b"q", 0) == DONE
    assert [int(fact.kind) for fact in desk.facts()] == [facts.PAUSED, facts.RESUMED]
