"""Reading one segment: what can be read is given, and the place and reason of the end are told precisely."""

from __future__ import annotations

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from penstock.codecs.facts import Fact, FactBatch
from penstock.codecs.segments import (
    FOOTER_BYTES,
    HEADER_BYTES,
    encode_batch,
    encode_footer,
    encode_header,
    seed_of,
)
from penstock.journal.segment import (
    SegmentReader,
    facts_of,
    segment_name,
    segment_numbers,
    segment_readers,
    written_end,
)
from tests.journal.simdisk import SimDisk
from tests.journal.story import START_US, STORE_ID, Row, batch_of, rows

SEED = seed_of(STORE_ID)
HEADER = encode_header(1, 1, START_US, STORE_ID)
ZEROS = bytes(512)


def batch_bytes(first: int, *bodies: bytes, synced: int = 1) -> bytes:
    batch = batch_of(*((first + place, body) for place, body in enumerate(bodies)))
    return encode_batch(SEED, first, START_US, synced, batch.count, batch.heap_bytes(), batch.payload())


def footer_bytes(next_fact: int, content: bytes, facts: int | None = None) -> bytes:
    return encode_footer(SEED, next_fact, START_US, next_fact, next_fact - 1 if facts is None else facts, len(content))


def read(data: bytes, last: bool = True) -> tuple[SegmentReader, list[Row]]:
    reader = SegmentReader(data, 1, 1, STORE_ID, last)
    found: list[Fact] = []
    for batch in reader.batches():
        found += facts_of(data, batch)
    return reader, rows(found)


def reason(data: bytes, last: bool = True) -> str:
    reader, _ = read(data, last)
    return "" if reader.damage is None else reader.damage.reason


A, B, C = batch_bytes(1, b"a"), batch_bytes(2, b"b", b"c"), batch_bytes(4, b"d", synced=2)
SEALED = HEADER + A + B + footer_bytes(4, HEADER + A + B)


def test_a_sealed_segment_is_read_to_its_footer() -> None:
    reader, found = read(SEALED, last=False)
    assert [row[0] for row in found] == [1, 2, 3]
    assert (reader.damage, reader.at, reader.next_fact, reader.whole) == (None, len(SEALED) - FOOTER_BYTES, 4, True)


def test_a_segment_in_use_is_read_to_its_zeros() -> None:
    reader, found = read(HEADER + A + ZEROS)
    assert (len(found), reader.damage, reader.footer, reader.cut_bytes) == (1, None, None, 0)


def test_a_body_that_ends_in_zeros_is_no_end() -> None:
    reader, found = read(HEADER + batch_bytes(1, bytes(5000)))
    assert (len(found[0][3]), reader.damage, reader.cut_bytes) == (5000, None, 0)


def test_zeros_may_follow_a_footer_whose_cut_was_lost() -> None:
    reader, _ = read(SEALED + ZEROS, last=False)
    assert (reader.damage, reader.footer is not None, reader.whole) == (None, True, False)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the segment's header cannot be read"),
        (HEADER + A + B, "the segment ends without a footer"),
        (HEADER + A + ZEROS, "the segment ends without a footer"),
        (HEADER + A + B[:-1], "the batch here reaches beyond the end of the file"),
        (HEADER + A + B[:-1] + b"x", "the checksum of the batch is wrong"),
        (HEADER + A + b"rubbish", "neither a batch nor a footer begins here"),
        (SEALED[:-1] + b"x", "the checksum of the footer is wrong"),
        (SEALED + b"x", "bytes follow the footer"),
        (HEADER + A + footer_bytes(3, HEADER + A), "the footer does not agree with what was read"),
        (HEADER + A + footer_bytes(2, HEADER), "the footer does not agree with what was read"),
        (HEADER + A + footer_bytes(2, HEADER + A, facts=2), "the footer does not agree with what was read"),
        (HEADER + A + A, "the batch here begins with fact 1"),
        (HEADER + A + C, "the batch here begins with fact 4"),
        (encode_header(2, 1, START_US, STORE_ID), "its header says that it is segment 2"),
        (encode_header(1, 2, START_US, STORE_ID), "it begins with fact 2"),
        (encode_header(1, 1, START_US, bytes(16)), f"it is of another store, {bytes(16).hex()}"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, words: str) -> None:
    assert reason(data, last=False) == words


def test_the_place_of_damage_is_told() -> None:
    reader, found = read(HEADER + A + B[:-1] + b"x" + C, last=False)
    assert reader.damage is not None
    assert len(found) == 1
    assert str(reader.damage) == (
        f"{segment_name(1)}, byte {len(HEADER + A)}, where fact 2 is expected: the checksum of the batch is wrong"
    )


def test_a_version_of_the_future_is_refused() -> None:
    header = bytearray(HEADER)
    header[8] = 2
    assert reason(bytes(header), last=False) == "the segment's header cannot be read"
    header[60:] = crc32c(header[:60]).to_bytes(4, "little")
    assert reason(bytes(header)) == "it is of version 2, not 1"


def test_a_kind_of_fact_that_is_not_known_is_refused() -> None:
    batch = FactBatch()
    batch.server_changed(16, 1, b"")
    data = encode_batch(SEED, 1, START_US, 1, 1, 0, batch.payload())
    reader = SegmentReader(HEADER + data, 1, 1, STORE_ID, True)
    reader.check()
    assert reader.damage is not None
    assert (reader.damage.reason, reader.damage.offset) == ("fact 1 is of the unknown kind 16", HEADER_BYTES)


# -- the end of the last segment


