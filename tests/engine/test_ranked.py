"""Messages in rank, against a sorted list."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.ranked import CHUNK, Aged, Ranked
from penstock.model.message import Message

Rank = tuple[int, int]  # priority, ready_us

ranks = st.tuples(st.integers(-2, 2), st.integers(0, 5))


def message(number: int, priority: int = 0, ready_us: int = 0) -> Message:
    made = Message(number, 1, b"", 0, ready_us)
    made.priority = priority
    return made


def in_rank(messages: list[Message]) -> list[Message]:
    return sorted(messages, key=lambda one: (-one.priority, one.ready_us, one.order))


def by_age(messages: list[Message]) -> list[Message]:
    return sorted(messages, key=lambda one: (one.ready_us, one.order))


def assert_same(ranked: Ranked, expected: list[Message]) -> None:
    assert list(ranked) == expected
    assert ranked.count == len(expected)
    assert ranked.first() is (expected[0] if expected else None)
    assert ranked.last() is (expected[-1] if expected else None)


@given(st.lists(st.one_of(ranks, st.integers(0, 30)), max_size=80))
def test_it_is_a_sorted_list(steps: list[Rank | int]) -> None:
    """A rank adds a message, a number removes one of those that are there."""
    ranked, aged = Ranked(), Aged()
    there: list[Message] = []
    for number, step in enumerate(steps):
        if isinstance(step, tuple):
            there.append(message(number, *step))
            ranked.add(there[-1])
            aged.add(there[-1])
        elif there:
            gone = there.pop(step % len(there))
            ranked.remove(gone)
            aged.remove(gone)
        assert_same(ranked, in_rank(there))
        assert_same(aged, by_age(there))
        best = [one for one in in_rank(there) if one.priority == in_rank(there)[0].priority]
        assert ranked.newest() is (best[-1] if best else None)


@given(st.lists(ranks, max_size=60), ranks, st.integers(-1, 61))
def test_what_stands_after_a_rank_is_found_be_somebody_there_or_not(
    there: list[Rank], place: Rank, number: int
) -> None:
    messages = [message(at, *rank) for at, rank in enumerate(there)]
    ranked = Ranked()
    for one in messages:
        ranked.add(one)
    probe = message(number, *place)
    everybody = in_rank([*[one for one in messages if one.order != number or _rank(one) != place], probe])
    assert list(ranked.after(probe)) == everybody[everybody.index(probe) + 1 :]


def _rank(one: Message) -> Rank:
    return int(one.priority), int(one.ready_us)


def test_what_stands_after_a_rank_is_found_over_many_chunks() -> None:
    ranked = Ranked()
    messages = [message(number) for number in range(5 * CHUNK)]
    for one in messages:
        ranked.add(one)
    for at in (0, CHUNK - 1, CHUNK, 3 * CHUNK + 7, 5 * CHUNK - 1):
        assert list(ranked.after(messages[at])) == messages[at + 1 :]


def test_how_many_stand_after_a_rank_is_counted_over_many_chunks() -> None:
    ranked = Ranked()
    for number in range(5 * CHUNK):
        ranked.add(message(2 * number))
    for at in (0, CHUNK - 1, CHUNK, 3 * CHUNK + 7, 5 * CHUNK - 1):
        assert ranked.count_after(message(2 * at + 1)) == 5 * CHUNK - 1 - at
    assert ranked.count_after(message(-1)) == 5 * CHUNK
    assert Ranked().count_after(message(0)) == 0


def test_two_that_have_grown_share_nothing() -> None:
    one, other = Ranked(), Ranked()
    for number in range(2 * CHUNK):
        one.add(message(number))
    for number in reversed(range(3 * CHUNK)):
        other.add(message(number))
    assert [(ranked.count, len(list(ranked))) for ranked in (one, other)] == [(2 * CHUNK,) * 2, (3 * CHUNK,) * 2]
    assert list(Ranked()) == []


def test_it_stays_sorted_over_many_chunks() -> None:
    dice = random.Random(1)
    ranked = Ranked()
    there = [message(number, dice.randrange(3), dice.randrange(50)) for number in range(8 * CHUNK)]
    for one in there:
        ranked.add(one)
    dice.shuffle(there)
    while len(there) > CHUNK:
        ranked.remove(there.pop())
    assert_same(ranked, in_rank(there))
    best = max(one.priority for one in there)
    assert ranked.newest() is in_rank([one for one in there if one.priority == best])[-1]


@pytest.mark.parametrize("from_front", [True, False])
def test_it_empties_from_either_end(from_front: bool) -> None:
    ranked, numbers = Ranked(), range(5 * CHUNK)
    for number in numbers:
        ranked.add(message(number, ready_us=number))
    left = []
    while (one := ranked.first() if from_front else ranked.last()) is not None:
        ranked.remove(one)
        left.append(one.order)
    assert left == list(numbers if from_front else reversed(numbers))


def test_higher_priority_stands_first_then_the_older_then_the_lower_number() -> None:
    ranked = Ranked()
    for one in (message(1, 0, 0), message(2, 5, 9), message(3, 5, 8), message(4, 5, 8), message(5, -1, 0)):
        ranked.add(one)
    assert [one.order for one in ranked] == [3, 4, 2, 1, 5]


def test_newest_is_the_last_of_the_best_priority_wherever_it_stands() -> None:
    for better in (1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK):
        ranked = Ranked()
        for number in range(better):
            ranked.add(message(number, priority=2))
        for number in range(better, better + 2 * CHUNK):
            ranked.add(message(number, priority=1))
        newest = ranked.newest()
        assert newest is not None
        assert newest.order == better - 1


@pytest.mark.parametrize("there", [[], [1], [1, 3], list(range(0, 1_200, 2))])
def test_what_is_not_there_cannot_be_removed(there: list[int]) -> None:
    ranked = Ranked()
    for number in there:
        ranked.add(message(number, ready_us=number))
    for number in (-1, 2, 901, 5_000):
        with pytest.raises(KeyError):
            ranked.remove(message(number, ready_us=number if number != 2 else 1))
    assert ranked.count == len(there)
