"""Between JSON and values, for `etzel`: requests, bodies, durations, uids."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from penstock.codecs.etzel import (
    NO_NUMBER,
    OUT_OF_RANGE,
    UID_BYTES,
    UNSAID,
    body_of,
    duration_us,
    least_length,
    request_of,
    uid,
    uid_seq,
)
from penstock.codecs.etzel_shapes import Ack, Del, Fet, Islp, Pub, Sub
from penstock.codecs.ids import Ids
from penstock.codecs.showing import shown
from penstock.model.limits import SEQ_BITS
from tests.dialects import etzel_model

IDS = Ids(b"a secret")


def published(**members: object) -> Pub:
    request = request_of(json.dumps({"cmd": "PUB", "qname": "q", **members}).encode())
    assert isinstance(request, Pub)
    return request


# -- requests


@pytest.mark.parametrize(("cmd", "kind"), [("SUB", Sub), ("FET", Fet), ("ISLP", Islp)])
def test_a_request_with_a_name(cmd: str, kind: type) -> None:
    request = request_of(b'{"cmd":"%b","qname":"q"}' % cmd.encode())
    assert type(request) is kind


@pytest.mark.parametrize(("cmd", "kind"), [("ACK", Ack), ("DEL", Del)])
def test_a_request_with_a_uid(cmd: str, kind: type[Ack]) -> None:
    request = request_of(b'{"cmd":"%b","qname":"q","uid":"u"}' % cmd.encode())
    assert isinstance(request, kind)
    assert (request.qname, request.uid) == ("q", "u")


def test_members_that_nobody_knows_are_passed_over() -> None:
    request = request_of(b'{"cmd":"FET","x":[{"qname":7}],"qname":"q","uid":8}')
    assert isinstance(request, Fet)
    assert request.qname == "q"


members = st.dictionaries(
    st.sampled_from(["cmd", "qname", "msg", "message", "delay", "timeout", "uid", "x"]),
    st.sampled_from(["SUB", "PUB", "FET", "ACK", "q", "", 'a":"b', 0, 5, "60", None, [1], [256], {"x": 1}]),
)


@given(members, st.sampled_from([(",", ":"), (", ", ": "), (" ,", "\t:")]))
def test_what_is_a_request_is_what_the_model_says(said: dict[str, object], separators: tuple[str, str]) -> None:
    payload = json.dumps(said, separators=separators).encode()
    request, expected = request_of(payload), etzel_model.request(payload)
    if isinstance(request, Pub) and (body_of(request) is None or not numeric(request)):
        request = None
    assert (request is None) is (expected is None)


def numeric(request: Pub) -> bool:
    return all(duration_us(one, 0, 9) != NO_NUMBER for one in (request.delay, request.expires, request.timeout))


@given(members, st.sampled_from(["cmd", "qname", "msg", "uid", "delay"]), st.sampled_from(['""', "0", "[]", '"FET"']))
def test_a_key_that_is_said_twice_makes_it_none(said: dict[str, object], twice: str, value: str) -> None:
    payload = json.dumps({"cmd": "ACK", "qname": "", "uid": "", **said, twice: ""}, separators=(",", ":"))
    for text in (f'{{"{twice}":{value},' + payload[1:], payload[:-1] + f',"{twice}":{value}}}'):
        request = request_of(text.encode())
        assert request is None or (isinstance(request, Pub) and body_of(request) is None)


@given(st.text(), st.text(), st.sampled_from([0, 60, "0"]))
def test_no_request_is_shorter_than_the_least(name: str, body: str, number: object) -> None:
    for said in (
        {"cmd": "PUB", "qname": name, "msg": body},
        {"cmd": "PUB", "qname": name, "message": body, "delay": number},
        {"cmd": "PUB", "qname": name, "msg": body, "expires": number, "timeout": number},
        {"cmd": "ACK", "qname": name, "uid": body},
        {"cmd": "FET", "qname": name},
        {"cmd": "ISLP", "qname": name},
    ):
        try:
            payload = json.dumps(said, separators=(",", ":"), ensure_ascii=False).encode()
        except UnicodeEncodeError:
            continue
        request = request_of(payload)
        assert request is not None
        assert least_length(request) <= len(payload)


# -- bodies


@given(st.binary(max_size=50))
def test_a_body_is_read_as_it_was_shown(body: bytes) -> None:
    request = request_of(b'{"cmd":"PUB","qname":"q","msg":' + shown(body) + b"}")
    assert isinstance(request, Pub)
    assert body_of(request) == body


def test_where_a_body_may_stand() -> None:
    assert body_of(published(msg="a")) == body_of(published(message="a")) == b"a"
    assert body_of(published(msg="a", message="b")) == b"a"
    assert body_of(published()) is None


# -- durations


@pytest.mark.parametrize(
    ("said", "us"),
    [
        (0, 0),
        (5, 5_000_000),
        ("5", 5_000_000),
        ("0005", 5_000_000),
        (10, 10_000_000),
        (UNSET, UNSAID),
        (11, OUT_OF_RANGE),
        (-1, OUT_OF_RANGE),
        ("-1", OUT_OF_RANGE),
        ("11", OUT_OF_RANGE),
        (1 << 80, OUT_OF_RANGE),
        ("9" * 10_000, OUT_OF_RANGE),
        ("", NO_NUMBER),
        ("-", NO_NUMBER),
        ("x", NO_NUMBER),
        (" 5", NO_NUMBER),
        ("5\n", NO_NUMBER),
        ("5.0", NO_NUMBER),
        ("1_0", NO_NUMBER),
        ("٥", NO_NUMBER),
    ],
)
def test_seconds_as_microseconds(said: int | str, us: int) -> None:
    assert duration_us(said, 0, 10) == us


# -- uids


@given(st.integers(0, (1 << SEQ_BITS) - 1))
def test_a_uid_leads_back_to_its_number(seq: int) -> None:
    shown = uid(IDS, seq)
    assert 14 <= len(shown) == UID_BYTES <= 18
    assert shown.isalnum()
    assert uid_seq(IDS, shown) == seq


@pytest.mark.parametrize("wrong", ["", "etzl", "etzl000000000", "etzl00000000000", "Etzl0000000000", "etzl00000000é"])
def test_what_is_no_uid(wrong: str) -> None:
    assert uid_seq(IDS, wrong.encode()) == -1
