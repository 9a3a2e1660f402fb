"""No cost grows with the backlog, the delayed messages, the leases, the queues or those who wait.

Work is counted in executed lines of Python, not in time: a hundred times as much of anything may cost a few more steps
of a bisection, and no more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import pytest

from penstock.engine import engine
from penstock.model.limits import NEVER_US
from penstock.model.options import ANY_LIVE, Publishing, Reserving, Taking
from penstock.model.policy import Policy
from tests.engine.clients import Client
from tests.engine.desk import Desk, S

FEW, MANY = 1_000, 100_000
ROUNDS = 300

pytestmark = pytest.mark.skipif(not engine.__file__.endswith(".py"), reason="compiled code has no lines to count")

PLAIN, PARKED = Publishing(), Publishing(key=b"k", parked=True)


def lines(call: Callable[[], None]) -> int:
    """How many lines run."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


# -- what there is much of


def backlog(desk: Desk, count: int) -> None:
    for number in range(count):
        desk.engine.publish(desk.one, 0, b"q", b"", 0, Publishing(priority=number % 3), 0)


def delayed(desk: Desk, count: int) -> None:
    for number in range(count):
        desk.engine.publish(desk.one, 0, b"q", b"", S + number * 1_000, PLAIN, 0)


def leased(desk: Desk, count: int) -> None:
    for number in range(count):
        desk.engine.publish(desk.one, 0, b"held", b"", 0, PLAIN, 0)
        desk.engine.reserve(desk.one, 0, b"held", Reserving(lease_us=60 * S + number * 1_000), 0)


def mates(desk: Desk, count: int) -> None:
    for _ in range(count):
        desk.engine.publish(desk.one, 0, b"q", b"", 0, PARKED, 0)


def queues(desk: Desk, count: int) -> None:
    for number in range(count):
        desk.engine.publish(desk.one, 0, b"queue %d" % number, b"", 0, PLAIN, 0)


def waiters(desk: Desk, count: int) -> None:
    desk.set(b"other")
    for number in range(count):
        desk.engine.reserve(Client("waiter"), 0, b"other", Reserving(wait_us=60 * S + number), 0)


def subscribers(desk: Desk, count: int) -> None:
    for _ in range(count):
        client = Client("subscriber")
        desk.engine.subscribe(client, b"other")
        desk.engine.credit(client, 0)


def desk_with(much: Callable[[Desk, int], None], count: int) -> Desk:
    desk = Desk(Policy(lease_us=S))
    desk.set()
    much(desk, count)
    desk.out.said.clear()
    desk.engine.record.clear()
    return desk


# -- what is done; everything is left as it was found


def publish_reserve_finish(desk: Desk) -> None:
    for _ in range(ROUNDS):
        desk.engine.publish(desk.one, 0, b"q", b"", 0, Publishing(priority=9), 0)
        number = desk.engine.state().next_seq - 1
        desk.engine.reserve(desk.one, 0, b"q", Reserving(), 0)
        desk.engine.finish(desk.one, 0, b"q", number, ANY_LIVE, 0, 0)


def publish_at_the_tail_and_delete(desk: Desk) -> None:
    for _ in range(ROUNDS):
        desk.engine.publish(desk.one, 0, b"q", b"", 0, PLAIN, 0)
        desk.engine.delete(desk.one, 0, b"q", desk.engine.state().next_seq - 1, 0)


def publish_take_newest_with_mates(desk: Desk) -> None:
    for _ in range(ROUNDS):
        desk.engine.publish(desk.one, 0, b"q", b"", 0, Publishing(priority=9, key=b"own"), 0)
        desk.engine.take(desk.one, 0, b"q", Taking(newest=True, mates=True), 0)


def delay_extend_and_delete(desk: Desk) -> None:
    for _ in range(ROUNDS):
        desk.engine.publish(desk.one, 0, b"q", b"", 900 * S, PLAIN, 0)
        number = desk.engine.state().next_seq - 1
        desk.engine.extend(desk.one, 0, b"q", number, 1_900 * S, ANY_LIVE, 0, 0)
        desk.engine.delete(desk.one, 0, b"q", number, 0)


def wait_and_be_served(desk: Desk) -> None:
    desk.set(b"w")
    for _ in range(ROUNDS):
        desk.engine.reserve(desk.two, 0, b"w", Reserving(wait_us=900 * S), 0)
        desk.engine.wait(desk.three, 0, b"w")
        desk.engine.publish(desk.one, 0, b"w", b"", 0, PLAIN, 0)
        desk.engine.finish(desk.one, 0, b"w", desk.engine.state().next_seq - 1, ANY_LIVE, 0, 0)
        desk.engine.cancel(desk.three)


def ask_for_the_time(desk: Desk) -> None:
    for _ in range(ROUNDS):
        assert desk.engine.next_due() <= NEVER_US
        desk.engine.advance(desk.engine.now_us())


def look_at_one(desk: Desk) -> None:
    for _ in range(ROUNDS):
        desk.engine.peek(desk.one, 0, b"q", 3)
        desk.engine.show_queue(desk.one, 0, b"q")
        desk.engine.show_message(desk.one, 0, 1)


# what there may be much of, and how much is enough to see
MUCH = [
    (backlog, MANY),
    (delayed, MANY),
    (queues, MANY),
    (leased, MANY // 4),
    (mates, MANY // 4),
    (waiters, MANY // 4),
    (subscribers, MANY // 4),
]
DOINGS = [
    publish_reserve_finish,
    publish_at_the_tail_and_delete,
    publish_take_newest_with_mates,
    delay_extend_and_delete,
    wait_and_be_served,
    ask_for_the_time,
    look_at_one,
]


@pytest.mark.parametrize(("much", "many"), MUCH)
def test_no_verb_costs_more_where_there_is_so_much_more(much: Callable[[Desk, int], None], many: int) -> None:
    desks = desk_with(much, FEW), desk_with(much, many)
    for doing in DOINGS:
        few_lines, many_lines = (lines(partial(doing, desk)) / ROUNDS for desk in desks)
        assert many_lines <= 1.3 * few_lines + 40, f"{doing.__name__}: {few_lines}, then {many_lines} lines"


def test_the_measure_would_notice() -> None:
    """The test of the one above: a list of all queues is as long as there are queues, and is seen to be."""
    few, many = (lines(partial(desk_with(queues, count).ask, "list_queues")) for count in (FEW // 10, FEW))
    assert many > 5 * few


def test_a_due_message_costs_the_same_among_many_that_are_not() -> None:
    costs = []
    for count in (FEW, MANY // 4):
        desk = Desk()
        for number in range(count):
            desk.engine.publish(desk.one, 0, b"q", b"", 900 * S + number, PLAIN, 0)
        for number in range(100):
            desk.engine.publish(desk.one, 0, b"q", b"", S + number, PLAIN, 0)
        costs.append(lines(partial(desk.pass_time, 2 * S)))
        assert desk.counts()["ready"] == 100
    assert costs[1] <= 1.3 * costs[0]
