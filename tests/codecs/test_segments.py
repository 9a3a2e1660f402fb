"""Headers, batches and footers: what is written is read, what is not whole is not read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.codecs.segments import (
    FOOTER_BYTES,
    HEADER_BYTES,
    VERSION,
    batch_at,
    batch_holds,
    batches_after,
    decode_header,
    encode_batch,
    encode_footer,
    encode_header,
    footer_after,
    footer_at,
    payload_of,
    seed_of,
)

NUMBERS = st.integers(0, (1 << 63) - 1)
TIMES = st.integers(-(1 << 63), (1 << 63) - 1)
STORE_IDS = st.binary(min_size=16, max_size=16)
SEED = seed_of(b"0123456789abcdef")


def padded(records: int, heap: bytes) -> bytes:
    return bytes(64 * records) + heap + bytes(-len(heap) & 7)


def batch_bytes(first: int, heap: bytes = b"") -> bytes:
    return encode_batch(SEED, first, 0, 1, 1, len(heap), padded(1, heap))


@given(NUMBERS, NUMBERS, TIMES, STORE_IDS)
def test_a_header_comes_back(number: int, first: int, opened_us: int, store_id: bytes) -> None:
    data = encode_header(number, first, opened_us, store_id)
    header = decode_header(data + b"more")
    assert len(data) == HEADER_BYTES
    assert header is not None
    assert (header.version, header.flags, header.number) == (VERSION, 0, number)
    assert (header.first, header.opened_us, header.store_id) == (first, opened_us, store_id)


@given(STORE_IDS, NUMBERS, TIMES, NUMBERS, st.integers(0, 5), st.binary(max_size=40), st.integers(0, 9))
def test_a_batch_comes_back(
    store_id: bytes, first: int, at_us: int, synced: int, count: int, heap: bytes, before: int
) -> None:
    seed = seed_of(store_id)
    payload = padded(count, heap)
    written = encode_batch(seed, first, at_us, synced, count, len(heap), payload)
    data = bytes(before) + written + b"more"
    batch = batch_at(data, before)
    assert batch is not None
    assert batch_holds(data, batch, seed)
    assert (batch.at, batch.end) == (before, before + len(written))
    assert (batch.first, batch.at_us, batch.synced, batch.count) == (first, at_us, synced, count)
    assert (batch.heap_bytes, payload_of(data, batch)) == (len(heap), payload)


@given(NUMBERS, TIMES, NUMBERS, NUMBERS, NUMBERS)
def test_a_footer_comes_back(next_fact: int, sealed_us: int, synced: int, facts: int, content_bytes: int) -> None:
    data = encode_footer(SEED, next_fact, sealed_us, synced, facts, content_bytes)
    footer = footer_at(data, 0, SEED)
    assert len(data) == FOOTER_BYTES
    assert footer is not None
    assert (footer.next_fact, footer.sealed_us, footer.synced) == (next_fact, sealed_us, synced)
    assert (footer.facts, footer.content_bytes) == (facts, content_bytes)


def readable(data: bytes) -> bool:
    batch = batch_at(data, 0)
    whole = batch is not None and batch_holds(data, batch, SEED)
    return whole or footer_at(data, 0, SEED) is not None or decode_header(data) is not None


def test_no_flipped_bit_and_no_missing_byte_goes_unnoticed() -> None:
    for whole in (encode_header(1, 1, 1, bytes(16)), batch_bytes(1, b"heap"), encode_footer(SEED, 1, 1, 1, 1, 1)):
        assert readable(whole)
        for bit in range(8 * len(whole)):
            flipped = bytearray(whole)
            flipped[bit // 8] ^= 1 << bit % 8
            assert not readable(bytes(flipped)), bit
        for size in range(len(whole)):
            assert not readable(whole[:size]), size


def test_nothing_of_another_store_is_read() -> None:
    other = seed_of(bytes(16))
    data = batch_bytes(1)
    batch = batch_at(data, 0)
    assert batch is not None
    assert not batch_holds(data, batch, other)
    assert footer_at(encode_footer(SEED, 1, 1, 1, 1, 1), 0, other) is None


def test_batches_are_found_behind_what_cannot_be_read() -> None:
    data = batch_bytes(1)[:-1] + b"x" + batch_bytes(2) + bytes(24) + batch_bytes(3, batch_bytes(4))
    assert [batch.first for batch in batches_after(data, 0, 1, SEED)] == [2, 3]
    assert [batch.first for batch in batches_after(data, 0, 0, SEED)] == [2, 3]


def test_a_batch_whose_number_could_not_have_been_reached_is_not_believed() -> None:
    data = bytes(104) + batch_bytes(3)
    assert [batch.first for batch in batches_after(data, 0, 2, SEED)] == [3]
    assert [batch.first for batch in batches_after(data, 0, 1, SEED)] == []
    assert [batch.first for batch in batches_after(data, 0, 3, SEED)] == []


def test_batches_and_footers_stand_at_multiples_of_eight() -> None:
    footer = encode_footer(SEED, 9, 1, 1, 1, 1)
    assert list(batches_after(bytes(101) + batch_bytes(2), 0, 1, SEED)) == []
    assert footer_after(bytes(9) + footer, 0, SEED) is None
    found = footer_after(b"PEND....PEND....." + bytes(7) + footer, 0, SEED)
    assert found is not None
    assert found.next_fact == 9
