"""Reading a sealed segment into arrays: as the journal's own reader does, also where bodies play at being batches."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.codecs.facts import FactBatch
from penstock.codecs.segments import HEADER_BYTES, batch_at, encode_batch, payload_of, seed_of
from penstock.history.batches import read_batches
from penstock.history.records import Segment
from penstock.journal.segment import JournalDamaged, SegmentReader, segment_name
from tests.history.histories import START_US, STORE_ID, journal_of, lives

MAGIC = b"PBAT"


def data_of(made: list[FactBatch]) -> bytes:
    return journal_of(made, segment_bytes=1 << 20).contents()[segment_name(1)]


def reader_of(data: bytes) -> SegmentReader:
    return SegmentReader(data, 1, 1, STORE_ID, last=False)


def rows(data: bytes) -> list[tuple[int, ...]]:
    return [(batch.at, batch.first, batch.at_us, batch.count, batch.heap_bytes) for batch in reader_of(data).batches()]


@pytest.mark.parametrize(
    "body",
    [b"plain", b"", MAGIC, MAGIC * 50, bytes(8) + MAGIC * 2, b"x" + MAGIC * 9, MAGIC + b"\xff" * 36, MAGIC + bytes(60)],
)
def test_batches_are_found_whatever_is_in_their_bodies(body: bytes) -> None:
    data = data_of(lives(5, body=body))
    reader = reader_of(data)
    assert [tuple(row) for row in read_batches(reader).tolist()] == rows(data)
    assert reader.footer is not None
    assert reader.last_at_us == START_US + 5_000


def test_a_body_that_is_a_batch_of_this_very_journal_is_no_batch() -> None:
    data = data_of(lives(1))
    batch = batch_at(data, HEADER_BYTES)
    assert batch is not None
    whole = data[batch.at : batch.end]
    again = data_of(lives(3, body=whole * 3))
    assert len(read_batches(reader_of(again))) == len(rows(again)) == 4


def test_every_flipped_byte_is_damage_as_the_journals_reader_tells_it() -> None:
    data = data_of(lives(3))
    for at in range(len(data)):
        broken = data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]
        reader = reader_of(broken)
        reader.check()
        assert reader.damage is not None
        with pytest.raises(JournalDamaged) as found:
            Segment(reader_of(broken))
        assert str(found.value) == str(reader.damage)


def test_every_cut_is_damage() -> None:
    data = data_of(lives(2))
    for size in range(len(data)):
        with pytest.raises(JournalDamaged):
            Segment(reader_of(data[:size]))


def resealed(data: bytes, payload: bytes) -> bytes:
    """The first batch with another payload of the same length, and a checksum that agrees."""
    batch = batch_at(data, HEADER_BYTES)
    assert batch is not None
    seed = seed_of(STORE_ID)
    made = encode_batch(seed, batch.first, batch.at_us, batch.synced, batch.count, batch.heap_bytes, payload)
    return data[:HEADER_BYTES] + made + data[batch.end :]


def first_payload(data: bytes) -> bytearray:
    batch = batch_at(data, HEADER_BYTES)
    assert batch is not None
    return bytearray(payload_of(data, batch))


def test_a_kind_that_is_not_known_is_damage() -> None:
    data = data_of(lives(2))
    payload = first_payload(data)
    payload[0] = 99
    with pytest.raises(JournalDamaged, match="byte 64, where fact 1 is expected: fact 1 is of the unknown kind 99"):
        Segment(reader_of(resealed(data, bytes(payload))))


def test_lengths_that_do_not_add_up_are_damage() -> None:
    data = data_of(lives(2))
    payload = first_payload(data)
    payload[56] += 1
    with pytest.raises(JournalDamaged, match="fact 1 and those before it do not fill their heap"):
        Segment(reader_of(resealed(data, bytes(payload))))


def test_a_segment_without_facts_is_empty() -> None:
    data = data_of([])
    assert len(Segment(reader_of(data))) == 0
    assert np.array_equal(read_batches(reader_of(data)), np.zeros((0, 5)))
