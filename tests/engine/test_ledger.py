"""The ledger beside a dict: whatever is added and removed, both hold the same; and no empty page is kept."""

from __future__ import annotations

import random

import pytest

from penstock.engine.ledger import Ledger
from penstock.model.message import Message


def message(seq: int) -> Message:
    return Message(seq, 1, b"", 0, 0)


def test_what_is_added_is_found_until_it_is_removed() -> None:
    ledger = Ledger()
    one = message(7)
    ledger.add(one)
    assert (ledger.get(7), ledger[7], len(ledger)) == (one, one, 1)
    assert ledger.get(8) is None
    ledger.remove(one)
    assert (ledger.get(7), len(ledger)) == (None, 0)


@pytest.mark.parametrize("seq", [-1, 0, 6, 1 << 57])
def test_what_is_not_in_it_is_none_or_a_key_error(seq: int) -> None:
    ledger = Ledger()
    ledger.add(message(7))
    assert ledger.get(seq) is None
    with pytest.raises(KeyError):
        ledger[seq]
    with pytest.raises(KeyError):
        ledger.remove(message(seq))


@pytest.mark.parametrize("seed", range(20))
def test_it_holds_what_a_dict_would(seed: int) -> None:
    dice = random.Random(seed)
    ledger, known, seq = Ledger(), dict[int, Message](), 0
    for _ in range(3_000):
        if not known or dice.random() < 0.52:
            seq += dice.choice((1, 1, 1, 1, 1, 40, 1 << 32))
            known[seq] = message(seq)
            ledger.add(known[seq])
        else:
            gone = dice.choice(list(known))
            ledger.remove(known.pop(gone))
            assert ledger.get(gone) is None
        assert len(ledger) == len(known)
    assert list(ledger.values()) == list(known.values())
    assert all(ledger[number] is one for number, one in known.items())


def test_numbers_may_come_in_any_order() -> None:
    ledger = Ledger()
    numbers = list(range(1, 500))
    random.Random(1).shuffle(numbers)
    for number in numbers:
        ledger.add(message(number))
    assert sorted(one.order for one in ledger.values()) == list(range(1, 500))


def test_only_the_newest_page_may_be_empty() -> None:
    ledger = Ledger()
    for number in range(1, 10_000):
        one = message(number)
        ledger.add(one)
        ledger.remove(one)
    assert ledger.pages() == 1
