"""Ids: ten characters there and back, for every number, and no telling one from another."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.codecs.ids import ALPHABET, ID_CHARACTERS, Ids, high, low
from penstock.model.limits import SEQ_BITS

IDS = Ids(b"a secret")
LAST = (1 << SEQ_BITS) - 1

numbers = st.integers(0, LAST)


@given(numbers)
def test_an_id_leads_back_to_its_number(number: int) -> None:
    shown = IDS.show(number)
    assert len(shown) == ID_CHARACTERS
    assert set(shown) <= set(ALPHABET)
    assert IDS.seq(shown) == number


@pytest.mark.parametrize("number", [0, 1, (1 << 32) + 1, (1 << 29) - 1, 1 << 29, LAST])
def test_the_edges_lead_back_too(number: int) -> None:
    assert IDS.seq(IDS.show(number)) == number


@given(st.binary(max_size=14))
def test_any_bytes_are_an_id_of_one_number_or_none(shown: bytes) -> None:
    number = IDS.seq(shown)
    assert number == -1 or IDS.show(number) == shown


def in_base_62(half: int) -> bytes:
    digits = [half // 62**place % 62 for place in (4, 3, 2, 1, 0)]
    return bytes(ALPHABET[digit] for digit in digits)


@given(numbers)
def test_its_characters_are_the_halves_of_its_pair(number: int) -> None:
    pair = IDS.pair(number)
    assert IDS.show(number) == in_base_62(high(pair)) + in_base_62(low(pair))


NO_IDS = [b"", b"123456789", b"12345678901", b"12345-7890", "ümlaut789".encode(), b"zzzzzzzzzz"]


@pytest.mark.parametrize("shown", NO_IDS)
def test_what_is_no_id_leads_nowhere(shown: bytes) -> None:
    assert IDS.seq(shown) == -1


@given(numbers, numbers)
def test_no_two_numbers_share_an_id(one: int, other: int) -> None:
    assert (IDS.show(one) == IDS.show(other)) is (one == other)


def test_another_store_shows_other_ids() -> None:
    other = Ids(b"another secret")
    assert all(IDS.show(number) != other.show(number) for number in range(1_000))


def test_the_next_id_cannot_be_told_from_the_last() -> None:
    """Neighbours differ in most of their characters, and stand in no order."""
    shown = [IDS.show((1 << 32) + number) for number in range(2_000)]
    pairs = list(pairwise(shown))
    same = sum(a == b for one, other in pairs for a, b in zip(one, other, strict=True))
    assert same / len(pairs) < 2
    rising = sum(one < other for one, other in pairs) / len(pairs)
    assert 0.4 < rising < 0.6


def test_ids_stay_what_they_are_from_version_to_version() -> None:
    """Clients hold them over restarts and updates."""
    assert [IDS.show(number) for number in (0, 1, (1 << 32) + 1)] == [b"SogQaOjSpS", b"0mshWUsA4i", b"I1cxTXcNGA"]


@given(numbers)
def test_a_pair_leads_back_to_its_number_too(number: int) -> None:
    pair = IDS.pair(number)
    assert IDS.seq_of(high(pair), low(pair)) == number
    assert max(high(pair), low(pair)) < 1 << SEQ_BITS // 2


@given(st.integers(-1, 1 << 33), st.integers(-1, 1 << 33))
def test_any_two_numbers_are_the_pair_of_one_number_or_none(left: int, right: int) -> None:
    number = IDS.seq_of(left, right)
    assert number == -1 or IDS.pair(number) == left << SEQ_BITS // 2 | right
