"""Several verbs as one: all are admitted or none is, and whatever they do is one commit."""

from __future__ import annotations

from typing import Any

from penstock.model import codes, facts
from penstock.model.contract import DELETE, FINISH, PUBLISH, RELEASE, Call
from penstock.model.options import HOLDER_ONLY, LEASED_ONLY, WAITING_ONLY, Publishing
from penstock.model.policy import Policy
from tests.engine.desk import OK, Desk, S, origin

NO_MESSAGE = int(codes.NO_MESSAGE)


def publishing(body: bytes = b"body", queue: bytes = b"q", delay_us: int = -1, **said: Any) -> Call:
    call = Call(PUBLISH, queue)
    call.body, call.delay_us, call.options = body, delay_us, Publishing(**said)
    return call


def ending(verb: int, number: int, rule: int = 0, holder: int = 0, failed: bool = False, queue: bytes = b"q") -> Call:
    call = Call(verb, queue)
    call.seq, call.rule, call.holder, call.failed = number, rule, holder, failed
    return call


def test_each_call_has_its_outcome_in_order() -> None:
    desk = Desk(Policy(lease_us=S))
    finished, released, deleted = (desk.publish() for _ in range(3))
    desk.reserve(max=2)
    code, outcomes = desk.ask(
        "batch",
        [ending(FINISH, finished), ending(RELEASE, released), ending(DELETE, deleted), publishing()],
        0,
    )
    assert code == OK
    assert outcomes == ((OK, finished), (OK, released), (OK, deleted), (OK, deleted + 1))
    assert desk.counts() == {"published": 4, "ready": 2, "finished": 1, "deleted": 1, "delivered": 2, "body_bytes": 8}


def test_one_publish_that_is_refused_refuses_all_and_changes_nothing() -> None:
    desk = Desk(Policy(max_body=4))
    number = desk.publish()
    desk.engine.record.clear()
    calls = [ending(FINISH, number), publishing(), publishing(queue=b"new"), publishing(b"too large")]
    assert desk.ask("batch", calls, 0) == (codes.TOO_LARGE, ())
    assert desk.engine.record.count == 0
    assert desk.queue_names() == [b"q"]
    assert desk.place(number) == "ready"


def test_an_ending_that_finds_nothing_is_an_outcome_and_no_refusal() -> None:
    desk = Desk(Policy(lease_us=S))
    number = desk.publish()
    desk.reserve(holder=7)
    calls = [
        ending(FINISH, number, HOLDER_ONLY, 8),
        ending(RELEASE, number, HOLDER_ONLY, 8),
        ending(FINISH, number, queue=b"other"),
        ending(FINISH, number, HOLDER_ONLY, 7),
        ending(FINISH, number),
        ending(DELETE, number),
        publishing(),
    ]
    code, outcomes = desk.ask("batch", calls, 0)
    assert code == OK
    assert [outcome[0] for outcome in outcomes] == [NO_MESSAGE, NO_MESSAGE, NO_MESSAGE, OK, NO_MESSAGE, NO_MESSAGE, OK]


def needed(verb: int, number: int, rule: int) -> Call:
    call = ending(verb, number, rule)
    call.needed = True
    return call


def test_a_needed_ending_that_finds_nothing_refuses_all() -> None:
    desk = Desk(Policy(lease_us=S))
    number = desk.publish()
    for call in (needed(DELETE, number, LEASED_ONLY), needed(RELEASE, number, 0), needed(FINISH, number + 1, 0)):
        assert desk.ask("batch", [publishing(), call], 0) == (codes.NO_MESSAGE, ())
    desk.reserve()
    assert desk.ask("batch", [needed(DELETE, number, WAITING_ONLY), publishing()], 0) == (codes.NO_MESSAGE, ())
    assert desk.counts()["published"] == 1
    desk.release(number)
    code, outcomes = desk.ask("batch", [needed(DELETE, number, WAITING_ONLY), publishing()], 0)
    assert (code, outcomes) == (OK, ((OK, number), (OK, number + 1)))


def test_a_delete_in_a_batch_obeys_its_rule() -> None:
    desk = Desk(Policy(lease_us=S))
    number = desk.publish()
    assert desk.ask("batch", [ending(DELETE, number, LEASED_ONLY)], 0)[1] == ((NO_MESSAGE, number),)
    desk.reserve()
    assert desk.ask("batch", [ending(DELETE, number, WAITING_ONLY)], 0)[1] == ((NO_MESSAGE, number),)
    assert desk.ask("batch", [ending(DELETE, number)], 0)[1] == ((OK, number),)


