"""The lifecycle table has a row for everything that can happen, and docs/lifecycle.md is made from it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.engine.lifecycle import BEFORE, LIVE, TURNS, WAITING, Turn
from penstock.engine.reference import lifecycle_markdown
from penstock.model import facts, stages
from penstock.model.message import DELAYED, LEASED, PARKED, READY
from penstock.model.policy import Policy
from tests.engine.desk import Desk, S, origin

PAGE = Path(__file__).parents[2] / "docs" / "lifecycle.md"

# Of queues and of the server; all other kinds are turns of a message's life.
NOT_OF_A_MESSAGE = {
    facts.STARTED, facts.WOKEN, facts.DECLARED, facts.SET, facts.REMOVED, facts.PAUSED, facts.RESUMED,
}  # fmt: skip


def test_there_is_a_row_for_every_kind_of_fact_of_a_message_and_for_every_reason() -> None:
    assert {turn.fact for turn in TURNS} == set(facts.FACT_NAMES) - NOT_OF_A_MESSAGE
    assert {turn.reason for turn in TURNS} == set(facts.REASON_NAMES)


def test_no_two_rows_have_the_same_fact_and_reason() -> None:
    assert len(BEFORE) == len(TURNS)


def test_live_is_waiting_or_leased() -> None:
    assert set(LIVE) == {*WAITING, LEASED}
    assert set(WAITING) == {DELAYED, READY, PARKED}


def test_every_stage_is_told_by_some_turn() -> None:
    assert {stage for turn in TURNS for stage in turn.told} == set(range(len(stages.STAGES)))


def test_only_leases_come_back_and_a_parked_message_is_never_leased() -> None:
    for turn in TURNS:
        if turn.fact in (facts.RELEASED, facts.DROPPED):
            assert turn.before == (LEASED,)
        if turn.fact == facts.LEASED:
            assert set(turn.before) == {DELAYED, READY}


TOLD = [turn for turn in TURNS if turn.fact != facts.PUBLISHED]


@pytest.mark.parametrize("turn", TOLD, ids=lambda turn: turn.event)
def test_a_poster_is_told_what_the_row_says(turn: Turn) -> None:
    """Each turn, brought about, with a poster who asked for everything."""
    desk = Desk(Policy(lease_us=60 * S, attempts=1 if turn.fact == facts.DROPPED else 0))
    number = desk.publish(origin=origin(poster=7, label=42, notify=127), ttl_us=S if turn.fact == facts.EXPIRED else -1)
    if turn.before == (LEASED,):
        desk.reserve()
    desk.notices()
    desk.facts()
    bring_about(desk, number, turn.fact, turn.reason)
    assert [stage for stage, _ in desk.notices()] == list(turn.told)
    assert (turn.fact, turn.reason) in [(int(fact.kind), int(fact.reason)) for fact in desk.facts()]


def bring_about(desk: Desk, number: int, fact: int, reason: int) -> None:
    if reason == facts.TIMED_OUT or fact == facts.EXPIRED:
        desk.pass_time(60 * S)
    elif reason in (facts.RETURNED, facts.FAILED):
        desk.release(number, failed=reason == facts.FAILED)
    elif reason == facts.ACKNOWLEDGED:
        desk.finish(number)
    elif reason == facts.TAKEN:
        desk.take()
    elif fact == facts.LEASED:
        desk.reserve()
    elif fact == facts.EXTENDED:
        desk.extend(number, S)
    elif reason == facts.DELETED_ONE:
        desk.ask("delete", b"q", number, 0)
    else:
        desk.ask("purge" if reason == facts.PURGED else "remove", b"q", 0)


def test_the_page_is_what_the_table_makes() -> None:
    """`make docs` writes it."""
    assert PAGE.read_text(encoding="utf-8") == lifecycle_markdown()


def test_the_page_has_a_row_for_every_turn() -> None:
    rows = re.findall(r"^\| (.+?) \|", lifecycle_markdown(), re.MULTILINE)
    assert rows == ["event", *(turn.event for turn in TURNS)]
