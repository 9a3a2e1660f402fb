"""Views: copies of what is true at one moment, that change nothing."""

from __future__ import annotations

import pytest

from penstock.engine import looking
from penstock.engine.queue import Queue
from penstock.engine.rules import Rules
from penstock.engine.waiting import Waiting
from penstock.model import codes
from penstock.model.limits import NARROW_MAX
from penstock.model.message import READY
from penstock.model.policy import Past, Policy
from penstock.model.views import MATCHED, SAID, Rank
from tests.engine.desk import OK, Desk, S, origin

WIDE = bytes(NARROW_MAX + 1)


def test_a_peek_shows_what_could_be_taken_in_rank_and_leaves_it() -> None:
    desk = Desk()
    numbers = [desk.publish(body) for body in (b"a", WIDE, b"b", WIDE)]
    best = desk.publish(priority=1)
    desk.publish(delay_us=S)
    desk.publish(key=b"k", parked=True)
    _, views = desk.ask("peek", b"q", 4)
    assert [view["seq"] for view in views] == [best, *numbers[:3]]
    assert desk.take() == best


def test_a_peek_goes_on_after_a_rank_whoever_has_left_meanwhile() -> None:
    desk = Desk()
    numbers = [desk.publish(body) for body in (b"a", WIDE, b"b", WIDE, b"c")]
    best = desk.publish(priority=1)
    for at in (1, 2):
        _, views = desk.ask("peek", b"q", at + 2)
        last = views[-1]
        assert (views[0]["seq"], last["seq"]) == (best, numbers[at])
        rank = Rank(last["priority"], last["ready_us"], last["seq"])
        assert [view["seq"] for view in desk.ask("peek", b"q", 2, rank)[1]] == numbers[at + 1 : at + 3]
    desk.take()
    desk.ask("delete", b"q", last["seq"], 0)
    assert [view["seq"] for view in desk.ask("peek", b"q", 2, rank)[1]] == numbers[3:]


def test_a_message_is_shown_with_all_its_fields() -> None:
    desk = Desk()
    told = origin(poster=7, label=42, trace=b"trace")
    number = desk.publish(b"text", key=b"k", priority=3, ttl_us=9 * S, origin=told)
    desk.reserve(lease_us=5 * S, holder=7)
    code, view = desk.ask("show_message", number)
    assert code == OK
    now_us = desk.now_us()
    assert {field: value for field, value in view.items() if field != "origin"} == {
        "seq": number, "queue": b"q", "body": b"text", "key": b"k", "priority": 3, "place": 4, "dialect": 1,
        "published_us": now_us, "ready_us": now_us, "expires_us": now_us + 9 * S, "lease_us": -1, "leased_us": now_us,
        "first_leased_us": now_us, "until_us": now_us + 5 * S, "holder": 7, "deliveries": 1, "failures": 0,
    }  # fmt: skip


def test_what_is_not_there_cannot_be_shown() -> None:
    desk = Desk()
    assert desk.ask("show_message", 1) == (codes.NO_MESSAGE, None)
    assert desk.ask("show_queue", b"q") == (codes.NO_QUEUE, None)
    assert desk.ask("peek", b"q", 1) == (codes.NO_QUEUE, ())


def test_a_queue_is_shown_with_what_was_said_of_it_and_with_what_holds() -> None:
    desk = Desk(Policy(lease_us=S, attempts=3))
    desk.set(attempts=5)
    desk.publish()
    desk.pass_time(S)
    desk.publish()
    _, view = desk.ask("show_queue", b"q")
    assert view["policy"] == {"attempts": 5}
    assert view["effective"] == {"attempts": 5, "lease_us": S}
    assert view["sources"] == {"attempts": (SAID, b""), "lease_us": (MATCHED, b"*")}
    assert view["oldest_ready_us"] == desk.now_us() - S
    assert (view["name"], view["paused"], view["dialect"], view["waiting"]) == (b"q", False, 1, 0)


def test_those_who_wait_are_counted_and_sleepers_are_not() -> None:
    desk = Desk()
    desk.set()
    desk.reserve(wait_us=S)
    desk.reserve(wait_us=S)
    desk.engine.subscribe(desk.two, b"q")
    desk.engine.credit(desk.two, 0)
    desk.engine.credit(desk.two, 0)
    desk.engine.subscribe(desk.three, b"q")
    desk.ask("wait", b"q", client=desk.three)
    assert desk.ask("show_queue", b"q")[1]["waiting"] == 3
    assert desk.ask("stats")[1]["waiting"] == 3


def test_queues_are_listed_by_name() -> None:
    desk = Desk()
    for name in (b"b", b"", b"a"):
        desk.publish(queue=name)
    assert [view["name"] for view in desk.ask("list_queues")[1]] == [b"", b"a", b"b"]


def test_the_ledger_adds_up_in_every_view() -> None:
    desk = Desk(Policy(lease_us=60 * S))
    numbers = [desk.publish(queue=queue) for queue in (b"a", b"b") for _ in range(4)]
    desk.reserve(b"a")
    desk.take(b"b")
    desk.finish(numbers[1], queue=b"a")
    desk.ask("delete", b"b", numbers[6], 0)
    desk.publish(queue=b"a", delay_us=S)
    desk.publish(queue=b"b", ttl_us=1)
    desk.pass_time(1)
    total = desk.ask("stats")[1]["counts"]
    for shown in (total, *(view["counts"] for view in desk.ask("list_queues")[1])):
        places = shown["delayed"] + shown["ready"] + shown["parked"] + shown["leased"]
        ends = shown["finished"] + shown["dropped"] + shown["expired"] + shown["deleted"]
        assert shown["published"] == places + ends
    assert total["published"] == 10


def test_a_view_is_a_copy() -> None:
    desk = Desk()
    number = desk.publish()
    state = desk.engine.state()
    queue = state.queues[b"q"]
    shown = looking.message_view(desk.message(number), queue)
    whole = looking.queue_view(queue, state, Waiting())
    desk.reserve()
    whole.policy.lease_us = whole.effective.lease_us = 1
    assert (shown.place, shown.deliveries, whole.counts.ready) == (READY, 0, 1)
    assert (queue.policy.lease_us, queue.rules.lease_us) == (None, -1)


LOOKS = [("peek", (b"q", 5)), ("show_message", (1,)), ("show_queue", (b"q",)), ("list_queues", ()), ("stats", ())]


@pytest.mark.parametrize(("verb", "said"), LOOKS)
def test_looking_records_nothing(verb: str, said: tuple[object, ...]) -> None:
    desk = Desk()
    desk.publish()
    desk.engine.record.clear()
    desk.ask(verb, *said)
    assert desk.engine.record.count == 0


def test_a_queue_from_elsewhere_shows_what_it_has_behind_it() -> None:
    policy = Policy(past=Past(published=40, delivered=50, created_us=1, modified_us=2))
    queue = Queue(1, b"q", 5, policy, Rules(policy), 100)
    queue.published, queue.delivered = 3, 4
    seen = looking.glance(queue, 200)
    assert (seen.published, seen.delivered, seen.created_us, seen.modified_us) == (43, 54, 1, 2)
    queue.modified_us = 150
    assert looking.glance(queue, 200).modified_us == 150
    assert (queue.published, queue.delivered) == (3, 4)
