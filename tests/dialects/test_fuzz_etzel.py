"""Whatever comes in as `etzel`: well-formed requests and almost well-formed ones; and that planted bugs are found."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.state import State
from tests.dialects.etzel_model import Model
from tests.dialects.fuzz_etzel import (
    BODIES,
    FUZZER,
    NAMES,
    NO_REQUESTS,
    NOT_UIDS,
    NUMBERS,
    UIDS,
    EtzelRig,
    said,
)
from tests.dialects.fuzzing import EAGER, Script, check, fuzz
from tests.dialects.websocket_model import BINARY, CLOSE, PING, TEXT, frame, frames, text

FIN = 0x80

names = st.sampled_from(NAMES) | st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
numbers = st.sampled_from(NUMBERS) | st.integers(-1, 10)
publishes = st.fixed_dictionaries(
    {"cmd": st.just("PUB"), "qname": names, "msg": st.sampled_from(BODIES)},
    optional={"delay": numbers, "expires": numbers, "timeout": numbers},
)
acks = st.fixed_dictionaries(
    {"cmd": st.sampled_from(["ACK", "DEL"]), "qname": names, "uid": st.sampled_from([*UIDS[:4], *NOT_UIDS])}
)
others = st.fixed_dictionaries({"cmd": st.sampled_from(["SUB", "FET", "FET", "ISLP"]), "qname": names})
requests = st.one_of(publishes, acks, others).map(lambda members: said(**members))
masks = st.binary(min_size=4, max_size=4)
messages = st.one_of(
    st.builds(text, requests, masks),
    st.builds(text, requests),
    st.builds(lambda payload: frame(TEXT, payload[:9]) + frame(FIN, payload[9:]), requests),
    st.sampled_from(NO_REQUESTS).map(text),
    st.builds(frame, st.sampled_from([FIN | PING, FIN | BINARY, FIN | CLOSE]), st.binary(max_size=3), masks),
    st.binary(max_size=8),
)
sent = st.lists(messages, max_size=8).map(b"".join)
scripts = st.lists(sent | st.integers(0, 70_000), max_size=6)
chances = st.integers(0, 1 << 16).map(Random)


@given(scripts, chances)
def test_any_conversation_however_it_is_cut(script: Script, chance: Random) -> None:
    check(FUZZER, script, chance)


@given(scripts, chances, st.just(EAGER) | st.integers(1, 1 << 16))
def test_any_conversation_on_a_broker_that_answers_early_or_late(script: Script, chance: Random, seed: int) -> None:
    check(FUZZER, script, chance, late=seed)


@given(st.lists(st.binary(max_size=30), max_size=10), st.integers(0, 3))
def test_every_text_is_answered_once_and_every_answer_is_json(payloads: list[bytes], late: int) -> None:
    rig = EtzelRig(late)
    rig.receive(b"".join([text(payload) for payload in payloads]))
    assert len([json.loads(payload) for _, payload in frames(rig.settle())]) == len(payloads)


# -- the tests of the tests


class Plain(EtzelRig):
    """Does not unmask."""

    def receive(self, data: bytes) -> None:
        super().receive(data.replace(b"\x81\x99", b"\x81\x98", 1))


class Forgetting(EtzelRig):
    """What comes behind a ping is lost."""

    def receive(self, data: bytes) -> None:
        super().receive(data.partition(b"\x89\x87")[0])


class Ageless(EtzelRig):
    def pass_time(self, ms: int) -> None:
        super().pass_time(0)


class Silent(EtzelRig):
    """Says nothing of an empty queue."""

    def settle(self) -> bytes:
        return super().settle().replace(b'\x81\x1b{"cmd":"nomsg","qname":"q"}', b"")


class Sleepy(EtzelRig):
    """Wakes nobody."""

    def settle(self) -> bytes:
        return super().settle().replace(b'\x81\x19{"cmd":"awk","qname":"q"}', b"")


class Restless(EtzelRig):
    """Wakes twice."""

    def settle(self) -> bytes:
        awk = b'\x81\x19{"cmd":"awk","qname":"q"}'
        return super().settle().replace(awk, awk + awk)


class Counting(EtzelRig):
    """Counts deliveries one too far."""

    def told(self, state: State) -> object:
        told = super().told(state)
        assert isinstance(told, dict)
        return {uid: (*row[:4], row[4] + 1, row[5]) for uid, row in told.items()}


@pytest.mark.parametrize("planted", [Plain, Forgetting, Ageless, Silent, Sleepy, Restless, Counting])
def test_a_planted_bug_is_found(planted: type[EtzelRig]) -> None:
    with pytest.raises(AssertionError):
        fuzz(replace(FUZZER, rig=planted), count=1_000, seed=1)


def test_the_model_hears_what_the_page_says() -> None:
    model = Model(UIDS)
    model.receive(text(said(cmd="PUB", qname="q", msg="a", timeout=5)) + text(said(cmd="FET", qname="q")))
    model.pass_time(4_999)
    model.receive(text(said(cmd="FET", qname="q")))
    model.pass_time(1)
    model.receive(text(said(cmd="FET", qname="q")))
    found = [json.loads(answer) for answer in model.answers]
    assert [(one["cmd"], one.get("error_count")) for one in found] == [
        ("ok", None),
        ("msg", 0),
        ("nomsg", None),
        ("msg", 1),
    ]
