"""bincode: what is written is read, and whatever else is read does no harm."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from librt.strings import BytesWriter

from penstock.codecs.bincode import U32_MAX, Reader, is_u64, write_bytes, write_u32, write_u64

U64_MAX = (1 << 64) - 1

# How each kind is read, and its layout in the plainest way.
KINDS: dict[str, tuple[Callable[[Reader], Any], Callable[[Any], bytes]]] = {
    "u32": (Reader.u32, lambda value: struct.pack("<I", value)),
    "i16": (Reader.i16, lambda value: struct.pack("<h", value)),
    "u64": (Reader.u64, lambda value: struct.pack("<Q", value)),
    "f32": (Reader.f32, lambda value: struct.pack("<f", value)),
    "some": (Reader.some, lambda value: struct.pack("<B", value)),
    "blob": (Reader.blob, lambda value: struct.pack("<Q", len(value)) + value),
    "text": (Reader.text, lambda value: struct.pack("<Q", len(value)) + value),
}
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "u32": st.integers(0, U32_MAX),
    "i16": st.integers(-(1 << 15), (1 << 15) - 1),
    "u64": st.integers(0, U64_MAX),
    "f32": st.floats(width=32, allow_nan=False),
    "some": st.booleans(),
    "blob": st.binary(max_size=20),
    "text": st.text(max_size=10).map(str.encode),
}
fields = st.lists(st.sampled_from(sorted(KINDS)).flatmap(lambda kind: st.tuples(st.just(kind), VALUES[kind])))


def laid_out(values: list[tuple[str, Any]]) -> bytes:
    return b"".join([KINDS[kind][1](value) for kind, value in values])


@given(fields)
def test_what_is_laid_out_is_read(values: list[tuple[str, Any]]) -> None:
    reader = Reader(laid_out(values))
    assert [KINDS[kind][0](reader) for kind, _ in values] == [value for _, value in values]
    assert reader.done()


@given(fields.filter(bool), st.data())
def test_cut_short_anywhere_it_is_noticed(values: list[tuple[str, Any]], data: st.DataObject) -> None:
    whole = laid_out(values)
    reader = Reader(whole[: data.draw(st.integers(0, len(whole) - 1))])
    for kind, _ in values:
        KINDS[kind][0](reader)
    assert not reader.done()


@given(fields, st.binary(min_size=1, max_size=3))
def test_what_is_left_over_is_noticed(values: list[tuple[str, Any]], more: bytes) -> None:
    reader = Reader(laid_out(values) + more)
    for kind, _ in values:
        KINDS[kind][0](reader)
    assert not reader.done()


@given(st.binary(max_size=40), st.lists(st.sampled_from(sorted(KINDS)), max_size=8))
def test_any_bytes_can_be_read_as_anything(data: bytes, kinds: list[str]) -> None:
    reader = Reader(data)
    for kind in kinds:
        KINDS[kind][0](reader)


@pytest.mark.parametrize("length", [1, 8, 1 << 31, 1 << 32, (1 << 62) - 1, 1 << 62, (1 << 63) - 1, 1 << 63, U64_MAX])
@pytest.mark.parametrize("width", [1, 4])
def test_no_length_is_believed_that_goes_beyond_the_end(length: int, width: int) -> None:
    reader = Reader(struct.pack("<Q", length))
    assert reader.count(width) == 0
    assert not reader.done()
    reader = Reader(struct.pack("<Q", length))
    assert reader.blob() == b""
    assert not reader.done()


@pytest.mark.parametrize(("values", "room"), [(3, 12), (2, 11), (0, 3)])
def test_as_many_values_as_there_is_room_for_may_follow(values: int, room: int) -> None:
    assert Reader(struct.pack("<Q", values) + bytes(room)).count(4) == values
    assert Reader(struct.pack("<Q", values + 1) + bytes(room)).count(4) == 0


@pytest.mark.parametrize("byte", [2, 255])
def test_an_option_is_there_or_not(byte: int) -> None:
    reader = Reader(bytes((byte,)))
    assert not reader.some()
    assert not reader.done()


@pytest.mark.parametrize("name", [b"\xff", b"a\xc3", b"\xed\xa0\x80"])
def test_a_text_is_utf_8(name: bytes) -> None:
    reader = Reader(struct.pack("<Q", len(name)) + name)
    reader.text()
    assert not reader.done()


def test_what_has_no_meaning_is_as_bad_as_what_is_not_there() -> None:
    reader = Reader(b"")
    assert reader.done()
    reader.fail()
    assert not reader.done()


@given(VALUES["u32"], VALUES["u64"], VALUES["blob"])
def test_what_is_written_is_read(small: int, large: int, data: bytes) -> None:
    out = BytesWriter()
    write_u32(out, small)
    write_u64(out, large)
    write_bytes(out, data)
    assert out.getvalue() == laid_out([("u32", small), ("u64", large), ("blob", data)])


@pytest.mark.parametrize(
    ("value", "fits"), [(-1, False), (0, True), (1 << 62, True), (U64_MAX, True), (1 << 64, False)]
)
def test_sixty_four_bits_hold_no_more(value: int, fits: bool) -> None:
    assert is_u64(value) is fits
