"""A file of the archive: the facts of a segment as the journal's own reader tells them, whatever they are."""

from __future__ import annotations

import io
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.codecs.facts import FactBatch
from penstock.codecs.segments import HEADER_BYTES, batch_at, encode_batch, payload_of, seed_of
from penstock.history import files
from penstock.history.columns import Words
from penstock.history.files import Unreadable, decode, encode
from penstock.history.records import BadRow, Segment
from penstock.history.saying import OtherVersion
from penstock.history.schema import SCHEMA
from penstock.journal.segment import SegmentReader, segment_name
from penstock.model import facts
from penstock.model.limits import BODY_MAX, KEY_MAX
from penstock.model.message import Message, Origin
from tests.history.histories import DIALECTS, START_US, STORE_ID, WORDS, batches, journal_of, lives, read, told_by
from tests.journal.simdisk import SimDisk

LARGE = 1 << 30


def segment_of(disk: SimDisk, number: int = 1) -> Segment:
    return Segment(SegmentReader(disk.contents()[segment_name(number)], number, 0, STORE_ID, last=False))


def archived(disk: SimDisk, words: Words = WORDS) -> tuple[list[dict[str, Any]], files.Told]:
    content, told = encode(segment_of(disk), STORE_ID, {}, words)
    return read(content), told


@given(batches())
@settings(max_examples=40)
def test_every_fact_is_there_as_the_journal_tells_it(made: list[FactBatch]) -> None:
    disk = journal_of(made, segment_bytes=1 << 20)
    rows, _ = archived(disk)
    assert rows == told_by(disk)


@given(batches(), st.integers(1, 5), st.integers(1, 200))
@settings(max_examples=25)
def test_groups_of_rows_change_nothing(made: list[FactBatch], rows: int, heap_bytes: int) -> None:
    segment = segment_of(journal_of(made, segment_bytes=1 << 20))
    pieces = list(files.groups(segment, rows, heap_bytes))
    assert [first for first, _ in pieces] == [0, *(end for _, end in pieces[:-1])]
    assert pieces[-1][1] == len(segment)
    for first, end in pieces:
        assert 1 <= end - first <= rows
        assert end - first == 1 or segment.heap_at[end - 1] + segment.heap_bytes[end - 1] <= (
            segment.heap_at[first] + heap_bytes
        )


def test_rows_that_begin_in_the_middle_of_a_batch_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = journal_of(lives(20), segment_bytes=1 << 20)
    whole, _ = archived(disk)
    monkeypatch.setattr(files.groups, "__defaults__", (2, LARGE))
    pieces, _ = archived(disk)
    assert pieces == whole == told_by(disk)


@pytest.mark.parametrize("body", [b"", bytes(256), bytes(range(256)), b"x" * BODY_MAX, b"\xff" * 70_000])
@pytest.mark.parametrize("key", [None, b"", b"\xff\x00", b"k" * KEY_MAX])
def test_bodies_and_keys_of_any_kind_come_back(body: bytes, key: bytes | None) -> None:
    made = lives(1)
    for number in range(2, 5):
        message = Message(number, 1, body, START_US, START_US)
        message.key = key
        made.append(FactBatch())
        made[-1].published(message)
    disk = journal_of(made, segment_bytes=8 << 20)
    rows, _ = archived(disk)
    assert [(row["key"], row["body"], row["size"]) for row in rows[-3:]] == [(key, body, len(body))] * 3
    assert rows == told_by(disk)


def test_bodies_are_left_out_for_the_queues_that_ask_for_it() -> None:
    batch = FactBatch()
    for number, name in enumerate([b"secret", b"secrets", b"open", b"exact"], 1):
        batch.queue_changed(facts.DECLARED, number, 4, name, b"{}")
        batch.published(Message(number, number, b"body", START_US, START_US))
    rows, _ = archived(journal_of([batch]), Words(DIALECTS, (b"secret*", b"exact")))
    kept = {row["queue"]: (row["body"], row["size"]) for row in rows if row["fact"] == "published"}
    assert kept == {"secret": (None, 4), "secrets": (None, 4), "open": (b"body", 4), "exact": (None, 4)}


