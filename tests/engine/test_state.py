"""What each fact says of a change, column by column as docs/journal-format.md has it, and that numbers end up right."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.codecs.facts import Fact, decode_origin
from penstock.codecs.policies import decode_policy
from penstock.model import facts
from penstock.model.limits import NEVER_US
from penstock.model.policy import Policy
from tests.engine.clients import plain_origin, plain_policy
from tests.engine.desk import START_US, Desk, S, origin

COLUMNS = (
    "kind", "flags", "dialect", "reason", "queue_id", "message", "due_us", "expires_us", "lease_us", "number", "holder",
)  # fmt: skip


def last(desk: Desk) -> Fact:
    return desk.facts()[-1]


def columns(fact: Fact) -> dict[str, int]:
    """Those that say something."""
    return {name: int(getattr(fact, name)) for name in COLUMNS if getattr(fact, name)}


def test_published() -> None:
    desk = Desk()
    told = origin(poster=7, label=42, notify=3, trace=b"t", dedup_id=b"d", foreign_id=b"f", principal=b"p")
    said: dict[str, Any] = {"priority": 3, "key": b"k", "parked": True, "origin": told}
    number = desk.publish(b"text", delay_us=S, ttl_us=9 * S, lease_us=5 * S, **said)
    fact = last(desk)
    assert columns(fact) == {
        "kind": facts.PUBLISHED, "flags": facts.PARKED_FLAG | facts.KEYED_FLAG, "dialect": 1, "queue_id": 1,
        "message": number, "due_us": START_US + S, "expires_us": START_US + 9 * S, "lease_us": 5 * S, "number": 3,
    }  # fmt: skip
    assert (fact.body, fact.key) == (b"text", b"k")
    assert plain_origin(decode_origin(fact.extra)) == plain_origin(told)


def test_a_message_with_a_past_counts_on_from_there() -> None:
    desk = Desk(Policy(attempts=2))
    number = desk.publish(origin=origin(deliveries=7, first_leased_us=START_US - S))
    message = desk.engine.state().messages[number]
    assert (message.deliveries, message.first_leased_us, message.failures) == (7, START_US - S, 0)
    desk.reserve()
    assert last(desk).number == 8
    assert (message.deliveries, message.first_leased_us) == (8, START_US - S)
    assert desk.counts()["delivered"] == 1
    assert desk.release(number, failed=True) == 0
    assert desk.counts()["ready"] == 1


def test_a_past_without_its_time_begins_with_the_first_delivery_here() -> None:
    desk = Desk()
    number = desk.publish(origin=origin(deliveries=7))
    desk.pass_time(S)
    desk.reserve()
    assert desk.engine.state().messages[number].first_leased_us == START_US + S


@pytest.mark.parametrize(("key", "flags"), [(None, 0), (b"", facts.KEYED_FLAG), (b"k", facts.KEYED_FLAG)])
def test_no_key_is_not_the_empty_key(key: bytes | None, flags: int) -> None:
    desk = Desk()
    desk.publish(key=key)
    fact = last(desk)
    assert (fact.key, fact.flags) == (key, flags)


def test_what_is_not_said_of_a_publish_is_never_or_minus_one() -> None:
    desk = Desk()
    desk.publish()
    fact = last(desk)
    assert (fact.expires_us, fact.lease_us, fact.extra) == (NEVER_US, -1, b"")


def test_leased() -> None:
    desk = Desk()
    number = desk.publish()
    desk.reserve(lease_us=5 * S, holder=7, old_place=True)
    assert columns(last(desk)) == {
        "kind": facts.LEASED, "flags": facts.OLD_PLACE_FLAG, "dialect": 1, "queue_id": 1, "message": number,
        "due_us": START_US + 5 * S, "lease_us": 5 * S, "number": 1, "holder": 7,
    }  # fmt: skip


RELEASES = [(False, facts.RETURNED, 0), (True, facts.FAILED, facts.FAILURE_FLAG)]


@pytest.mark.parametrize(("failed", "reason", "flags"), RELEASES)
def test_released(failed: bool, reason: int, flags: int) -> None:
    desk = Desk()
    number = desk.publish()
    desk.reserve(lease_us=5 * S, holder=7)
    desk.release(number, delay_us=S, failed=failed)
    expected = {
        "kind": facts.RELEASED, "flags": flags, "dialect": 1, "reason": reason, "queue_id": 1, "message": number,
        "due_us": START_US + S, "number": 1,
    }  # fmt: skip
    assert columns(last(desk)) == {name: value for name, value in expected.items() if value}


def test_what_time_does_is_the_servers_doing() -> None:
    desk = Desk(Policy(attempts=2))
    number = desk.publish()
    for kind in (facts.RELEASED, facts.DROPPED):
        desk.reserve(lease_us=S)
        desk.pass_time(S)
        fact = last(desk)
        assert (fact.kind, fact.reason, fact.flags) == (kind, facts.TIMED_OUT, facts.FAILURE_FLAG)
        assert (fact.dialect, fact.message) == (0, number)


def test_finished_by_whoever_worked_on_it_or_in_the_moment_it_was_taken() -> None:
    desk = Desk()
    number = desk.publish()
    desk.reserve(holder=7)
    desk.finish(number, holder=7)
    fact = last(desk)
    assert (fact.kind, fact.reason, fact.holder, fact.number) == (facts.FINISHED, facts.ACKNOWLEDGED, 7, 1)
    desk.publish()
    desk.take()
    fact = last(desk)
    assert (fact.kind, fact.reason, fact.holder, fact.number) == (facts.FINISHED, facts.TAKEN, 0, 1)


def test_extended_says_the_new_end_of_a_lease_or_the_new_due_time() -> None:
    desk = Desk()
    number = desk.publish()
    desk.extend(number, S)
    waiting = last(desk)
    assert (waiting.kind, waiting.due_us, waiting.lease_us) == (facts.EXTENDED, START_US + S, 0)
    desk.extend(number, 0)
    desk.reserve(lease_us=S)
    desk.extend(number, 9 * S)
    leased = last(desk)
    assert (leased.kind, leased.due_us, leased.lease_us) == (facts.EXTENDED, START_US + 9 * S, 9 * S)


def test_expired_and_deleted() -> None:
    desk = Desk()
    desk.publish(ttl_us=1)
    desk.pass_time(1)
    assert last(desk).kind == facts.EXPIRED
    number = desk.publish()
    desk.ask("delete", b"q", number, 0)
    fact = last(desk)
    assert (fact.kind, fact.reason) == (facts.DELETED, facts.DELETED_ONE)


def test_facts_of_a_queue_carry_its_name_and_its_whole_policy() -> None:
    desk = Desk()
    desk.ask("declare", b"q", Policy(lease_us=S), 0)
    desk.ask("set", b"q", Policy(attempts=3), 0)
    for verb in ("pause", "resume", "remove"):
        desk.ask(verb, b"q", 0)
    found = desk.facts()
    assert [fact.kind for fact in found] == [facts.DECLARED, facts.SET, facts.PAUSED, facts.RESUMED, facts.REMOVED]
    assert {(fact.key, int(fact.queue_id), int(fact.dialect)) for fact in found} == {(b"q", 1, 1)}
    policies = [plain_policy(decode_policy(fact.body)) for fact in found]
    assert policies == [{"lease_us": S}, {"lease_us": S, "attempts": 3}, {}, {}, {}]


def test_woken_says_which_numbers_are_free() -> None:
    desk = Desk()
    desk.engine.woken(START_US + S)
    fact = last(desk)
    assert (fact.kind, fact.message) == (facts.WOKEN, desk.publish())


def test_queue_numbers_are_never_used_again() -> None:
    desk = Desk()
    for number in (1, 2, 3):
        desk.set()
        assert desk.engine.state().queues[b"q"].id == number
        desk.ask("remove", b"q", 0)
