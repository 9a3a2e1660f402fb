"""Plain JSON: both ways of finding a text's end find the same, and an object is read as far as it is plain."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.codecs.plain import PlainObject, in_one, in_words, is_plain, plain_end, word_of

MARKS = b'\x00\x1f "\\/\x7f\x80\xff~!#[]^'

# Mostly plain, so that the end is seldom near.
datas = st.lists(st.one_of(st.binary(max_size=3), st.sampled_from([b"a" * 7, b"plain words ", MARKS])), max_size=12)


@pytest.mark.parametrize("padding", [b"a", b"\x7f", b" ", b"!", b"]", b"["])
@pytest.mark.parametrize("before", [0, 1, 7, 8, 13])
def test_where_a_text_is_no_longer_plain(padding: bytes, before: int) -> None:
    for byte in range(256):
        needs_more = byte < 0x20 or byte > 0x7F or byte in b'"\\'
        data = padding * before + bytes([byte]) + padding * 9
        end = before if needs_more else len(data)
        assert (in_words(data, 0), in_one(data, 0), plain_end(data, 0)) == (end, end, end)
        assert is_plain(data) is not needs_more


@given(datas.map(b"".join), st.integers(0, 20))
def test_any_text_from_anywhere(data: bytes, at: int) -> None:
    at = min(at, len(data))
    found = re.compile(rb'[^"\\\x00-\x1f\x80-\xff]*').match(data, at)
    assert found is not None
    assert in_words(data, at) == in_one(data, at) == found.end()


@given(st.text(max_size=30))
def test_what_is_plain_is_json_as_it_stands(text: str) -> None:
    if is_plain(text.encode()):
        assert json.dumps(text) == f'"{text}"'


def test_a_name_is_a_number_of_its_own() -> None:
    names = [
        b"",
        b"a",
        b"b",
        b"z",
        b"_",
        b"aa",
        b"az",
        b"_a",
        b"a_",
        b"ba",
        b"block_timeout",
        b"zzzzzzzzzzzzz",
        b"_" * 13,
    ]
    numbers = [word_of(name) for name in names]
    assert len(set(numbers)) == len(names)
    assert 0 <= max(numbers) < 1 << 63


class Members(PlainObject):
    """Keeps everything, whatever it is called: a word at least where one is wanted."""

    def __init__(self, wants_word: bool = False) -> None:
        super().__init__()
        self.wants_word = wants_word
        self.kept: list[tuple[int, object]] = []

    def forget(self) -> None:
        self.kept = []

    def member(self) -> int:
        return 1 << len(self.kept)

    def value(self, member: int) -> bool:
        name = self.word
        if self.wants_word:
            found: object = self.word if self.says() else None
        else:
            found = self.text() if self.tells() else self.number if self.measures() else None
        self.kept.append((name, found))
        return found is not None


def read(payload: bytes, wants_word: bool = False) -> list[tuple[int, object]] | None:
    members = Members(wants_word)
    return members.kept if members.reads(payload) else None


@pytest.mark.parametrize(
    "payload", [b"", b"{", b"}", b"{}", b"[]", b'"a"', b'{"a":1', b'"a":1}', b' {"a":1}', b'{"a":1} ']
)
def test_what_is_no_object_is_not_read(payload: bytes) -> None:
    assert read(payload) is None


@pytest.mark.parametrize("payload", [b'{"a":"b","c":17}', b'{"a": "b", "c": 17}'])
def test_members_one_after_the_other(payload: bytes) -> None:
    assert read(payload) == [(word_of(b"a"), b"b"), (word_of(b"c"), 17)]


def test_a_member_is_not_said_twice() -> None:
    class Same(Members):
        def member(self) -> int:
            return 1

    assert Same().reads(b'{"a":1}')
    assert not Same().reads(b'{"a":1,"a":1}')


def test_a_member_that_nobody_knows_is_not_read() -> None:
    class Nobody(Members):
        def member(self) -> int:
            return 0

    assert not Nobody().reads(b'{"a":1}')


@pytest.mark.parametrize("name", [b"", b"a", b"queue", b"block_timeout", b"_" * 13, b"zzzzzzzzzzzzz"])
def test_words(name: bytes) -> None:
    assert read(b'{"%s":"%s"}' % (name, name), wants_word=True) == [(word_of(name), word_of(name))]


@pytest.mark.parametrize(
    "said", [b'"A"', b'"a b"', b'"a1"', b'"`"', b'"{"', b'"' + b"a" * 14 + b'"', b"1", b'"a', b'"']
)
def test_what_is_no_word(said: bytes) -> None:
    assert read(b'{"a":%s}' % said, wants_word=True) is None
    assert read(b"{%s:1}" % said) is None


@pytest.mark.parametrize("number", [0, 7, 10, 123_456_789, 999_999_999_999_999_999])
@pytest.mark.parametrize("form", [b'{"a":%d}', b'{"a":%d.0}'])
def test_numbers(number: int, form: bytes) -> None:
    assert read(form % number) == [(word_of(b"a"), number)]


@pytest.mark.parametrize(
    "number",
    [
        *(b"-1", b"01", b"00", b"", b"1" * 19, b"1" * 5_000, b"null", b"+1", b".5", b"1.5", b"1.00", b"1.", b"1.0.0"),
        *(b"1e3", b"1.0e2", b"1 ", b"1,", b"1x", b"1}", b"1.}"),
    ],
)
def test_what_is_not_a_plain_number(number: bytes) -> None:
    assert read(b'{"a":%s}' % number) is None


@pytest.mark.parametrize("text", [b'"a', b"a", b'"\\n"', b'"\xc3\xbc"', b'"a\nb"', b'"', b'"a"b', b'"a" '])
def test_what_is_not_a_plain_text(text: bytes) -> None:
    assert read(b'{"a":%s}' % text) is None
