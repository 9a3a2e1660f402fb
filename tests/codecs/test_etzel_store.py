"""etzel's rows: what is written reads back, stands where docs/etzel-format.md says, and nonsense is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.codecs.etzel import UID_BYTES
from penstock.codecs.etzel_store import UID_MAX, UID_MIN, BadRow, Row, key_of, read_row, value_of

PAGE = Path(__file__).parents[2] / "docs" / "etzel-format.md"

u64s = st.integers(0, (1 << 64) - 1)
visible = [character for character in map(chr, range(0x21, 0x7F)) if character != "-"]
uids = st.text(visible, min_size=UID_MIN, max_size=UID_MAX).map(str.encode)
names = st.one_of(
    st.binary(max_size=30), st.text(max_size=20).map(str.encode), st.text("-a", max_size=6).map(str.encode)
)
rows = st.builds(Row, names, uids, st.integers(0, 255), u64s, u64s, u64s, st.binary(max_size=60))


@given(rows)
def test_a_row_reads_back_whatever_its_queue_is_called_and_its_item_is(row: Row) -> None:
    assert read_row(key_of(row), value_of(row)) == row


def test_the_bytes_stand_where_the_page_draws_them() -> None:
    key, value = re.findall(r"^(?:key|value) +([0-9a-f ]+)$", PAGE.read_text(), re.MULTILINE)
    row = Row(b"a-b", b"etzl0pCk2X9LqZ", 2, 60, 0, 3_600, b"hi")
    assert (key_of(row), value_of(row)) == (bytes.fromhex(key), bytes.fromhex(value))


def test_the_uids_that_clients_of_etzel_see_fit() -> None:
    assert UID_MIN <= UID_BYTES <= UID_MAX


VALUE = value_of(Row(b"", b"", 0, 0, 0, 0, b""))


@pytest.mark.parametrize(
    "key",
    [b"", b"-", b"q", b"etzl0pCk2X9LqZ", b"q-" + b"u" * 13, b"q-" + b"u" * 19, b"q-etzl0pCk 2X9Lq", b"q-" + bytes(14)],
)
def test_a_key_without_a_uid_is_refused(key: bytes) -> None:
    with pytest.raises(BadRow, match="its key"):
        read_row(key, VALUE)


@pytest.mark.parametrize("size", range(25))
def test_a_value_that_is_cut_short_is_refused(size: int) -> None:
    with pytest.raises(BadRow, match=f"its value has {size} bytes"):
        read_row(b"q-etzl0pCk2X9LqZ", VALUE[:size])


@given(st.binary(max_size=40), st.binary(max_size=60))
def test_any_bytes_are_a_row_or_refused(key: bytes, value: bytes) -> None:
    try:
        row = read_row(key, value)
    except BadRow:
        return
    assert (key_of(row), value_of(row)) == (key, value)
