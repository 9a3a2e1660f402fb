"""Ids of clients: below 2^53, there and back for every number, and no telling one from another."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.codecs.clients import CLIENT_BITS, ClientIds

IDS = ClientIds(b"a secret")
LAST = (1 << 53) - 1

numbers = st.integers(0, LAST)


@given(numbers)
def test_an_id_leads_back_to_its_number(number: int) -> None:
    shown = IDS.show(number)
    assert 0 <= shown <= LAST
    assert IDS.number(shown) == number


@pytest.mark.parametrize("number", [0, 1, (1 << 26) - 1, 1 << 26, (1 << 27) - 1, 1 << 33, LAST])
def test_the_edges_lead_back_too(number: int) -> None:
    assert IDS.number(IDS.show(number)) == number


@given(numbers)
def test_whatever_could_be_an_id_is_that_of_one_number(shown: int) -> None:
    assert IDS.show(IDS.number(shown)) == shown


@pytest.mark.parametrize("shown", [-1, LAST + 1, 1 << 64])
def test_what_is_no_id_leads_to_no_client(shown: int) -> None:
    assert IDS.number(shown) == 0


def test_javascript_keeps_every_id_whole() -> None:
    assert CLIENT_BITS == 53
    assert float(LAST) == LAST


def test_another_store_shows_other_ids() -> None:
    other = ClientIds(b"another secret")
    assert all(IDS.show(number) != other.show(number) for number in range(1_000))


def test_the_next_id_cannot_be_told_from_the_last() -> None:
    """Of neighbours half the bits differ, whatever the bit, and they stand in no order."""
    pairs = list(pairwise([IDS.show((1 << 33) + number) for number in range(2_000)]))
    for bit in range(CLIENT_BITS):
        changed = sum((one ^ other) >> bit & 1 for one, other in pairs)
        assert 0.4 < changed / len(pairs) < 0.6, bit
    assert 0.4 < sum(one < other for one, other in pairs) / len(pairs) < 0.6


def test_ids_stay_what_they_are_from_version_to_version() -> None:
    """Clients hold them over restarts and updates."""
    assert [IDS.show(number) for number in (1, 2, (1 << 33) + 1)] == [
        966_600_333_696_909,
        500_724_623_418_745,
        8_373_223_400_291_043,
    ]
