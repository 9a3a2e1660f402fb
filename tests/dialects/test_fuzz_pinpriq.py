"""Whatever comes in as `pinpriq`: well-formed requests and almost well-formed ones; and that planted bugs are found."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.engine.state import State
from tests.dialects.fuzz_pinpriq import FUZZER, READY, PinpriqRig, answers, pop, push, subscribe, unsubscribe
from tests.dialects.fuzzing import EAGER, Script, check, fuzz
from tests.dialects.pinpriq_model import interleaved

names = st.sampled_from([b"q", b"r", b""]) | st.binary(max_size=3)
pushes = st.builds(
    push,
    names,
    st.sampled_from([0, 1, 20]) | st.integers(0, 65_535),
    st.sampled_from([0, 1, 2]) | st.integers(0, 255),
    st.sampled_from([b"k", b"l", b""]) | st.binary(max_size=3),
    st.binary(max_size=4),
)
requests = st.one_of(
    pushes, names.map(pop), names.map(subscribe), names.map(unsubscribe), st.just(READY), st.binary(max_size=2)
)
sent = st.lists(requests, max_size=10).map(b"".join)
scripts = st.lists(sent | st.integers(0, 50), max_size=5)
chances = st.integers(0, 1 << 16).map(Random)


@given(scripts, chances)
@example([push(b"q", 0, 1, b"k", b"a") + READY + subscribe(b"q") + pop(b"q")], Random(0))
def test_any_conversation_however_it_is_cut(script: Script, chance: Random) -> None:
    check(FUZZER, script, chance)


@given(scripts, chances, st.just(EAGER) | st.integers(1, 1 << 16))
def test_any_conversation_on_a_broker_that_answers_early_or_late(script: Script, chance: Random, seed: int) -> None:
    check(FUZZER, script, chance, late=seed)


@given(st.lists(st.one_of(pushes, names.map(pop)), max_size=20), st.integers(0, 3))
def test_every_pop_is_answered_once_and_every_answer_can_be_read(sent: list[bytes], late: int) -> None:
    rig = PinpriqRig(late)
    rig.receive(b"".join(sent))
    assert len(answers(rig.settle())) == sum(one.startswith(b"P") for one in sent)


# -- the tests of the tests


class Forgetting(PinpriqRig):
    """What is left of a segment behind its last whole request is lost, if that was a pop."""

    def receive(self, data: bytes) -> None:
        super().receive(data[: data.rfind(b"P\0\1q") + 4] if b"P\0\1q" in data else data)


class LittleEndian(PinpriqRig):
    def receive(self, data: bytes) -> None:
        super().receive(data.replace(b"\0\1", b"\1\0"))


class Patient(PinpriqRig):
    """Passes over bytes that begin no request."""

    def receive(self, data: bytes) -> None:
        super().receive(data.lstrip(b"\0\xff"))


class Ageless(PinpriqRig):
    def pass_time(self, ms: int) -> None:
        super().pass_time(0)


class Silent(PinpriqRig):
    """Says nothing of an empty queue."""

    def settle(self) -> bytes:
        heard = super().settle()
        return b"" if heard == b"\0\0" else heard


class Swapping(PinpriqRig):
    """Takes keys for payloads."""

    def told(self, state: State) -> object:
        told = super().told(state)
        assert isinstance(told, list)
        return [(queue, payload, key, *rest) for queue, key, payload, *rest in told]


@pytest.mark.parametrize("planted", [Forgetting, LittleEndian, Patient, Ageless, Silent, Swapping])
def test_a_planted_bug_is_found(planted: type[PinpriqRig]) -> None:
    with pytest.raises(AssertionError):
        fuzz(replace(FUZZER, rig=planted), count=500, seed=1)


@pytest.mark.parametrize(
    ("whole", "ones", "others", "made_of_both"),
    [
        (b"", [], [], True),
        (b"ab", [b"a", b"b"], [], True),
        (b"ba", [b"a", b"b"], [], False),
        (b"axby", [b"a", b"b"], [b"x", b"y"], True),
        (b"xayb", [b"a", b"b"], [b"x", b"y"], True),
        (b"aybx", [b"a", b"b"], [b"x", b"y"], False),
        (b"aab", [b"a"], [b"ab"], True),
        (b"aab", [b"ab"], [b"a"], True),
        (b"a", [b"a"], [b"x"], False),
        (b"ax", [b"a"], [], False),
    ],
)
def test_answers_and_pushes_each_keep_their_order(
    whole: bytes, ones: list[bytes], others: list[bytes], made_of_both: bool
) -> None:
    assert interleaved(whole, ones, others) is made_of_both