def test_a_release_in_a_batch_obeys_its_rule() -> None:
    desk = Desk(Policy(lease_us=S))
    number = desk.publish()
    assert desk.ask("batch", [ending(RELEASE, number)], 0)[1] == ((NO_MESSAGE, number),)
    desk.reserve()
    assert desk.ask("batch", [ending(RELEASE, number, LEASED_ONLY)], 0)[1] == ((OK, number),)


def test_publishes_count_against_the_limits_on_top_of_one_another() -> None:
    desk = Desk(Policy(max_length=3, max_bytes=10))
    desk.publish(b"1")
    assert desk.ask("batch", [publishing(b"1")] * 3, 0)[0] == codes.FULL
    assert desk.ask("batch", [publishing(b"12345")] * 2, 0)[0] == codes.FULL
    assert desk.ask("batch", [publishing(b"1")] * 2, 0)[0] == OK


def test_publishes_into_a_queue_that_is_not_there_yet_count_on_top_of_one_another_too() -> None:
    desk = Desk(Policy(max_length=2, max_bytes=10))
    assert desk.ask("batch", [publishing(b"1")] * 3, 0)[0] == codes.FULL
    assert desk.ask("batch", [publishing(b"123456")] * 2, 0)[0] == codes.FULL
    assert desk.queue_names() == []
    assert desk.ask("batch", [publishing(b"12345")] * 2, 0)[0] == OK


def test_limits_count_by_queue() -> None:
    desk = Desk(Policy(max_length=1))
    assert desk.ask("batch", [publishing(queue=name) for name in (b"a", b"b", b"c")], 0)[0] == OK


def test_a_twin_within_the_batch_or_before_it_is_a_duplicate() -> None:
    desk = Desk(Policy(dedup_us=S))
    known = desk.publish(origin=origin(dedup_id=b"known"))
    calls = [publishing(origin=origin(dedup_id=dedup_id)) for dedup_id in (b"known", b"new", b"new")]
    _, outcomes = desk.ask("batch", calls, 0)
    assert outcomes == ((codes.DUPLICATE, known), (OK, known + 1), (codes.DUPLICATE, known + 1))


def test_rows_that_were_published_are_left_out_and_the_rest_is_published() -> None:
    desk = Desk()
    last = desk.publish(origin=origin(mark=b"list", row=20))
    calls = [publishing(origin=origin(mark=b"list", row=row)) for row in (10, 20, 30, 25, 40)]
    _, outcomes = desk.ask("batch", calls, 0)
    assert outcomes == (
        (codes.ALREADY, 20), (codes.ALREADY, 20), (OK, last + 1), (codes.ALREADY, 30), (OK, last + 2)
    )  # fmt: skip


def test_a_refused_batch_moves_no_mark() -> None:
    desk = Desk(Policy(max_length=1))
    calls = [publishing(origin=origin(mark=b"list", row=row)) for row in (1, 2)]
    assert desk.ask("batch", calls, 0)[0] == codes.FULL
    assert desk.ask("batch", calls[:1], 0)[0] == OK


def test_rows_that_were_published_make_no_queue_and_need_no_room() -> None:
    desk = Desk(Policy(max_length=1))
    desk.publish(origin=origin(mark=b"list", row=2))
    calls = [publishing(queue=name, origin=origin(mark=b"list", row=1)) for name in (b"q", b"new")]
    assert desk.ask("batch", calls, 0) == (OK, ((codes.ALREADY, 2), (codes.ALREADY, 2)))
    assert b"new" not in desk.engine.state().queues


def test_a_message_that_goes_elsewhere_is_one_commit() -> None:
    """Redrive: publish and delete, both or neither."""
    desk = Desk()
    number = desk.publish(queue=b"dead")
    desk.engine.record.clear()
    desk.ask("batch", [publishing(queue=b"q"), ending(DELETE, number, queue=b"dead")], 0)
    assert [int(fact.kind) for fact in desk.facts()] == [facts.DECLARED, facts.PUBLISHED, facts.DELETED]


def test_what_a_batch_publishes_goes_to_those_who_wait() -> None:
    desk = Desk()
    desk.set()
    desk.take(wait_us=60 * S)
    waiting = desk.token
    _, outcomes = desk.ask("batch", [publishing(), publishing()], 0)
    assert desk.handed_out(waiting) == outcomes[0][1]


def test_a_failed_release_in_a_batch_drops_with_its_dead_letter() -> None:
    desk = Desk(Policy(attempts=1, dead_letter=b"dead"))
    number = desk.publish()
    desk.reserve()
    desk.ask("batch", [ending(RELEASE, number, failed=True)], 0)
    assert desk.counts(b"dead")["ready"] == 1


def test_an_empty_batch_is_done() -> None:
    assert Desk().ask("batch", [], 0) == (OK, ())
