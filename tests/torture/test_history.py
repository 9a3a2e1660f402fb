"""A history notices what it is there for: each law, broken once, is told in its own words; and what is legal is not."""

from __future__ import annotations

import time

import pytest

from torture.crowd.history import (
    BODY,
    DUPLICATE,
    EARLY,
    KINDS,
    LOST,
    RESURRECTED,
    TWICE,
    History,
    Life,
    tally,
)

LEASE_S = 2.0


@pytest.fixture
def history() -> History:
    return History(LEASE_S, finals=True)


def published(history: History, body: bytes = b"a", delay_s: float = 0.0, key: bytes | None = None) -> Life:
    life = history.publishing(body, delay_s, 0.0)
    life.dialect, life.key = "deferred", key
    history.published(life, b"deferred " + body)
    return life


def delivered(history: History, life: Life, at_s: float) -> None:
    history.delivered(b"deferred " + life.body, life.body, at_s, at_s)


def finished(history: History, life: Life) -> None:
    history.finishing(life)
    history.finished(life)


def broken(history: History) -> list[str]:
    return [line.partition(":")[0] for line in history.broken]


# -- lost


def test_what_was_told_published_and_is_nowhere_is_lost(history: History) -> None:
    published(history, b"a"), published(history, b"b")
    history.drained({b"a"})
    assert broken(history) == [LOST]
    assert "b'b'" in history.broken[0]


def test_what_was_not_told_or_may_be_finished_is_not_missed(history: History) -> None:
    history.publishing(b"a", 0.0, 0.0)
    history.finishing(published(history, b"b"))
    history.drained(set())
    assert history.broken == []


def test_a_take_that_nobody_heard_of_explains_one_message(history: History) -> None:
    published(history, b"a"), published(history, b"b")
    history.taking("rsmq")
    history.drained(set())
    assert broken(history) == [LOST]


def test_in_pinpriq_it_explains_all_of_one_key_and_no_other(history: History) -> None:
    for body, key in ((b"a", b"k"), (b"b", b"k"), (b"c", b"l")):
        published(history, body, key=key)
    history.taking("pinpriq")
    history.drained(set())
    assert broken(history) == [LOST]
    assert "b'c'" in history.broken[0]


def test_a_take_that_was_answered_explains_nothing(history: History) -> None:
    published(history)
    history.taking("pinpriq")
    history.take_answered("pinpriq")
    history.drained(set())
    assert broken(history) == [LOST]


def test_what_may_have_expired_is_not_missed(history: History) -> None:
    published(history, b"a").may_expire_s = time.monotonic()
    history.drained(set())
    assert history.broken == []


def test_what_is_held_cannot_be_unknown(history: History) -> None:
    life = published(history)
    delivered(history, life, 1.0)
    history.finishing(life)
    history.finish_refused(life, 1.0 + LEASE_S / 2)
    assert broken(history) == [LOST]


def test_it_can_once_its_lease_may_be_over_or_somebody_else_asked_to_finish_it(history: History) -> None:
    life = published(history)
    delivered(history, life, 1.0)
    history.finishing(life)
    history.finish_refused(life, 1.0 + LEASE_S)
    history.finishing(life)
    history.finish_refused(life, 1.0)
    assert history.broken == []


def test_one_who_had_it_before_may_be_refused_though_somebody_has_it_now(history: History) -> None:
    life = published(history)
    delivered(history, life, 1.0)
    history.finishing(life)
    delivered(history, life, 1.0 + LEASE_S)
    history.finish_refused(life, 1.5 + LEASE_S)
    assert history.broken == []


# -- resurrected


def test_what_was_finished_does_not_come_again(history: History) -> None:
    life = published(history)
    delivered(history, life, 1.0)
    finished(history, life)
    delivered(history, life, time.monotonic() + LEASE_S)
    assert broken(history) == [RESURRECTED]


def test_unless_that_was_under_way(history: History) -> None:
    life = published(history)
    delivered(history, life, 1.0)
    finished(history, life)
    history.delivered(b"deferred a", life.body, 3.0, time.monotonic())
    assert history.broken == []