def test_a_torn_batch_ends_the_last_segment() -> None:
    torn = B[: len(B) // 2]
    reader, found = read(HEADER + A + torn + ZEROS)
    assert (len(found), reader.damage, reader.at) == (1, None, len(HEADER + A))
    assert reader.cut_bytes == len(torn.rstrip(b"\0"))


def test_batches_behind_a_hole_that_were_never_synced_are_given_up_and_counted() -> None:
    reader, found = read(HEADER + A + bytes(len(B)) + batch_bytes(4, b"d", b"e", synced=2) + ZEROS)
    assert (len(found), reader.damage, reader.given_up_facts) == (1, None, 2)


def test_a_hole_before_facts_that_prove_that_it_was_synced_is_damage() -> None:
    hole = bytes(len(B))
    assert reason(HEADER + A + hole + batch_bytes(4, b"d", synced=3) + ZEROS) == (
        "neither a batch nor a footer begins here, and yet facts up to 2 were synced"
    )


def test_a_hole_before_a_footer_is_damage() -> None:
    assert reason(HEADER + A + bytes(len(B)) + footer_bytes(4, HEADER + A + B)) == (
        "neither a batch nor a footer begins here, and yet the segment was sealed"
    )


def test_a_wrong_number_in_the_last_segment_is_no_torn_tail() -> None:
    assert reason(HEADER + A + C + ZEROS) == "the batch here begins with fact 4"


def test_a_body_that_is_a_piece_of_another_journal_proves_nothing() -> None:
    other = seed_of(bytes(16))
    batch = batch_of((3, b"forged"))
    forged = encode_batch(other, 3, START_US, 3, 1, batch.heap_bytes(), batch.payload())
    forged += encode_footer(other, 3, START_US, 3, 2, HEADER_BYTES)
    torn = batch_bytes(1, bytes(600) + forged)[:-1] + b"x"
    reader, found = read(HEADER + torn + ZEROS)
    assert (found, reader.damage, reader.given_up_facts) == ([], None, 0)


def test_a_body_that_is_a_piece_of_this_very_journal_proves_nothing() -> None:
    before = batch_bytes(1, *([b"x"] * 30))
    own = batch_bytes(2, b"old", synced=31)
    torn = batch_bytes(31, bytes(600) + own)[:-1] + b"x"
    reader, found = read(HEADER + before + torn + ZEROS)
    assert (len(found), reader.damage, reader.given_up_facts) == (30, None, 0)


@pytest.mark.parametrize("head", [b"", bytes(HEADER_BYTES), HEADER[:30], HEADER[:63] + b"x"])
def test_a_last_segment_that_never_got_its_header_is_unused(head: bytes) -> None:
    reader, found = read(head + (ZEROS if len(head) == HEADER_BYTES else b""))
    assert (found, reader.unused, reader.damage) == ([], True, None)


def test_a_lost_header_before_anything_else_is_damage() -> None:
    assert reason(bytes(HEADER_BYTES) + A + ZEROS) == "the segment's header cannot be read"


# -- several


def test_only_names_of_segments_are_segments() -> None:
    names = [segment_name(2), segment_name(1), "1.journal", "spare.journal", f"{segment_name(3)}.damaged", "lock"]
    assert segment_numbers(SimDisk(dict.fromkeys(names, b""))) == [1, 2]


def test_a_gap_in_the_segments_shows_as_one_without_bytes() -> None:
    disk = SimDisk({segment_name(1): SEALED, segment_name(5): encode_header(5, 9, START_US, STORE_ID)})
    found = []
    for reader in segment_readers(disk, STORE_ID, shared=False):
        list(reader.batches())
        found.append((reader.number, str(reader.damage or "")))
    assert found == [
        (1, ""),
        (2, f"{segment_name(2)}, byte 0, where fact 4 is expected: the segment is missing"),
        (5, ""),
    ]


class GrowingDisk(SimDisk):
    """Each reading shows more: first the end of what is being written, then all of it."""

    def __init__(self, *looks: bytes) -> None:
        super().__init__({segment_name(1): b""})
        self.looks = list(looks)

    def read(self, name: str) -> bytes:
        return self.looks.pop(0)


def test_a_segment_that_is_being_written_is_seen_as_it_was_at_one_moment() -> None:
    hole = HEADER + A + bytes(len(B)) + batch_bytes(4, b"d", synced=4)
    done = HEADER + A + B + batch_bytes(4, b"d", synced=4)
    later = HEADER + A + B + batch_bytes(4, b"d", synced=4) + batch_bytes(5, b"e", synced=4)
    for second, facts in ((done, 4), (later, 4)):
        disk = GrowingDisk(hole + ZEROS, second + ZEROS)
        for reader in segment_readers(disk, STORE_ID, shared=True):
            assert sum(batch.count for batch in reader.batches()) == facts
            assert reader.damage is None


@given(st.binary(max_size=20), st.integers(0, 20_000))
def test_the_end_of_what_is_written_is_found(data: bytes, zeros: int) -> None:
    assert written_end(data + bytes(zeros)) == len(data.rstrip(b"\0"))


@given(st.lists(st.lists(st.binary(max_size=100), min_size=1, max_size=5), max_size=6), st.booleans())
def test_what_was_put_into_a_segment_comes_out(batches: list[list[bytes]], sealed: bool) -> None:
    data, next_fact = HEADER, 1
    for bodies in batches:
        data += batch_bytes(next_fact, *bodies)
        next_fact += len(bodies)
    data += footer_bytes(next_fact, data) if sealed else ZEROS
    reader, found = read(data)
    assert [row[3] for row in found] == [body for bodies in batches for body in bodies]
    assert (reader.damage, reader.cut_bytes, reader.whole) == (None, 0, sealed)