def test_a_file_says_what_it_holds() -> None:
    disk = journal_of(lives(3), step_us=5)
    content, told = encode(segment_of(disk), STORE_ID, {9: b"old \xff"}, WORDS)
    assert decode(content) == told
    assert (told.store_id, told.segment, told.first, told.last) == (STORE_ID, 1, 1, 10)
    assert (told.first_at_us, told.last_at_us) == (START_US, START_US + 15)
    assert told.counts == {facts.DECLARED: 1, facts.PUBLISHED: 3, facts.LEASED: 3, facts.FINISHED: 3}
    assert told.queues == {9: b"old \xff", 1: b"orders"}


def test_a_queue_that_was_removed_is_named_to_its_end_and_not_after() -> None:
    batch = FactBatch()
    batch.queue_changed(facts.REMOVED, 9, 4, b"old", b"")
    content, told = encode(segment_of(journal_of([batch])), STORE_ID, {9: b"old"}, WORDS)
    assert [row["queue"] for row in read(content)] == ["old"]
    assert told.queues == {}


def test_a_fact_of_a_queue_that_was_never_declared_is_refused() -> None:
    with pytest.raises(BadRow, match="fact 2 speaks of queue 1, which is not there"):
        encode(segment_of(journal_of(_without_declaration())), STORE_ID, {}, WORDS)


def _without_declaration() -> list[FactBatch]:
    first = FactBatch()
    first.server_changed(facts.STARTED, 1, b"")
    return [first, *lives(1)[1:]]


def test_an_extra_that_cannot_be_read_is_refused() -> None:
    batch = FactBatch()
    batch.queue_changed(facts.DECLARED, 1, 4, b"orders", b"{}")
    message = Message(1, 1, b"body", START_US, START_US)
    message.origin = Origin()
    message.origin.trace = b"a trace"
    batch.published(message)
    segment = segment_of(with_bad_extra(journal_of([batch])))
    with pytest.raises(BadRow, match="fact 2 cannot be read: an extra is cut short") as bad:
        encode(segment, STORE_ID, {}, WORDS)
    assert "byte 64, where fact 1 is expected" in str(segment.damaged(bad.value))


def with_bad_extra(disk: SimDisk) -> SimDisk:
    """The extra claims to be longer than it is; the checksum agrees."""
    data = disk.contents()[segment_name(1)]
    batch = batch_at(data, HEADER_BYTES)
    assert batch is not None
    payload = payload_of(data, batch).replace(b"\x07\x00a trace", b"\x09\x00a trace")
    made = encode_batch(
        seed_of(STORE_ID), batch.first, batch.at_us, batch.synced, batch.count, batch.heap_bytes, payload
    )
    return SimDisk({segment_name(1): data[:HEADER_BYTES] + made + data[batch.end :]})


def test_what_is_no_whole_file_is_told_from_what_a_later_version_wrote() -> None:
    content, _ = encode(segment_of(journal_of(lives(2))), STORE_ID, {}, WORDS)
    for broken in (b"", b"PAR1", content[:-1], content[: len(content) // 2]):
        with pytest.raises(Unreadable):
            decode(broken)
    with pytest.raises(OtherVersion, match="of version 2, not 1"):
        decode(resaid(content, {b"penstock.version": b"2"}))
    for key in (b"penstock.store", b"penstock.last", b"penstock.queues"):
        with pytest.raises(Unreadable):
            decode(resaid(content, {key: b"?"}))
    with pytest.raises(Unreadable, match="holds 7 facts, not 1 to 8"):
        decode(resaid(content, {b"penstock.last": b"8"}))


def resaid(content: bytes, said: dict[bytes, bytes]) -> bytes:
    """The same file with other words about itself."""
    sink = io.BytesIO()
    metadata = pq.read_metadata(io.BytesIO(content)).metadata
    with pq.ParquetWriter(sink, SCHEMA) as writer:
        writer.write_table(pq.read_table(io.BytesIO(content)))
        writer.add_key_value_metadata({**metadata, **said})
    return sink.getvalue()
