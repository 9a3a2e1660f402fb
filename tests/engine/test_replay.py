"""Facts back into State: the same state comes out, and a fact that cannot follow on those before it is refused."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from penstock.codecs.facts import BadFact, Fact, read_facts
from penstock.engine.engine import Engine
from penstock.engine.lifecycle import BEFORE
from penstock.engine.replay import Silence
from penstock.engine.rules import PolicyBook
from penstock.model import facts
from penstock.model.message import DELAYED, LEASED, PARKED, READY, Message
from penstock.model.policy import Policy
from tests.engine.clients import Recorder
from tests.engine.desk import START_US, Desk, S, origin
from tests.engine.dumps import dump_state, settled
from tests.fields import fields


def replayed(past: list[Fact]) -> Engine:
    engine = Engine(PolicyBook([(b"*", Policy())]), Recorder())
    for fact in past:
        engine.replay(fact)
    return engine


def begun() -> tuple[Desk, list[Fact]]:
    """A desk with its first fact, which a replay needs as well."""
    desk = Desk()
    engine = Engine(PolicyBook(), Recorder())
    engine.start(START_US, b"")
    record = engine.record
    return desk, read_facts(record.payload(), 1, record.heap_bytes(), 1, START_US)


def test_everything_that_can_be_told_comes_back() -> None:
    desk, past = begun()
    desk.set(dedup_us=60 * S, attempts=2, dead_letter=b"dead", backoff_us=(S,))
    told = origin(poster=7, label=42, notify=127, trace=b"t", dedup_id=b"d", foreign_id=b"f", principal=b"p")
    told.deliveries, told.first_leased_us = 4, START_US - 9 * S
    desk.publish(b"text", key=b"", priority=-3, ttl_us=900 * S, lease_us=5 * S, origin=told)
    desk.publish(key=b"k", parked=True)
    desk.publish(delay_us=S)
    past += desk.facts()
    for _ in range(3):
        desk.reserve(holder=7, old_place=True)
        past += desk.facts()
        desk.pass_time(7 * S)
        past += desk.facts()
    desk.ask("pause", b"q", 0)
    past += desk.facts()
    standby = replayed(past).state()
    settled(standby, desk.now_us())
    assert dump_state(standby) == dump_state(desk.engine.state())


def test_replay_does_not_need_to_be_told_that_a_delay_is_over() -> None:
    desk, past = begun()
    number = desk.publish(delay_us=S)
    past += desk.facts()
    desk.pass_time(S)
    desk.reserve(lease_us=S)
    past += desk.facts()
    assert replayed(past).state().messages[number].place == LEASED


def test_nothing_is_recorded_while_replaying() -> None:
    desk, past = begun()
    desk.publish()
    engine = replayed(past + desk.facts())
    assert engine.record.count == 0
    assert isinstance(engine.state().record, Silence)


# -- what cannot follow


def refused(past: list[Fact], fact: Fact) -> str:
    engine = replayed(past)
    with pytest.raises(BadFact) as error:
        engine.replay(fact)
    return str(error.value)


def made(like: Fact, **changes: int) -> Fact:
    fact = Fact()
    for name in fields(Fact):
        setattr(fact, name, changes.get(name, getattr(like, name)))
    return fact


def one_published() -> tuple[list[Fact], Fact]:
    desk, past = begun()
    desk.publish()
    past += desk.facts()
    return past, past[-1]


Change = Callable[[Fact], Fact]
IMPOSSIBLE: list[tuple[str, Change]] = [
    ("older than the one before", lambda like: made(like, at_us=like.at_us - 1)),
    ("of the unknown kind 99", lambda like: made(like, kind=99)),
    ("publishes message .* again", lambda like: like),
    ("publishes message .* again", lambda like: made(like, message=like.message - 1)),
    ("queue 9, which is not there", lambda like: made(like, message=like.message + 1, queue_id=9)),
    ("which is not live in its queue", lambda like: made(like, kind=facts.LEASED, message=like.message + 1)),
    ("queue 9, which is not there", lambda like: made(like, kind=facts.LEASED, queue_id=9)),
    ("queue 9, which is not there", lambda like: made(like, kind=facts.PAUSED, queue_id=9)),
    ("declares a queue that is there", lambda like: made(like, kind=facts.DECLARED, queue_id=1)),
    ("still holds messages", lambda like: made(like, kind=facts.REMOVED)),
    ("goes back to message", lambda like: made(like, kind=facts.STARTED)),
    ("cannot follow on a message that is ready", lambda like: made(like, kind=facts.RELEASED, reason=facts.RETURNED)),
    ("cannot follow on a message that is ready", lambda like: made(like, kind=facts.FINISHED, reason=facts.PURGED)),
]


@pytest.mark.parametrize(("words", "change"), IMPOSSIBLE)
def test_a_fact_that_cannot_follow_is_refused(words: str, change: Change) -> None:
    past, published = one_published()
    assert re.search(words, refused(past, change(published)))


def test_a_message_of_another_queue_is_not_meant() -> None:
    desk, past = begun()
    desk.publish(queue=b"other")
    desk.publish()
    past += desk.facts()
    assert "not live in its queue" in refused(past, made(past[-1], kind=facts.LEASED, queue_id=1))


def test_an_ended_message_has_no_later_facts() -> None:
    desk, past = begun()
    desk.publish()
    desk.take()
    past += desk.facts()
    assert "not live" in refused(past, past[-1])


PLACES: dict[int, Callable[[Desk], int]] = {
    READY: lambda desk: desk.publish(),
    DELAYED: lambda desk: desk.publish(delay_us=S),
    PARKED: lambda desk: desk.publish(key=b"k", parked=True),
    LEASED: lambda desk: (desk.publish(), int(desk.reserve(lease_us=S)))[0],
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("turn", [turn for turn in BEFORE if turn[0] != facts.PUBLISHED])
def test_the_lifecycle_table_is_what_is_allowed(turn: tuple[int, int], place: int) -> None:
    """Every kind and reason on a message in every place: refused where the table does not have it."""
    desk, past = begun()
    number = PLACES[place](desk)
    past += desk.facts()
    kind, reason = turn
    fact = made(past[-1], kind=kind, reason=reason, message=number, flags=0, due_us=START_US + S)
    if place in BEFORE[turn]:
        assert isinstance(replayed([*past, fact]), Engine)
    else:
        assert "cannot follow" in refused(past, fact)


def test_silence_keeps_nothing() -> None:
    silence = Silence()
    message = Message(1, 1, b"body", 0, 0)
    silence.published(message)
    silence.moved(facts.LEASED, message, 1, 0, 0, 0, 0, 0)
    silence.queue_changed(facts.DECLARED, 1, 1, b"q", b"")
    silence.server_changed(facts.STARTED, 1, b"")
    assert (silence.count, silence.payload()) == (0, b"")
