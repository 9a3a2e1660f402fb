"""A body as JSON shows it: whatever it is, it can be read again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.codecs.showing import quoted, shown


def read(said: bytes) -> bytes:
    value = json.loads(said)
    return value.encode() if isinstance(value, str) else bytes(value)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", b'""'),
        (b"plain", b'"plain"'),
        (b'a "quote"', b'"a \\"quote\\""'),
        (b"a\\b", b'"a\\\\b"'),
        (b"a\nb\x00", b'"a\\nb\\u0000"'),
        ("ü€/".encode(), '"ü€/"'.encode()),
        (b"\xff\x00", b"[255,0]"),
    ],
)
def test_how_it_is_shown(body: bytes, said: bytes) -> None:
    assert shown(body) == said


@given(st.one_of(st.binary(max_size=40), st.text(max_size=40).map(str.encode)))
def test_any_body_can_be_read_again(body: bytes) -> None:
    assert read(shown(body)) == body


@given(st.text(max_size=40))
def test_a_text_is_shown_as_such(text: str) -> None:
    assert json.loads(quoted(text)) == text
