"""Tables that do not agree with what clients were told are found out, whatever the difference."""

from __future__ import annotations

import pytest

from torture.agreement import ACKNOWLEDGED, EXPIRED, FINISHED, TAKEN, Row, compared, digest, told
from torture.crowd.history import History, Life

BODIES = (b"a", b"b", b"c")


@pytest.fixture
def history() -> History:
    """Three messages, delivered and finished; all of it was told."""
    history = History(2.0, finals=True)
    for body in BODIES:
        life = history.publishing(body, 0.0, 0.0)
        life.dialect = "deferred"
        history.published(life, b"deferred " + body)
        history.delivered(b"deferred " + body, body, 1.0, 1.0)
        history.finishing(life)
        history.finished(life)
    return history


def row(life: Life) -> Row:
    return Row(digest(life.body), len(life.body), FINISHED, ACKNOWLEDGED, 1, "deferred", 500_000)


@pytest.fixture
def rows(history: History) -> list[Row]:
    return [row(life) for life in history.lives.values()]


def found(rows: list[Row], history: History) -> str:
    """The one difference there is."""
    [words] = compared(rows, history)
    return words


def test_tables_that_say_what_was_told_differ_in_nothing(history: History, rows: list[Row]) -> None:
    assert [*compared(rows, history)] == []
    assert [*told("published", {"deferred": 3}, history)] == []


def test_a_message_that_the_tables_lack(history: History, rows: list[Row]) -> None:
    assert "in no table: b'c'" in found(rows[:2], history)


def test_a_message_that_nobody_was_told_of_may_be_there_or_not(history: History, rows: list[Row]) -> None:
    life = history.publishing(b"d", 0.0, 0.0)
    life.dialect, life.finish_sent = "deferred", True
    assert [*compared(rows, history)] == []
    assert [*compared([*rows, row(life)], history)] == []


def test_a_message_that_nobody_published(history: History, rows: list[Row]) -> None:
    del history.lives[b"b"]
    assert "nobody published it" in found(rows, history)


def test_one_message_that_is_two(history: History, rows: list[Row]) -> None:
    assert "2 lives are one message: b'a'" in found([*rows, rows[0]], history)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"size": 2}, "not of its size"),
        ({"dialect": "etzel"}, "published in deferred"),
        ({"deliveries": 0}, "1 deliveries were told"),
        ({"outcome": "open", "reason": ""}, "it must have finished"),
        ({"outcome": "dropped", "reason": "timed out"}, "it must have finished"),
    ],
)
def test_a_life_that_was_another(history: History, rows: list[Row], wrong: dict[str, object], words: str) -> None:
    assert found([rows[0]._replace(**wrong), *rows[1:]], history).startswith(words)  # type: ignore[arg-type]


def test_what_was_left_over_and_what_nobody_finished(history: History, rows: list[Row]) -> None:
    life = history.lives[b"a"]
    life.finished = life.finish_sent = False
    assert found(rows, history).startswith("nobody asked to finish it")
    left = rows[0]._replace(outcome="open", reason="")
    assert found([left, *rows[1:]], history).startswith("everything was worked off")


def test_what_has_a_time_to_live_may_have_expired_and_not_before(history: History, rows: list[Row]) -> None:
    history.lives[b"a"].ttl_s = 0.5
    rows[0] = rows[0]._replace(outcome=EXPIRED, reason="")
    assert [*compared(rows, history)] == []
    rows[0] = rows[0]._replace(life_us=499_999)
    assert found(rows, history).startswith("it had 0.5 s to live")


def test_what_was_taken_was_told_or_asked_for(history: History, rows: list[Row]) -> None:
    life = history.lives[b"a"]
    life.finished = life.finish_sent = False
    rows[0] = rows[0]._replace(reason=TAKEN)
    assert found(rows, history).startswith("taken, and nobody's answer was lost")
    history.taking("glovebox")
    assert [*compared(rows, history)] == []


def test_a_sum_that_is_off_by_one(history: History) -> None:
    [words] = told("delivered", {"deferred": 2, "etzel": 7}, history)
    assert words == "3 were told delivered in deferred, 2 are in the tables"
