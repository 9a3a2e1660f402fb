"""The verbs on messages: each changes something and says so at its stage, or changes nothing and says so at once.

What rests on a fact that may be as young, and is built on like a change, waits for the stage too."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.model import codes, stages
from penstock.model.options import ANY_LIVE, HOLDER_ONLY, LEASED_ONLY, Publishing, Reserving, Taking
from penstock.model.policy import Policy
from tests.engine.desk import Desk, S, origin

CREATE, FOUND = Publishing(), Publishing(create=False)
TWIN = Publishing(origin=origin(dedup_id=b"once"))
SECOND_ROW = Publishing(origin=origin(mark=b"list", row=2))

# verb, its arguments with the message's number in place of NUMBER, code, and whether it waits for its stage
NUMBER = object()
CALLS: list[tuple[str, tuple[Any, ...], int, bool]] = [
    ("publish", (b"q", b"body", 0, CREATE), codes.OK, True),
    ("publish", (b"q", b"body", 0, TWIN), codes.DUPLICATE, True),
    ("publish", (b"q", b"body", 0, SECOND_ROW), codes.ALREADY, True),
    ("publish", (b"nowhere", b"body", 0, FOUND), codes.NO_QUEUE, False),
    ("publish", (b"q", bytes(101), 0, CREATE), codes.TOO_LARGE, False),
    ("reserve", (b"q", Reserving()), codes.OK, True),
    ("reserve", (b"q", Reserving(max=2)), codes.OK, True),
    ("reserve", (b"empty", Reserving()), codes.EMPTY, False),
    ("reserve", (b"empty", Reserving(max=2)), codes.EMPTY, False),
    ("reserve", (b"nowhere", Reserving()), codes.NO_QUEUE, False),
    ("take", (b"q", Taking()), codes.OK, True),
    ("take", (b"q", Taking(mates=True)), codes.OK, True),
    ("take", (b"empty", Taking()), codes.EMPTY, False),
    ("take", (b"nowhere", Taking(mates=True)), codes.NO_QUEUE, False),
    ("finish", (b"q", NUMBER, ANY_LIVE, 0), codes.OK, True),
    ("finish", (b"q", 1, ANY_LIVE, 0), codes.NO_MESSAGE, True),
    ("finish", (b"q", NUMBER, LEASED_ONLY, 0), codes.NO_MESSAGE, False),
    ("finish", (b"q", NUMBER, HOLDER_ONLY, 0), codes.NO_MESSAGE, False),
    ("release", (b"q", NUMBER, 0, False, ANY_LIVE, 0), codes.NO_MESSAGE, False),
    ("extend", (b"q", NUMBER, S, ANY_LIVE, 0), codes.OK, True),
    ("extend", (b"q", 1, S, ANY_LIVE, 0), codes.NO_MESSAGE, False),
    ("delete", (b"q", NUMBER), codes.OK, True),
    ("delete", (b"nowhere", NUMBER), codes.NO_MESSAGE, False),
    ("batch", ([],), codes.OK, True),
    ("declare", (b"new", Policy()), codes.OK, True),
    ("declare", (b"q", Policy()), codes.QUEUE_EXISTS, True),
    ("set", (b"q", Policy(lease_us=S)), codes.OK, True),
    ("set", (b"q", Policy(lease_us=-1)), codes.BAD_POLICY, False),
    ("purge", (b"q",), codes.OK, True),
    ("remove", (b"q",), codes.OK, True),
    ("pause", (b"q",), codes.OK, True),
    ("resume", (b"nowhere",), codes.NO_QUEUE, False),
]


@pytest.mark.parametrize("stage", [stages.READY, stages.WRITE, stages.SYNC])
@pytest.mark.parametrize(("verb", "arguments", "code", "waits"), CALLS)
def test_a_change_waits_for_its_stage_and_a_refusal_for_nothing(
    verb: str, arguments: tuple[Any, ...], code: int, waits: bool, stage: int
) -> None:
    desk = Desk(Policy(max_body=100, dedup_us=S))
    desk.set(b"empty")
    desk.publish(b"body", b"rows", origin=origin(mark=b"list", row=2))
    number = desk.publish(origin=origin(dedup_id=b"once"))
    desk.out.said.clear()
    desk.engine.record.clear()
    said = [number if argument is NUMBER else argument for argument in arguments]
    assert desk.ask(verb, *said, stage)[0] == code
    assert [stage for stage, _ in desk.out.said] == [stage if waits else stages.READY]
    assert waits or desk.engine.record.count == 0


def test_a_waiter_is_answered_at_the_stage_it_asked_for() -> None:
    desk = Desk(Policy(lease_us=S))
    desk.set()
    desk.ask("reserve", b"q", Reserving(wait_us=S), stages.SYNC)
    desk.out.said.clear()
    desk.publish()
    assert [stage for stage, _ in desk.out.said] == [stages.SYNC, stages.READY]


def test_a_publish_says_nothing_where_the_queue_has_something_to_say() -> None:
    desk = Desk(Policy(delay_us=S, ttl_us=5 * S))
    unsaid = desk.message(desk.publish())
    said = desk.message(desk.publish(delay_us=0, ttl_us=0))
    assert (unsaid.ready_us - unsaid.published_us, unsaid.expires_us - unsaid.published_us) == (S, 5 * S)
    assert said.ready_us == said.published_us
    assert said.expires_us > desk.now_us() + 10**6 * S


def test_numbers_count_up_over_all_queues() -> None:
    desk = Desk()
    numbers = [desk.publish(queue=queue) for queue in (b"a", b"b", b"a")]
    assert numbers == list(range(numbers[0], numbers[0] + 3))
