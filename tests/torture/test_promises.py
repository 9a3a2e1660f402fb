"""What was told before a cut, held against what is there after it: each law can be seen broken."""

from __future__ import annotations

import time

import pytest

from torture.crowd.history import LOST, RESURRECTED, Life, tally
from torture.power.promises import HOLE, LATE, Promises


@pytest.fixture
def told() -> Promises:
    return Promises(2.0, "sync")


@pytest.fixture
def written() -> Promises:
    return Promises(2.0, "write")


def publish(promises: Promises, body: bytes) -> Life:
    life = promises.publishing(body, 0.0, time.monotonic())
    promises.published(life, b"deferred " + body)
    return life


def reserve(promises: Promises, life: Life) -> None:
    now_s = time.monotonic()
    promises.delivered(b"deferred " + life.body, life.body, now_s, now_s)


def finish(promises: Promises, life: Life) -> None:
    promises.finishing(life)
    promises.finished(life)


def kinds(promises: Promises) -> list[str]:
    return [line.partition(":")[0] for line in promises.broken]


def test_what_is_there_as_it_was_told_breaks_no_law(told: Promises) -> None:
    finish(told, publish(told, b"gone"))
    publish(told, b"stays")
    told.settle({b"stays"})
    assert told.broken == []


def test_what_was_told_at_sync_must_be_there(told: Promises) -> None:
    publish(told, b"a")
    told.settle(set())
    assert kinds(told) == [LOST]
    assert told.lost == 1


def test_what_was_finished_must_not_be_there(told: Promises) -> None:
    finish(told, publish(told, b"a"))
    told.settle({b"a"})
    assert kinds(told) == [RESURRECTED]
    assert told.returned == 1


def test_what_was_not_answered_may_be_there_or_not(told: Promises) -> None:
    told.publishing(b"one", 0.0, time.monotonic())
    told.publishing(b"other", 0.0, time.monotonic())
    told.finishing(publish(told, b"third"))
    told.settle({b"one"})
    assert told.broken == []


def test_once_it_is_known_what_was_in_doubt_stays_so(told: Promises) -> None:
    told.publishing(b"is there", 0.0, time.monotonic())
    gone = told.publishing(b"is not", 0.0, time.monotonic())
    told.settle({b"is there"})
    reserve(told, gone)
    told.settle(set())
    assert tally(tuple(told.broken))[LOST] == 1
    assert tally(tuple(told.broken))["wrong body"] == 1


def test_at_write_losses_are_counted_and_break_no_law(written: Promises) -> None:
    finish(written, publish(written, b"finished"))
    publish(written, b"lost")
    written.settle({b"finished"})
    assert (written.lost, written.returned, written.broken) == (1, 1, [])


def test_at_write_whatever_came_after_a_loss_must_be_lost_too(written: Promises) -> None:
    publish(written, b"first")
    publish(written, b"second")
    written.settle({b"second"})
    assert kinds(written) == [HOLE]


def test_what_was_under_way_at_the_same_time_may_have_come_before(written: Promises) -> None:
    one = written.publishing(b"one", 0.0, time.monotonic())
    other = written.publishing(b"other", 0.0, time.monotonic())
    written.published(one, b"")
    written.published(other, b"")
    written.settle({b"other"})
    assert (written.lost, written.broken) == (1, [])


def test_after_a_cut_at_write_a_lease_may_be_gone(written: Promises) -> None:
    life = publish(written, b"a")
    reserve(written, life)
    written.settle({b"a"})
    reserve(written, life)
    assert written.broken == []


def test_after_a_cut_at_sync_a_lease_still_holds(told: Promises) -> None:
    life = publish(told, b"a")
    reserve(told, life)
    told.settle({b"a"})
    reserve(told, life)
    assert kinds(told) == ["twice at once"]


def test_nothing_asked_for_after_the_cut_may_be_granted(told: Promises) -> None:
    before = publish(told, b"before")
    asked = told.publishing(b"asked before", 0.0, time.monotonic())
    told.cut_s = time.monotonic()
    told.published(asked, b"")
    assert told.broken == []
    publish(told, b"after")
    reserve(told, before)
    told.releasing(before)
    told.released(before, 0.0)
    reserve(told, before)
    finish(told, before)
    assert kinds(told) == [LATE] * 5
    assert told.late == 5


def test_what_was_taken_was_asked_for_before(told: Promises) -> None:
    publish(told, b"a")
    sent_s = time.monotonic()
    told.cut_s = time.monotonic()
    told.taken(b"rsmq a", b"a", sent_s, time.monotonic())
    assert told.broken == []


def test_whoever_is_told_of_anothers_finish_has_not_asked_for_it(told: Promises) -> None:
    life = publish(told, b"a")
    told.finishing(life)
    told.cut_s = time.monotonic()
    told.noticed(life, time.monotonic())
    told.finished(life)
    assert told.broken == []


def test_after_the_cut_a_refusal_is_no_promise(told: Promises) -> None:
    life = publish(told, b"a")
    told.cut_s = time.monotonic()
    told.finishing(life)
    told.finish_refused(life, time.monotonic())
    assert told.broken == []


def test_what_nobody_published_must_not_be_there(told: Promises) -> None:
    told.settle({b"from nowhere"})
    assert kinds(told) == ["wrong body"]
