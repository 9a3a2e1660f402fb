"""RESP: what is written is read back however it is cut, and what announces too much is refused before it comes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from librt.strings import BytesWriter

from penstock.codecs import resp
from penstock.codecs.resp import Reader, split
from penstock.model.limits import (
    COMMAND_MAX,
    COMMAND_WORDS_MAX,
    INLINE_MAX,
    STRANGER_WORD_MAX,
    STRANGER_WORDS_MAX,
    WORD_MAX,
)
from tests.dialects.redis_model import answers, command

requests = st.lists(st.lists(st.binary(max_size=40), min_size=1, max_size=6), max_size=5)


def read(data: bytes, places: list[int] | None = None, reader: Reader | None = None) -> tuple[list[list[bytes]], bytes]:
    """The requests in these bytes, cut there; and why there were no more."""
    reader = reader or Reader()
    found: list[list[bytes]] = []
    marks = [0, *sorted(place for place in places or [] if place <= len(data)), len(data)]
    kept = b""
    for begin, end in pairwise(marks):
        kept += data[begin:end]
        at = 0
        while at < len(kept) and not reader.broken:
            at = int(reader.read(kept, at))
            if not reader.whole:
                break
            if reader.words:
                found.append(reader.words)
        kept = kept[at:]
    return found, reader.broken


@given(requests, st.lists(st.integers(0, 400)))
def test_requests_are_read_as_they_were_written_however_they_are_cut(
    asked: list[list[bytes]], places: list[int]
) -> None:
    assert read(b"".join([command(*words) for words in asked]), places) == (asked, b"")


@given(st.binary(), st.lists(st.integers(0, 40)))
@example(b"*1\r\n$-1\r\n", [])
@example(b"*0000000001\r\n$0\r\n\r\n", [11])
def test_any_bytes_are_read_alike_however_they_are_cut(data: bytes, places: list[int]) -> None:
    assert read(data, places) == read(data)


@pytest.mark.parametrize("empty", [b"*0\r\n", b"*-1\r\n", b"\r\n", b"  \n"])
def test_a_request_of_no_words_is_passed_over(empty: bytes) -> None:
    assert read(empty + command(b"PING")) == ([[b"PING"]], b"")


@pytest.mark.parametrize(
    ("data", "broken"),
    [
        (b"*x\r\n", resp.BAD_COUNT),
        (b"*\r\n", resp.BAD_COUNT),
        (b"*12345678901", resp.BAD_COUNT),
        (b"*%d\r\n" % (COMMAND_WORDS_MAX + 1), resp.BAD_COUNT),
        (b"*1000000\r\n", resp.BAD_COUNT),
        (b"*1\r\n+PING\r\n", resp.NO_DOLLAR),
        (b"*1\r\n$-1\r\n", resp.BAD_LENGTH),
        (b"*1\r\n$4\n", resp.BAD_LENGTH),
        (b"*1\r\n$%d\r\n" % (WORD_MAX + 1), resp.BAD_LENGTH),
        (b"*1\r\n$1\r\nab\r\n", resp.NO_END),
        (b"x" * (INLINE_MAX + 1), resp.TOO_LONG_INLINE),
        (b'echo "x\n', resp.UNBALANCED),
    ],
)
def test_framing_that_makes_no_sense_is_refused_at_once(data: bytes, broken: bytes) -> None:
    assert read(command(b"PING") + data) == ([[b"PING"]], broken)


def test_a_request_is_bounded_as_a_whole_before_its_last_word_comes() -> None:
    word = b"$%d\r\n%b\r\n" % (WORD_MAX, bytes(WORD_MAX))
    assert 4 * len(word) > COMMAND_MAX
    found, broken = read(b"*9\r\n" + 3 * word + b"$%d\r\n" % WORD_MAX)
    assert (found, broken) == ([], resp.TOO_LONG)


def test_a_stranger_may_say_little() -> None:
    for data in (b"*%d\r\n" % (STRANGER_WORDS_MAX + 1), b"*1\r\n$%d\r\n" % (STRANGER_WORD_MAX + 1)):
        reader = Reader()
        reader.stranger = True
        assert read(data, reader=reader)[1]
        assert not read(data)[1]
    reader = Reader()
    reader.stranger = True
    assert read(b"x" * (STRANGER_WORD_MAX + 1), reader=reader)[1] == resp.TOO_LONG_INLINE


def test_a_long_word_is_waited_for_in_one_piece() -> None:
    reader = Reader()
    data = command(b"ECHO", b"x" * 1_000)
    at = int(reader.read(data[:30], 0))
    assert not reader.whole
    assert data[at : at + reader.needed] == b"$1000\r\n" + b"x" * 1_000 + b"\r\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"PING", [b"PING"]),
        (b"  two\twords \r", [b"two", b"words"]),
        (b"\"\" ''", [b"", b""]),
        (rb'"a\"b\\\n\x41\q"', [b'a"b\\\nAq']),
        (rb"'it\'s \n'", [b"it's \\n"]),
        (rb'"\x4"', [b"x4"]),
        (b'pre"fix"', [b"prefix"]),
        (b'"a"b', None),
        (b"'a", None),
        (b'"a\\', None),
    ],
)
def test_a_line_is_split_as_redis_splits_it(line: bytes, words: list[bytes] | None) -> None:
    assert split(line) == words


@given(st.binary(max_size=3_000), st.integers(-(1 << 60), 1 << 60))
@example(b"", 0)
@example(b"x" * 1_023, 1_023)
@example(b"x" * 1_024, 1_024)
def test_answers_are_read_back_by_a_client(word: bytes, number: int) -> None:
    out = BytesWriter()
    resp.write_array(out, 3)
    resp.write_bulk(out, word)
    resp.write_number(out, number)
    resp.write_decimal(out, number)
    resp.write_error(out, b"ERR two\r\nlines")
    assert answers(out.getvalue()) == [[word, number, b"%d" % number], "ERR two  lines"]
