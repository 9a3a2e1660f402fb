"""What a decoder lets pass and we do not: compared with a reader that looks at everything."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.codecs.strict import depth, is_sound
from penstock.model.limits import JSON_DEPTH_MAX


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (b'{"a":1}', 1),
        (b'{"a":":","b":"::"}', 2),
        (b'{"a" : 1 , "b"\t:\n2}', 2),
        (b'{"a":"{\\"b\\":1,\\"b\\":2}"}', 1),
        (b'{"a":1,"unknown":{"a":2},"more":[{"a":3},{"a":4}]}', 1),
        (b'{"a":"ends in a backslash\\\\","b":2}', 2),
        (b'{"a\\\\":1,"b\\\\":2}', 0),
        ('{"a":"ü€😀"}'.encode(), 1),
        (b'{"a":"\\u00fc"}', 1),
        (b'"no object"', 0),
    ],
)
def test_what_is_sound(text: bytes, fields: int) -> None:
    assert is_sound(text, fields)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (b'{"a":1,"a":1}', 1),
        (b'{"a":1,"\\u0061":1}', 1),
        (b'{"a" :1,"a"\n:1}', 1),
        (b'{"a":1,"x":1,"x":1}', 1),
        (b'{"a":{"b":1,"b":2}}', 1),
        (b'{"a":[[{"b":1,"c":2,"b":3}]]}', 1),
        (b'{"a\\\\":1,"a\\\\":1}', 0),
        (b'{"a\\"":1,"a\\"":1}', 0),
        (b'{"a":"\\":","a":"\\":"}', 1),
        (b'{"a":"\xff"}', 1),
        (b'{"a":"\xed\xa0\x80"}', 1),
        (b'{"\xc3":1}', 1),
    ],
)
def test_what_is_not(text: bytes, fields: int) -> None:
    assert not is_sound(text, fields)


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_how_deep_it_may_be(opening: bytes, closing: bytes) -> None:
    for deep in (1, JSON_DEPTH_MAX, JSON_DEPTH_MAX + 1, 10 * JSON_DEPTH_MAX):
        text = opening * deep + b"1" + closing * deep
        assert depth(text) == deep
        assert is_sound(text, 0) is (deep <= JSON_DEPTH_MAX)


def test_brackets_in_a_text_are_none() -> None:
    text = b'{"a":"' + b"[{" * 1_000 + b'\\"' + b"[{" * 1_000 + b'"}'
    assert depth(text) == 1
    assert is_sound(text, 1)


# Texts in which keys, colons, quotes, backslashes and white space meet in every way.
keys = st.sampled_from(["a", "b", "a:", 'a"', "a\\", '":', "\\\\", " :", ""])
values = st.recursive(
    keys | st.integers(0, 9),
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(keys, inner), max_size=3).map(tuple),
    max_leaves=8,
)
whites = st.sampled_from(["", "", " ", "\n", "\t "])


def written(value: object, white: str) -> str:
    """A tuple is an object whose keys need not differ."""
    if isinstance(value, tuple):
        rows = [f"{json.dumps(key)}{white}:{white}{written(inner, white)}" for key, inner in value]
        return "{" + f"{white},{white}".join(rows) + "}"
    if isinstance(value, list):
        return "[" + f"{white},".join(written(inner, white) for inner in value) + "]"
    return json.dumps(value)


def doubled(value: object) -> bool:
    if isinstance(value, tuple):
        names = [key for key, _ in value]
        return len(set(names)) != len(names) or any(doubled(inner) for _, inner in value)
    return isinstance(value, list) and any(map(doubled, value))


@given(st.lists(st.tuples(keys, values), max_size=4).map(tuple), whites, st.integers(0, 4))
@example((("a", '":'), ("a", 1)), "", 1)
@example((("a\\", 1), ("a\\", 1), ("b", '":')), "", 2)
def test_a_key_that_is_said_twice_is_always_found(value: tuple[tuple[str, object], ...], white: str, most: int) -> None:
    """As many fields as a decoder could know of: never more than there are different names."""
    fields = min(most, len({key for key, _ in value}))
    assert is_sound(written(value, white).encode(), fields) is not doubled(value)


def test_it_costs_little_where_there_is_no_doubt() -> None:
    body = b'{\\"k\\": \\"v\\"}, ' * 70_000
    start_s = time.process_time()
    assert is_sound(b'{"cmd":"PUB","qname":"q","msg":"' + body + b'"}', 3)
    assert time.process_time() - start_s < 0.5