def test_nor_what_was_taken(history: History) -> None:
    life = published(history)
    history.taken(b"pinpriq ", life.body, 1.0, 1.0)
    delivered(history, life, time.monotonic() + LEASE_S)
    assert broken(history) == [RESURRECTED]


def test_nor_what_its_poster_heard_was_finished(history: History) -> None:
    life = published(history)
    history.noticed(life, 2.0)
    delivered(history, life, 2.1)
    assert broken(history) == [RESURRECTED]


def test_nor_what_has_expired(history: History) -> None:
    life = published(history)
    life.must_expire_s = 3.0
    delivered(history, life, 2.9)
    delivered(history, life, 9.0)
    assert broken(history) == [RESURRECTED]


# -- early, twice


def test_nothing_comes_before_it_is_due(history: History) -> None:
    delivered(history, published(history, delay_s=1.0), 0.99)
    assert broken(history) == [EARLY]


def test_nothing_has_two_holders(history: History) -> None:
    life = published(history)
    delivered(history, life, 1.0)
    delivered(history, life, 0.99 + LEASE_S)
    assert broken(history) == [TWICE]


def test_unless_the_answer_that_is_read_last_is_the_older_one(history: History) -> None:
    life = published(history)
    delivered(history, life, 1.0 + LEASE_S)
    history.delivered(b"deferred a", life.body, 1.0, 1.1 + LEASE_S)
    assert history.broken == []


def test_a_lease_that_is_over_or_given_back_is_no_holder(history: History) -> None:
    life = published(history)
    for at_s in (1.0, 1.0 + LEASE_S):
        delivered(history, life, at_s)
    history.releasing(life)
    delivered(history, life, 3.5)
    history.released(life, 3.4)
    assert history.broken == []


def test_what_was_given_back_for_later_is_not_there_before(history: History) -> None:
    life = published(history)
    delivered(history, life, 1.0)
    history.releasing(life)
    history.released(life, 2.0)
    delivered(history, life, 1.5)
    assert broken(history) == [EARLY]


def test_a_lease_that_was_made_longer_is_as_long(history: History) -> None:
    life = published(history)
    delivered(history, life, 1.0)
    history.releasing(life)
    history.extended(life, 9.0)
    delivered(history, life, 8.0)
    assert broken(history) == [TWICE]


# -- ids, bodies, counts


def test_one_message_is_not_two(history: History) -> None:
    life = published(history)
    history.delivered(b"deferred other", life.body, 1.0, 1.0)
    assert broken(history) == [DUPLICATE]


def test_in_another_dialect_it_has_another_id(history: History) -> None:
    life = published(history)
    history.delivered(b"etzel other", life.body, 1.0, 1.0)
    history.delivered(b"etzel other", life.body, 5.0, 5.0)
    assert history.broken == []


def test_an_id_is_one_messages(history: History) -> None:
    published(history, b"a")
    life = history.publishing(b"b", 0.0, 0.0)
    history.published(life, b"deferred a")
    assert broken(history) == [BODY]


def test_a_body_is_what_was_published(history: History) -> None:
    published(history, b"a")
    history.delivered(b"deferred a", b"A", 1.0, 1.0)
    assert broken(history) == [BODY]


def test_the_server_counts_at_least_the_deliveries_that_were_told(history: History) -> None:
    life = published(history)
    delivered(history, life, 1.0)
    delivered(history, life, 5.0)
    history.counted(life, 2, 5.0)
    assert history.broken == []
    history.counted(life, 1, 5.0)
    assert broken(history) == ["deliveries"]


def test_a_tally_has_a_column_for_each_law_and_one_for_the_rest(history: History) -> None:
    assert tally(()) == dict.fromkeys((*KINDS, "other"), 0)
    found = tally((f"{LOST}: a", f"{LOST}: b", f"{EARLY}: c", "the server did not stop"))
    assert (found[LOST], found[EARLY], found["other"]) == (2, 1, 1)
