"""Marks: how far a list has been published, by its name. They never go back, outlast a restart, and are bounded."""

from __future__ import annotations

from penstock.engine.engine import Engine
from penstock.engine.marks import Marks
from penstock.engine.rules import PolicyBook
from penstock.model import codes
from penstock.model.limits import MARKS_MAX
from tests.engine.clients import Recorder
from tests.engine.desk import OK, Desk, origin


def test_a_mark_is_passed_by_rows_up_to_its_own() -> None:
    marks = Marks()
    marks.move(b"list", 20)
    assert [marks.passed(origin(mark=b"list", row=row)) for row in (1, 19, 20, 21)] == [True, True, True, False]
    assert not marks.passed(origin(mark=b"other", row=1))
    assert not marks.passed(origin())


def test_a_mark_never_goes_back() -> None:
    marks = Marks()
    marks.move(b"list", 20)
    marks.move(b"list", 10)
    assert marks.row(b"list") == 20


def test_of_too_many_the_one_that_was_moved_longest_ago_is_forgotten() -> None:
    marks = Marks()
    for number in range(MARKS_MAX):
        marks.move(b"%d" % number, 1)
    marks.move(b"0", 2)
    marks.move(b"new", 1)
    assert len(marks) == MARKS_MAX
    assert (marks.row(b"0"), marks.row(b"1"), marks.row(b"new")) == (2, 0, 1)


def test_a_row_is_published_once_whatever_has_become_of_it_and_whichever_queue_it_is_for() -> None:
    desk = Desk()
    desk.finish(desk.publish(origin=origin(mark=b"list", row=7)))
    assert desk.try_publish(origin=origin(mark=b"list", row=7)) == (codes.ALREADY, (None, 7))
    assert desk.try_publish(queue=b"other", origin=origin(mark=b"list", row=5)) == (codes.ALREADY, (None, 7))
    assert desk.try_publish(origin=origin(mark=b"list", row=8))[0] == OK
    assert desk.try_publish(origin=origin(mark=b"another list", row=7))[0] == OK


def test_marks_outlast_a_restart() -> None:
    desk = Desk()
    desk.publish(origin=origin(mark=b"list", row=7))
    again = Engine(PolicyBook([]), Recorder())
    for fact in desk.facts():
        again.replay(fact)
    assert again.state().marks.rows() == {b"list": 7}


def test_a_dead_letter_is_no_row() -> None:
    desk = Desk()
    number = desk.publish(origin=origin(mark=b"list", row=7))
    desk.reserve()
    desk.set(attempts=1, dead_letter=b"dead")
    desk.ask("release", b"q", number, 0, True, 0, 0, 0)
    dead = next(message for message in desk.engine.state().messages.values())
    assert dead.origin is not None
    assert (dead.origin.dead_of, dead.origin.mark, dead.origin.row) == (number, b"", 0)
