"""The sums of the story notice a message that was lost, doubled, left behind or handed out without an end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from demo import accounts, sums
from demo.orders import ORDERS, Order, all_orders

Fact = dict[str, Any]


def fact(kind: str, order: Order, *, failure: bool = False, again: str = "") -> Fact:
    named = {"queue": ORDERS, "message": order.body + again, "body": order.body}
    return {"kind": kind, "dialect": "etzel", "failure": failure, **named}


def life(order: Order) -> list[Fact]:
    """As it should be: a poisoned order is dropped and replayed, any other is finished at once."""
    facts = [fact("published", order), fact("leased", order)]
    if order.kind != "poison":
        return [*facts, fact("finished", order)]
    replayed = {**fact("published", order, again=" replayed"), "mark": "a replay"}
    return [
        *facts,
        fact("dropped", order, failure=True),
        replayed,
        fact("leased", order, again=" replayed"),
        fact("finished", order, again=" replayed"),
    ]


def story() -> list[Fact]:
    server: Fact = {"kind": "started", "dialect": "server"}
    elsewhere: Fact = {**fact("published", all_orders()[0]), "queue": "receipts"}
    return [server, elsewhere, *(each for order in all_orders() for each in life(order))]


def broken(facts: list[Fact], repeated: list[Order]) -> list[str]:
    return [what for what, holds in sums.checks(accounts.Accounts(facts), all_orders(), repeated) if not holds]


def test_a_story_as_it_should_be_adds_up() -> None:
    assert broken(story(), []) == []
    table = sums.rows(accounts.Accounts(story()), [])
    assert [row[0] for row in table] == ["deferred", "pinpriq", "etzel", "glovebox", "rsmq", "Python", "all"]
    assert table[-1][1:] == (384, 0, 396, 12, 396, 12, 12, 384)


def lose(facts: list[Fact]) -> None:
    gone = next(each["message"] for each in facts if each["kind"] == "finished")
    facts[:] = [each for each in facts if each.get("message") != gone]


def double(facts: list[Fact]) -> None:
    order = all_orders()[0]
    facts += [fact(kind, order, again=" twice") for kind in ("published", "leased", "finished")]


def leave_behind(facts: list[Fact]) -> None:
    facts.remove(next(each for each in facts if each["kind"] == "finished"))


def hand_out_once_more(facts: list[Fact]) -> None:
    facts.insert(-1, fact("leased", all_orders()[-1]))


def replay_none(facts: list[Fact]) -> None:
    facts[:] = [each for each in facts if not each.get("message", "").endswith(" replayed")]


@pytest.mark.parametrize("spoil", [lose, double, leave_behind, hand_out_once_more, replay_none])
def test_a_story_that_was_spoilt_does_not(spoil: Callable[[list[Fact]], None]) -> None:
    facts = story()
    spoil(facts)
    assert broken(facts, []) != []


def test_what_was_sent_twice_may_be_there_twice() -> None:
    facts = story()
    double(facts)
    assert broken(facts, [all_orders()[0]]) == []


def test_what_was_given_back_is_no_failure() -> None:
    order = all_orders()[0]
    facts = [*story(), *(fact(kind, order, again=" twice") for kind in ("published", "leased", "released", "leased"))]
    assert "handed out = finished + failures + 1 given back" in broken(facts, [order])
    assert broken([*facts, fact("finished", order, again=" twice")], [order]) == []
