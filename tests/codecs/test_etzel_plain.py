"""Plain requests of `etzel`: those that clients send are read, and whatever is read means what it means anyhow."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.codecs.etzel import UNSAID
from penstock.codecs.etzel_plain import ACK, FET, NONE, PUB, PlainRequest
from tests.codecs.damage import damaged
from tests.dialects import etzel_model
from tests.dialects.fuzz_etzel import random_request

KINDS = {PUB: "PUB", FET: "FET", ACK: "ACK"}


def read(payload: bytes) -> dict[str, Any] | None:
    """What such a request says, where it is plain."""
    reader = PlainRequest()
    kind = reader.kind_of(payload)
    if kind == NONE:
        return None
    said: dict[str, Any] = {"cmd": KINDS[kind], "qname": reader.qname.decode()}
    if kind == ACK:
        return said | {"uid": reader.uid.decode()}
    if kind == FET:
        return said
    numbers = {"delay": reader.delay_s, "expires": reader.expires_s, "timeout": reader.timeout_s}
    said["msg"] = reader.msg.decode()
    return said | {name: number for name, number in numbers.items() if number != UNSAID}


REQUESTS: list[dict[str, Any]] = [
    {"cmd": "PUB", "qname": "q", "msg": "hello: [1]"},
    {"cmd": "PUB", "qname": "", "msg": ""},
    {"msg": "x" * 5_000, "timeout": 60, "expires": 10**18 - 1, "delay": 0, "qname": "a queue", "cmd": "PUB"},
    {"cmd": "FET", "qname": "q"},
    {"cmd": "ACK", "qname": "q", "uid": "etzl0123456789"},
    {"uid": "", "qname": "q", "cmd": "ACK"},
]


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize("request_", REQUESTS)
def test_what_clients_send_is_plain(request_: dict[str, Any], separators: tuple[str, str]) -> None:
    assert read(json.dumps(request_, separators=separators).encode()) == request_


@pytest.mark.parametrize(
    "payload",
    [
        b'{"cmd":"PUB","qname":"q"}',
        b'{"cmd":"PUB","msg":"m"}',
        b'{"qname":"q","msg":"m"}',
        b'{"cmd":"PUB","qname":"q","message":"m"}',
        b'{"cmd":"PUB","qname":"q","msg":"m","uid":"u"}',
        b'{"cmd":"PUB","qname":"q","msg":"m","unknown":1}',
        b'{"cmd":"PUB","qname":"q","msg":"m","msg":"m"}',
        b'{"cmd":"PUB","qname":"q","msg":[1]}',
        b'{"cmd":"PUB","qname":"q","msg":"m","delay":"1"}',
        b'{"cmd":"PUB","qname":"q","msg":"m","delay":-1}',
        b'{"cmd":"PUB","qname":"q","msg":"m","delay":1.0}',
        b'{"cmd":"PUB","qname":"q","msg":"\\n"}',
        b'{"cmd":"PUB","qname":"q","msg":"\xc3\xbc"}',
        b'{"cmd":"pub","qname":"q","msg":"m"}',
        b'{"cmd":"FET","qname":"q","delay":1}',
        b'{"cmd":"FET","qname":"q","uid":"u"}',
        b'{"cmd":"FET","qname":1}',
        b'{"cmd":"ACK","qname":"q"}',
        b'{"cmd":"DEL","qname":"q","uid":"u"}',
        b'{"cmd":"SUB","qname":"q"}',
        b'{"cmd":"FET","qname":"q"} ',
        b'{"cmd":"FET","qname":"q",}',
        b'{"cmd" :"FET","qname":"q"}',
        b"{}",
        b"",
    ],
)
def test_the_rest_is_left_to_others(payload: bytes) -> None:
    assert read(payload) is None


def test_nothing_is_left_of_the_request_before() -> None:
    reader = PlainRequest()
    assert reader.kind_of(b'{"cmd":"PUB","qname":"q","msg":"m","delay":1,"expires":2,"timeout":3}') == PUB
    assert (reader.delay_s, reader.expires_s, reader.timeout_s) == (1, 2, 3)
    assert reader.kind_of(b'{"cmd":"PUB","qname":"r","msg":"n"}') == PUB
    assert (reader.delay_s, reader.expires_s, reader.timeout_s) == (UNSAID, UNSAID, UNSAID)
    assert (reader.qname, reader.msg) == (b"r", b"n")
    assert reader.kind_of(b'{"qname":"r"}') == NONE
    assert reader.kind_of(b'{"qname":"r","msg":"n"}') == NONE


@given(st.integers(0, 1 << 32).map(Random), st.sampled_from(REQUESTS))
def test_whatever_is_read_means_the_same_to_a_reader_that_looks_at_everything(
    chance: Random, request_: dict[str, Any]
) -> None:
    for request in (random_request(chance), json.dumps(request_, separators=(",", ":")).encode()):
        payload = damaged(request, chance)
        found = read(payload)
        assert found is None or found == etzel_model.request(payload)
