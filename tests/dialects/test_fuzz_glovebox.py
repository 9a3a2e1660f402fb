"""Whatever comes in as `glovebox`: well-formed requests and almost well-formed ones; and planted bugs are found."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.message import Message
from tests.dialects.fuzz_glovebox import (
    FUZZER,
    NO_REQUESTS,
    PLACES,
    GloveboxRig,
    asked,
    random_binary,
    random_frame,
    random_request,
    said,
)
from tests.dialects.fuzzing import EAGER, Script, check, fuzz
from tests.dialects.glovebox_model import Model
from tests.dialects.websocket_model import BINARY, frame, frames, text

FIN = 0x80

chances = st.integers(0, 1 << 32).map(Random)
masks = st.binary(min_size=4, max_size=4)
messages = st.one_of(
    st.builds(text, chances.map(random_request), masks),
    st.builds(lambda payload, mask: frame(FIN | BINARY, payload, mask), chances.map(random_binary), masks),
    st.builds(lambda payload, mask: frame(FIN | BINARY, payload, mask), st.binary(max_size=40), masks),
    chances.map(random_frame),
    st.sampled_from(NO_REQUESTS).map(text),
    st.binary(max_size=8),
)
sent = st.lists(messages, max_size=8).map(b"".join)
scripts = st.lists(sent | st.integers(0, 70_000), max_size=6)


@given(scripts, chances)
def test_any_conversation_however_it_is_cut(script: Script, chance: Random) -> None:
    check(FUZZER, script, chance)


@given(scripts, chances, st.just(EAGER) | st.integers(1, 1 << 16))
def test_any_conversation_on_a_broker_that_answers_early_or_late(script: Script, chance: Random, seed: int) -> None:
    check(FUZZER, script, chance, late=seed)


@given(st.lists(st.tuples(st.booleans(), st.binary(max_size=30)), max_size=10), st.integers(0, 3))
def test_whatever_is_no_request_is_answered_once_in_either_form(payloads: list[tuple[bool, bytes]], late: int) -> None:
    rig = GloveboxRig(late)
    rig.receive(b"".join([text(data) if as_text else frame(FIN | BINARY, data) for as_text, data in payloads]))
    found = [json.loads(payload) for _, payload in frames(rig.settle())]
    assert [one["code"] for one in found] == ["BadRequest"] * len(payloads)


# -- the tests of the tests


class Ageless(GloveboxRig):
    def pass_time(self, ms: int) -> None:
        super().pass_time(0)


class Silent(GloveboxRig):
    """Says nothing of an empty queue."""

    def settle(self) -> bytes:
        return super().settle().replace(b'\x81\x1e{"type":"nomessage","label":1}', b"")


class Chatty(GloveboxRig):
    """Says what nobody asked for."""

    def settle(self) -> bytes:
        ready = b'\x81\x2c{"type":"notice","label":1,"notice":"ready"}'
        return super().settle().replace(ready, ready + ready)


class Deaf(GloveboxRig):
    """Hears no binary frame."""

    def receive(self, data: bytes) -> None:
        super().receive(data.replace(b"\x82", b"\x8a", 1))


class Generous(GloveboxRig):
    """Keeps messages beyond their retries."""

    def pass_time(self, ms: int) -> None:
        for queue in self._engine.state().queues.values():
            queue.rules.attempts = 0
        super().pass_time(ms)


class Hasty(GloveboxRig):
    """Puts what timed out at the tail."""

    def pass_time(self, ms: int) -> None:
        for message in self._engine.state().messages.values():
            assert isinstance(message, Message)
            message.old_place = False
        super().pass_time(ms)


@pytest.mark.parametrize("planted", [Ageless, Silent, Chatty, Deaf, Generous, Hasty])
def test_a_planted_bug_is_found(planted: type[GloveboxRig]) -> None:
    with pytest.raises(AssertionError):
        fuzz(replace(FUZZER, rig=planted), count=8_000, seed=1)


def test_the_model_hears_what_the_page_says() -> None:
    model = Model(PLACES)
    shard, sequence = PLACES[0]
    model.receive(asked(type="create", queue="q", retries=2))
    model.receive(text(said(type="post", queue="q", message="a", label=1, notify=["ready", "assign", "retry", "drop"])))
    for _ in range(2):
        model.receive(asked(type="fetch", queue="q", work_timeout=1))
        model.pass_time(1_000)
    model.receive(asked(type="finish", queue="q", shard=shard, sequence=sequence))
    assert [one["notice"] for one in model.loose if isinstance(one, dict)] == [
        "ready",
        "assign",
        "retry",
        "assign",
        "drop",
    ]
    assert [one["type"] for one in model.answers if isinstance(one, dict)] == ["notice", "message", "message", "error"]
