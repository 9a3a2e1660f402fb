"""Frames of RFC 6455: read however they are cut, refused where they are none, and read back as they were written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from librt.strings import BytesWriter

from penstock.codecs import websocket
from penstock.codecs.websocket import (
    BINARY,
    BROKEN,
    CLOSE,
    MORE,
    NO_CODE,
    PING,
    PONG,
    PROTOCOL_ERROR,
    TEXT,
    TOO_LARGE,
    FrameReader,
    client_frame,
    close_payload,
    write_frame,
)
from penstock.model.limits import FRAGMENTS_MAX

LIMIT = 1 << 20
MASK = b"\x37\xfa\x21\x3d"
FIN = 0x80

Found = list[tuple[int, bytes]]


def server() -> FrameReader:
    return FrameReader(LIMIT, True)


def read(reader: FrameReader, *segments: bytes) -> Found:
    """Messages, and then the close code if the framing is lost."""
    found: Found = []
    for segment in segments:
        reader.feed(segment)
        while (kind := int(reader.take())) not in (MORE, BROKEN):
            found.append((kind, reader.payload))
    return found


def refused(data: bytes) -> int:
    reader = server()
    assert read(reader, data) == []
    assert reader.take() == BROKEN
    return int(reader.close_code)


def piece(first: int, payload: bytes) -> bytes:
    """A client's frame that may stand among others of its message."""
    return bytes((first,)) + client_frame(0, payload, MASK)[1:]


def from_server(opcode: int, payload: bytes) -> bytes:
    out = BytesWriter()
    write_frame(out, opcode, payload)
    return out.getvalue()


# -- the examples of the RFC, section 5.7


def test_a_single_frame() -> None:
    assert read(server(), bytes.fromhex("818537fa213d7f9f4d5158")) == [(TEXT, b"Hello")]
    assert from_server(TEXT, b"Hello") == bytes.fromhex("810548656c6c6f")
    assert client_frame(TEXT, b"Hello", MASK) == bytes.fromhex("818537fa213d7f9f4d5158")


def test_a_fragmented_message_from_a_server() -> None:
    reader = FrameReader(LIMIT, False)
    assert read(reader, bytes.fromhex("010348656c 80026c6f")) == [(TEXT, b"Hello")]


def test_a_ping_and_its_answer() -> None:
    assert from_server(PING, b"Hello") == bytes.fromhex("890548656c6c6f")
    assert client_frame(PONG, b"Hello", MASK) == bytes.fromhex("8a8537fa213d7f9f4d5158")


@pytest.mark.parametrize(("length", "head"), [(256, "827e0100"), (65_536, "827f0000000000010000")])
def test_longer_ones(length: int, head: str) -> None:
    assert from_server(BINARY, bytes(length)) == bytes.fromhex(head) + bytes(length)


# -- both ways


@pytest.mark.parametrize("length", [0, 1, 125, 126, 127, 32_767, 32_768, 65_535, 65_536, 100_000])
def test_any_length_is_read_as_it_was_written(length: int) -> None:
    payload = b"x" * length
    assert read(server(), client_frame(BINARY, payload, MASK)) == [(BINARY, payload)]
    assert read(FrameReader(LIMIT, False), from_server(TEXT, payload)) == [(TEXT, payload)]


messages = st.lists(st.tuples(st.sampled_from([TEXT, BINARY, PING, PONG]).map(int), st.binary(max_size=125)))


@given(messages, st.lists(st.integers(0, 400)), st.binary(min_size=4, max_size=4))
def test_however_it_is_cut(sent: Found, cuts: list[int], mask: bytes) -> None:
    data = b"".join([client_frame(kind, payload, mask) for kind, payload in sent])
    places = sorted(min(cut, len(data)) for cut in cuts)
    segments = [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]
    assert read(server(), *segments) == sent


@given(st.lists(st.binary(max_size=20), min_size=2, max_size=8), st.lists(st.binary(max_size=5), max_size=3))
def test_a_message_in_pieces_with_pings_between_them(pieces: list[bytes], pings: list[bytes]) -> None:
    data = piece(int(TEXT), pieces[0])
    for middle in pieces[1:-1]:
        data += piece(0, middle)
    data += b"".join([client_frame(PING, ping, MASK) for ping in pings])
    data += piece(FIN, pieces[-1])
    expected = [(int(PING), ping) for ping in pings] + [(int(TEXT), b"".join(pieces))]
    assert read(server(), data) == expected
    assert read(server(), *[data[at : at + 1] for at in range(len(data))]) == expected


@given(st.binary(max_size=60), st.lists(st.integers(0, 60)))
def test_any_bytes_at_all_come_to_the_same_however_they_are_cut(data: bytes, cuts: list[int]) -> None:
    places = sorted(min(cut, len(data)) for cut in cuts)
    segments = [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]
    whole, parts = server(), server()
    assert read(whole, data) == read(parts, *segments)
    assert whole.close_code == parts.close_code


