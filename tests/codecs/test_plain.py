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


@pytest.mark.parametrize("name", [b"", b"a", b"queue", b"block_timeout", b"_" * 13, b"zzzzzzzzzzzzz"])
def test_words(name: bytes) -> None:
    members = opened(b'{"%s":1}' % name)
    assert members.named()
    assert members.word == word_of(name)


@pytest.mark.parametrize(
    "said", [b'"A"', b'"a b"', b'"a1"', b'"`"', b'"{"', b'"' + b"a" * 14 + b'"', b"1", b'"a', b'"']
)
def test_what_is_no_word(said: bytes) -> None:
    assert not opened(b"{%s}" % said).says()


def opened(payload: bytes) -> PlainObject:
    found = PlainObject()
    assert found.opens(payload)
    return found


@pytest.mark.parametrize("payload", [b"", b"{", b"}", b"[]", b'"a"', b'{"a":1', b'"a":1}', b' {"a":1}', b'{"a":1} '])
def test_what_is_no_object_is_not_opened(payload: bytes) -> None:
    assert not PlainObject().opens(payload)


@pytest.mark.parametrize("payload", [b'{"a":"b","c":17}', b'{"a": "b", "c": 17}'])
def test_members_one_after_the_other(payload: bytes) -> None:
    members = opened(payload)
    assert members.named()
    assert members.word == word_of(b"a")
    assert members.text()
    assert payload[members.start : members.stop] == b"b"
    assert members.goes_on()
    assert members.named()
    assert members.word == word_of(b"c")
    assert members.whole()
    assert members.number == 17
    assert not members.goes_on()
    assert members.ended


@pytest.mark.parametrize("number", [0, 7, 10, 123_456_789, 999_999_999_999_999_999])
def test_numbers(number: int) -> None:
    members = opened(b'{"a":%d}' % number)
    assert members.named()
    assert members.whole()
    assert members.number == number
    assert not members.goes_on()
    assert members.ended


@pytest.mark.parametrize("number", [b"-1", b"01", b"00", b"", b"1" * 19, b"1" * 5_000, b"null", b'"1"', b"+1", b".5"])
def test_what_is_not_a_plain_number(number: bytes) -> None:
    members = opened(b'{"a":%s}' % number)
    assert members.named()
    assert not members.whole()


@pytest.mark.parametrize(("seconds", "plain"), [(b"1", True), (b"1.0", True), (b"1.00", False), (b"1.5", False)])
def test_seconds(seconds: bytes, plain: bool) -> None:
    members = opened(b'{"a":%s}' % seconds)
    assert members.named()
    members.seconds()
    members.goes_on()
    assert members.ended is plain


@pytest.mark.parametrize("rest", [b"1e3", b"1.0.0", b"1 ", b"1,", b"1x", b"1}", b"1.}", b"1.0e2"])
def test_what_does_not_end_behind_its_value_has_not_ended(rest: bytes) -> None:
    members = opened(b'{"a":%s}' % rest)
    assert members.named()
    assert not (members.seconds() and not members.goes_on() and members.ended)


@pytest.mark.parametrize("text", [b'"a', b"a", b"", b'"\\n"', b'"\xc3\xbc"', b'"a\nb"', b'"'])
def test_what_is_not_a_plain_text(text: bytes) -> None:
    assert not opened(b"{%s}" % text).text()
