"""Facts as bytes: what is written reads back, stands where docs/journal-format.md says, and nonsense is refused."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from librt.strings import BytesWriter

from penstock.codecs.facts import RECORD_BYTES, BadFact, Fact, FactBatch, decode_origin, read_facts, write_origin
from penstock.model import facts
from penstock.model.message import Message, Origin

AT_US = 1_700_000_000_000_000

i64s = st.integers(-(1 << 63), (1 << 63) - 1)
ORIGIN_FIELDS = {
    "dedup_id": st.binary(max_size=30),
    "foreign_id": st.binary(max_size=30),
    "trace": st.binary(max_size=30),
    "principal": st.binary(max_size=30),
    "poster": i64s,
    "label": st.integers(0, (1 << 64) - 1),
    "notify": st.integers(0, 255),
    "dead_of": i64s,
    "dead_from": st.none() | st.binary(max_size=30),
    "deliveries": i64s,
    "first_leased_us": i64s,
    "mark": st.binary(max_size=30),
    "row": i64s,
}


def an_origin(**said: object) -> Origin:
    origin = Origin()
    for field, value in said.items():
        setattr(origin, field, value)
    return origin


def said(origin: Origin | None) -> dict[str, object]:
    return {field: getattr(origin or Origin(), field) for field in ORIGIN_FIELDS}


def a_message(
    number: int = 5, body: bytes = b"body", key: bytes | None = None, parked: bool = False, origin: Origin | None = None
) -> Message:
    message = Message(number, 3, body, AT_US, AT_US + 1)
    message.key, message.parked, message.origin, message.dialect = key, parked, origin, 2
    return message


def read(batch: FactBatch, first: int = 1) -> list[Fact]:
    return read_facts(batch.payload(), int(batch.count), batch.heap_bytes(), first, AT_US)


# -- where the bytes stand


def test_a_record_has_its_columns_where_the_page_draws_them() -> None:
    message = a_message(key=b"key", parked=True, origin=an_origin(trace=b"t"))
    message.expires_us, message.lease_us, message.priority = 11, 12, -13
    batch = FactBatch()
    batch.published(message)
    payload = batch.payload()
    assert payload[:4] == bytes([facts.PUBLISHED, facts.PARKED_FLAG | facts.KEYED_FLAG, 2, 0])
    assert struct.unpack_from("<I", payload, 4) == (3,)
    assert struct.unpack_from("<6q", payload, 8) == (5, AT_US + 1, 11, 12, -13, 0)
    assert struct.unpack_from("<IHH", payload, 56) == (4, 3, 4)
    assert payload[RECORD_BYTES:] == b"key" + b"body" + b"\x03\x01\x00t" + bytes(5)


def test_a_later_fact_of_a_message_says_when_how_long_how_often_and_who() -> None:
    message = a_message()
    message.deliveries = 4
    batch = FactBatch()
    batch.moved(facts.LEASED, message, 6, 0, facts.OLD_PLACE_FLAG, 77, 7, 9)
    assert struct.unpack("<BBBBI6qIHH", batch.payload()) == (8, 4, 6, 0, 3, 5, 77, 0, 7, 4, 9, 0, 0, 0)


def test_facts_of_queues_and_of_the_server_keep_words_in_the_heap() -> None:
    batch = FactBatch()
    batch.queue_changed(facts.DECLARED, 3, 2, b"name", b"{}")
    batch.server_changed(facts.STARTED, 99, b"note")
    declared, started = read(batch)
    assert (declared.kind, declared.queue_id, declared.dialect) == (2, 3, 2)
    assert (declared.key, declared.body) == (b"name", b"{}")
    assert (started.kind, started.message, started.key, started.body) == (1, 99, None, b"note")


def test_records_stand_before_the_heap_and_the_heap_is_padded_to_eight() -> None:
    batch = FactBatch()
    for size in range(10):
        batch.published(a_message(size, bytes([size]) * size))
        payload = batch.payload()
        assert len(payload) % 8 == 0
        assert len(payload) - int(batch.count) * RECORD_BYTES - batch.heap_bytes() in range(8)


def test_asking_for_the_payload_twice_gives_the_same() -> None:
    batch = FactBatch()
    batch.published(a_message())
    assert batch.payload() == batch.payload()


def test_a_cleared_batch_is_empty() -> None:
    batch = FactBatch()
    batch.published(a_message())
    batch.clear()
    assert (batch.count, batch.heap_bytes(), batch.payload()) == (0, 0, b"")


# -- there and back

origins = st.none() | st.builds(an_origin, **ORIGIN_FIELDS)
messages = st.builds(
    a_message,
    st.integers(1, (1 << 58) - 1),
    st.binary(max_size=50),
    st.none() | st.binary(max_size=20),
    st.booleans(),
    origins,
)


@given(st.lists(messages, max_size=6))
def test_what_is_published_reads_back(published: list[Message]) -> None:
    batch = FactBatch()
    for message in published:
        batch.published(message)
    found = read(batch, first=40)
    assert [fact.seq for fact in found] == list(range(40, 40 + len(published)))
    for fact, message in zip(found, published, strict=True):
        assert (fact.message, fact.body, fact.key, fact.at_us) == (message.order, message.body, message.key, AT_US)
        assert bool(fact.flags & facts.PARKED_FLAG) is message.parked
        assert said(decode_origin(fact.extra)) == said(message.origin)


def encoded(origin: Origin) -> bytes:
    out = BytesWriter()
    write_origin(out, origin)
    return out.getvalue()


@given(st.builds(an_origin, **ORIGIN_FIELDS))
def test_an_origin_reads_back(origin: Origin) -> None:
    assert said(decode_origin(encoded(origin))) == said(origin)


def test_an_origin_that_says_nothing_takes_no_room() -> None:
    assert encoded(Origin()) == b""
    assert decode_origin(b"") is None


def test_the_queue_without_a_name_is_told_from_no_queue() -> None:
    assert encoded(an_origin(dead_from=b"")) == b"\x09\x00\x00"
    assert said(decode_origin(b"\x09\x00\x00")) == said(an_origin(dead_from=b""))


def test_a_past_stands_behind_the_other_extras() -> None:
    origin = an_origin(foreign_id=b"f", deliveries=3, first_leased_us=0x0102)
    deliveries = b"\x0a\x08\x00" + (3).to_bytes(8, "little")
    first_leased = b"\x0b\x08\x00" + (0x0102).to_bytes(8, "little")
    assert encoded(origin) == b"\x02\x01\x00f" + deliveries + first_leased


def test_extras_of_a_later_version_are_passed_over() -> None:
    later = b"\xc8\x03\x00abc"
    origin = decode_origin(later + encoded(an_origin(label=7)) + later)
    assert said(origin) == said(an_origin(label=7))


# -- nonsense


def a_payload() -> tuple[bytes, int]:
    batch = FactBatch()
    batch.published(a_message(body=b"12345678"))
    return batch.payload(), batch.heap_bytes()


def test_a_heap_that_is_not_all_there_is_refused() -> None:
    payload, heap_bytes = a_payload()
    with pytest.raises(BadFact, match="shorter"):
        read_facts(payload[:-1], 1, heap_bytes, 1, AT_US)


def test_a_fact_that_reaches_beyond_the_heap_is_refused() -> None:
    payload, heap_bytes = a_payload()
    with pytest.raises(BadFact, match="beyond"):
        read_facts(payload, 1, heap_bytes - 1, 1, AT_US)


def test_a_heap_that_nobody_speaks_of_is_refused() -> None:
    payload, heap_bytes = a_payload()
    with pytest.raises(BadFact, match="longer"):
        read_facts(payload + bytes(8), 1, heap_bytes + 8, 1, AT_US)


BAD_EXTRAS = [b"\x01", b"\x01\x05\x00abcd", b"\x05\x04\x00abcd", b"\x07\x00\x00", b"\x07\x02\x00ab", b"\x0a\x01\x00a"]


@pytest.mark.parametrize("extra", BAD_EXTRAS)
def test_extras_that_are_cut_or_of_the_wrong_length_are_refused(extra: bytes) -> None:
    with pytest.raises(BadFact):
        decode_origin(extra)


@given(st.binary(max_size=40))
def test_any_bytes_are_an_origin_or_refused(extra: bytes) -> None:
    try:
        origin = decode_origin(extra)
    except BadFact:
        return
    assert (origin is None) is (extra == b"")


@given(st.binary(max_size=300), st.integers(0, 4), st.integers(0, 100))
def test_any_bytes_are_facts_or_refused(payload: bytes, count: int, heap_bytes: int) -> None:
    try:
        found = read_facts(payload, count, heap_bytes, 1, AT_US)
    except BadFact:
        return
    assert len(found) == count