# -- refusals


@pytest.mark.parametrize(
    "frame",
    [
        "8100",  # not masked
        "c180",  # reserved bits
        "a180",
        "9180",
        "8380",  # opcodes that are none
        "8b80",
        "8f80",
        "8080",  # a continuation of nothing
        "0980",  # a control frame in pieces
        "0880",
        "89fe",  # a control frame that is too long
        "88ff",
    ],
)
def test_what_is_no_frame_is_known_by_its_first_two_bytes(frame: str) -> None:
    assert refused(bytes.fromhex(frame)) == PROTOCOL_ERROR


def test_a_message_within_a_message() -> None:
    assert refused(piece(int(TEXT), b"a") + client_frame(TEXT, b"b", MASK)) == PROTOCOL_ERROR


def test_a_client_takes_no_masked_frames() -> None:
    reader = FrameReader(LIMIT, False)
    assert read(reader, client_frame(TEXT, b"Hello", MASK)) == []
    assert reader.close_code == PROTOCOL_ERROR


def test_what_is_behind_is_not_read() -> None:
    reader = server()
    assert read(reader, client_frame(TEXT, b"a", MASK) + b"\x81\0" + client_frame(TEXT, b"b", MASK)) == [(TEXT, b"a")]
    assert read(reader, client_frame(TEXT, b"c", MASK)) == []


# -- limits


def test_a_frame_that_is_too_long_is_refused_before_it_comes() -> None:
    assert refused(b"\x82\xff" + (LIMIT + 1).to_bytes(8, "big")) == TOO_LARGE
    assert refused(b"\x82\xff" + b"\xff" * 8) == TOO_LARGE


def test_the_longest_is_not() -> None:
    assert read(server(), client_frame(TEXT, b"x" * LIMIT, MASK)) == [(TEXT, b"x" * LIMIT)]


def test_the_pieces_of_a_message_count_together() -> None:
    assert refused(piece(int(TEXT), b"x" * LIMIT) + piece(FIN, b"x")) == TOO_LARGE
    reader = server()
    whole = piece(int(TEXT), b"x" * LIMIT) + client_frame(PING, b"ping", MASK) + piece(FIN, b"")
    assert read(reader, whole) == [(PING, b"ping"), (TEXT, b"x" * LIMIT)]


def test_there_are_only_so_many_pieces() -> None:
    assert read(server(), piece(int(TEXT), b"") + piece(0, b"") * (FRAGMENTS_MAX - 2) + piece(FIN, b"")) == [
        (TEXT, b"")
    ]
    assert refused(piece(int(TEXT), b"") + piece(0, b"") * FRAGMENTS_MAX) == TOO_LARGE


# -- closing


@pytest.mark.parametrize("code", [1_000, 1_001, 1_002, 1_003, 1_007, 1_011, 1_014, 3_000, 3_999, 4_000, 4_999])
@pytest.mark.parametrize("reason", [b"", "tschüß".encode(), b"r" * 123])
def test_a_close_with_a_code_that_may_be_sent(code: int, reason: bytes) -> None:
    reader = server()
    assert read(reader, client_frame(CLOSE, code.to_bytes(2, "big") + reason, MASK)) == [(CLOSE, reader.payload)]
    assert reader.close_code == code


@pytest.mark.parametrize("code", [0, 1, 999, 1_004, 1_005, 1_006, 1_015, 1_016, 2_999, 5_000, 65_535])
def test_one_with_a_code_that_may_not(code: int) -> None:
    assert refused(client_frame(CLOSE, code.to_bytes(2, "big"), MASK)) == PROTOCOL_ERROR


@pytest.mark.parametrize("payload", [b"\3", b"\3\xe8\xff", b"\3\xe8\xc3"])
def test_one_with_half_a_code_or_a_reason_that_is_no_text(payload: bytes) -> None:
    assert refused(client_frame(CLOSE, payload, MASK)) == PROTOCOL_ERROR


def test_one_without_a_code_is_answered_without_one() -> None:
    reader = server()
    assert read(reader, client_frame(CLOSE, b"", MASK)) == [(CLOSE, b"")]
    assert reader.close_code == NO_CODE
    assert close_payload(reader.close_code) == b""
    assert close_payload(websocket.NORMAL) == b"\x03\xe8"


# -- cost


def test_a_long_frame_in_many_small_segments_is_joined_once() -> None:
    """A frame whose bytes were copied with every segment would take minutes here."""
    frame = client_frame(TEXT, b"x" * LIMIT, MASK)
    assert read(server(), *[frame[at : at + 64] for at in range(0, len(frame), 64)]) == [(TEXT, b"x" * LIMIT)]
