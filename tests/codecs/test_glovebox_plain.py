"""Plain requests of `glovebox`: those that clients send are read, and whatever is read means what it means anyhow."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.codecs import glovebox_plain
from penstock.codecs.glovebox_plain import FETCH, FINISH, LABEL, NONE, POP, POST, PlainRequest
from penstock.model.stages import READY, STAGES, SYNC, WRITE
from tests.codecs.damage import damaged
from tests.dialects.fuzz_glovebox import random_request
from tests.dialects.glovebox_requests import in_json

SECOND_US = 1_000_000
KINDS = {POST: "post", POP: "pop", FETCH: "fetch", FINISH: "finish"}


def read(payload: bytes) -> dict[str, Any] | None:
    """What such a request says, in the words of the model, where it is plain."""
    reader = PlainRequest()
    kind = reader.kind_of(payload)
    if kind == NONE:
        return None
    said: dict[str, Any] = {"type": KINDS[kind], "queue": reader.queue.decode()}
    said["label"] = reader.label if kind != FINISH or reader.said & LABEL else None
    if kind == POST:
        notify = {name for stage, name in enumerate(STAGES) if reader.notify >> stage & 1}
        return said | {"message": reader.message.decode(), "priority": reader.priority, "notify": notify}
    said["stage"] = STAGES[reader.stage]
    if kind == FINISH:
        return said | {"shard": reader.shard, "sequence": reader.sequence}
    said["wait_us"] = reader.wait_us
    return said | {"work_us": reader.work_us} if kind == FETCH else said


def meant(payload: bytes) -> dict[str, Any] | None:
    """The same, by a reader that looks at everything."""
    asked = in_json(payload)
    if asked is None:
        return None
    kind = asked["type"]
    said: dict[str, Any] = {"type": kind, "queue": asked["queue"]}
    said["label"] = asked.get("label", None if kind == "finish" else 0)
    if kind == "post":
        notify = set(asked.get("notify", []))
        return said | {"message": asked["message"], "priority": asked.get("priority", 0), "notify": notify}
    said["stage"] = asked.get("response" if kind == "finish" else "sync", "ready")
    if kind == "finish":
        return said | {"shard": asked["shard"], "sequence": asked["sequence"]}
    said["wait_us"] = asked.get("block_timeout" if kind == "fetch" else "timeout", 0) * SECOND_US
    return said | {"work_us": asked["work_timeout"] * SECOND_US} if kind == "fetch" else said


REQUESTS: list[dict[str, Any]] = [
    {"type": "post", "queue": "q", "message": "hello: [1]", "priority": 0, "label": 5, "notify": ["write"]},
    {"type": "post", "queue": "", "message": ""},
    {"message": "last is the type", "notify": list(STAGES), "queue": "a queue", "type": "post"},
    {"type": "post", "queue": "q", "message": "x" * 5_000, "priority": (1 << 32) - 1, "label": 10**18 - 1},
    {"type": "fetch", "queue": "q", "work_timeout": 600.0, "sync": "ready", "label": 5},
    {"type": "fetch", "queue": "q", "work_timeout": 0, "block_timeout": 30, "sync": "sync"},
    {"type": "fetch", "queue": "q", "work_timeout": 1_000_000_000.0, "block_timeout": 1_000_000_000},
    {"type": "finish", "queue": "q", "label": 5, "response": "write", "shard": 123_456_789, "sequence": 987_654_321},
    {"type": "finish", "queue": "q", "shard": (1 << 32) - 1, "sequence": 10**18 - 1},
    {"type": "pop", "queue": "q"},
    {"type": "pop", "queue": "q", "sync": "write", "timeout": 2.0, "label": 0},
]


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize("request_", REQUESTS)
def test_what_clients_send_is_plain(request_: dict[str, Any], separators: tuple[str, str]) -> None:
    payload = json.dumps(request_, separators=separators).encode()
    assert read(payload) == meant(payload)
    assert read(payload) is not None


@pytest.mark.parametrize(
    "payload",
    [
        b'{"type":"post","queue":"q"}',
        b'{"type":"post","message":"m"}',
        b'{"queue":"q","message":"m"}',
        b'{"type":"post","queue":"q","message":"m","sync":"ready"}',
        b'{"type":"post","queue":"q","message":"m","unknown":1}',
        b'{"type":"post","queue":"q","message":"m","queue":"q"}',
        b'{"type":"post","queue":"q","message":[1]}',
        b'{"type":"post","queue":"q","message":"m","label":null}',
        b'{"type":"post","queue":"q","message":"m","priority":-1}',
        b'{"type":"post","queue":"q","message":"m","priority":4294967296}',
        b'{"type":"post","queue":"q","message":"m","notify":[]}',
        b'{"type":"post","queue":"q","message":"m","notify":["ready",]}',
        b'{"type":"post","queue":"q","message":"m","notify":["nonsense"]}',
        b'{"type":"post","queue":"q","message":"m","notify":"ready"}',
        b'{"type":"post","queue":"q","message":"m","priorities":1}',
        b'{"type":"posts","queue":"q","message":"m"}',
        b'{"type":"fetch","queue":"q"}',
        b'{"type":"fetch","queue":"q","work_timeout":1.5}',
        b'{"type":"fetch","queue":"q","work_timeout":-1}',
        b'{"type":"fetch","queue":"q","work_timeout":1000000001}',
        b'{"type":"fetch","queue":"q","work_timeouts":1}',
        b'{"type":"fetch","queue":"q","work_timeout":1,"sync":"assign"}',
        b'{"type":"finish","queue":"q","shard":1}',
        b'{"type":"finish","queue":"q","shard":4294967296,"sequence":1}',
        b'{"type":"finish","queue":"q","shard":1,"sequence":1,"sync":"ready"}',
        b'{"type":"finish","queue":"q","messages":[[1,2]]}',
        b'{"type":"create","queue":"q"}',
        b'{"type":"pop","queue":"q"} ',
        b'{"type":"pop","queue":"\\u0071"}',
        b'{"type":"pop","queue":"\xc3\xbc"}',
        b'{"type" :"pop","queue":"q"}',
        b'{"type":"pop","queue":"q",}',
        b'{,"type":"pop","queue":"q"}',
        b"{}",
        b"",
    ],
)
def test_the_rest_is_left_to_others(payload: bytes) -> None:
    assert read(payload) is None


def test_nothing_is_left_of_the_request_before() -> None:
    reader = PlainRequest()
    assert reader.kind_of(json.dumps(REQUESTS[0]).encode()) == POST
    assert reader.kind_of(b'{"type":"post","queue":"r","message":"n"}') == POST
    assert (reader.queue, reader.message, reader.label, reader.priority, reader.notify) == (b"r", b"n", 0, 0, 0)
    assert reader.kind_of(b'{"type":"fetch","queue":"q","work_timeout":1,"block_timeout":2,"sync":"sync"}') == FETCH
    assert (reader.stage, reader.wait_us) == (SYNC, 2 * SECOND_US)
    assert reader.kind_of(b'{"type":"finish","queue":"q","shard":1,"sequence":2,"response":"write"}') == FINISH
    assert reader.stage == WRITE
    assert reader.kind_of(b'{"type":"pop","queue":"q"}') == POP
    assert (reader.stage, reader.wait_us, reader.said & glovebox_plain.LABEL) == (READY, 0, 0)


@given(st.integers(0, 1 << 32).map(Random))
def test_whatever_is_read_means_the_same_to_a_reader_that_looks_at_everything(chance: Random) -> None:
    payload = damaged(random_request(chance), chance)
    found = read(payload)
    assert found is None or found == meant(payload)


@given(st.integers(0, 1 << 32).map(Random), st.sampled_from(REQUESTS))
def test_so_does_whatever_is_almost_plain(chance: Random, request_: dict[str, Any]) -> None:
    payload = damaged(json.dumps(request_, separators=(",", ":")).encode(), chance)
    found = read(payload)
    assert found is None or found == meant(payload)
