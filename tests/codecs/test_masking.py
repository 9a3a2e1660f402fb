"""Masking: both ways of doing it do the same, and doing it twice undoes it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.codecs.masking import in_one, in_words, masked

masks = st.binary(min_size=4, max_size=4)


def test_the_example_of_the_rfc() -> None:
    assert masked(bytes.fromhex("7f9f4d5158"), 0, 5, bytes.fromhex("37fa213d")) == b"Hello"


@given(st.binary(max_size=100), masks, st.integers(0, 20), st.integers(0, 20))
def test_every_byte_is_xored_with_its_place_in_the_mask(data: bytes, mask: bytes, before: int, behind: int) -> None:
    whole = bytes(before) + data + bytes(behind)
    plain = bytes([byte ^ mask[at % 4] for at, byte in enumerate(data)])
    assert in_words(whole, before, len(data), mask) == plain
    assert in_one(whole, before, len(data), mask) == plain
    assert masked(whole, before, len(data), mask) == plain


@given(st.binary(max_size=1_000), masks)
def test_twice_is_not_at_all(data: bytes, mask: bytes) -> None:
    assert masked(masked(data, 0, len(data), mask), 0, len(data), mask) == data


@pytest.mark.parametrize("length", [0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 65_536])
def test_any_length(length: int) -> None:
    data = bytes(at % 251 for at in range(length))
    assert in_words(data, 0, length, b"abcd") == in_one(data, 0, length, b"abcd")
