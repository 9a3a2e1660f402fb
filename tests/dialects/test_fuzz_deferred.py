"""Whatever comes in as `deferred`: well-formed lines and almost well-formed ones; and that planted bugs are found."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.engine.state import State
from penstock.model.limits import LINE_MAX
from tests.dialects.fuzz_deferred import BODIES, DELAYS, ENDS, FUZZER, IDS, LINES, NOT_IDS, DeferredRig
from tests.dialects.fuzzing import EAGER, Script, check, expected, fuzz

bodies = st.sampled_from(BODIES) | st.binary(max_size=12)
delays = st.sampled_from(DELAYS) | st.integers(0, 100).map(b"%d".__mod__)
ids = st.sampled_from(IDS[:4]) | st.sampled_from(NOT_IDS)
lines = st.one_of(
    st.builds(b"ADD %b %b".__mod__, st.tuples(delays, bodies)),
    st.builds(b"DELETE %b".__mod__, ids),
    st.builds(b"RETURN %b %b".__mod__, st.tuples(ids, delays)),
    st.just(b"RESERVE"),
    st.just(b"STATS"),
    st.sampled_from(LINES),
    st.binary(max_size=20),
)
sent = st.lists(st.tuples(lines, st.sampled_from(ENDS)), max_size=8).map(
    lambda rows: b"".join([line + end for line, end in rows])
)
scripts = st.lists(sent | st.integers(0, 50), max_size=5)
chances = st.integers(0, 1 << 16).map(Random)


@given(scripts, chances)
def test_any_conversation_however_it_is_cut(script: Script, chance: Random) -> None:
    check(FUZZER, script, chance)


@given(scripts, chances, st.just(EAGER) | st.integers(1, 1 << 16))
def test_any_conversation_on_a_broker_that_answers_early_or_late(script: Script, chance: Random, seed: int) -> None:
    check(FUZZER, script, chance, late=seed)


@given(st.binary())
def test_every_line_is_answered_with_one_line(data: bytes) -> None:
    rig = DeferredRig()
    rig.receive(data)
    heard = rig.settle()
    assert heard.count(b"\n") == data.count(b"\n")
    assert heard[-1:] in (b"", b"\n")


@given(st.integers(-3, 3), st.lists(st.integers(0, LINE_MAX + 8), max_size=4), st.sampled_from([b"\n", b"\r\n", b""]))
@example(0, [], b"\n")
@example(1, [], b"\n")
@example(1, [LINE_MAX + 1], b"\n")
@example(0, [LINE_MAX], b"\r\n")
def test_the_longest_line_is_the_same_however_it_is_cut(over: int, places: list[int], end: bytes) -> None:
    data = b"RESERVE\n" + b"x" * (LINE_MAX + over) + end + b"STATS\n"
    model = expected(FUZZER, [data])
    rig = DeferredRig()
    marks = [0, *sorted(places), len(data)]
    for begin, stop in pairwise(marks):
        rig.receive(data[begin:stop])
    assert model.agrees(rig.settle())
    assert rig.connection.closed == model.closed


# -- the tests of the tests


class UpperCasing(DeferredRig):
    def receive(self, data: bytes) -> None:
        super().receive(data.replace(b"reserve", b"RESERVE"))


class Forgetting(DeferredRig):
    """What is left of a segment behind its last line feed is lost."""

    def receive(self, data: bytes) -> None:
        super().receive(data[: data.rfind(b"\n") + 1])


class Hasty(DeferredRig):
    """Takes the end of a segment for the end of a line."""

    def receive(self, data: bytes) -> None:
        super().receive(data if data.endswith(b"\n") else data + b"\n")


class Tidying(DeferredRig):
    """Takes every carriage return for a part of the line's end."""

    def receive(self, data: bytes) -> None:
        super().receive(data.replace(b"\r", b""))


class Deaf(DeferredRig):
    """Acts, but does not say so."""

    def settle(self) -> bytes:
        return super().settle().replace(b"ok\n", b"")


class Careless(DeferredRig):
    """Says, but has not acted."""

    def told(self, state: State) -> object:
        told = super().told(state)
        assert isinstance(told, dict)
        return {shown: (body, due_ms, False) for shown, (body, due_ms, _) in told.items()}


@pytest.mark.parametrize("planted", [UpperCasing, Forgetting, Hasty, Tidying, Deaf, Careless])
def test_a_planted_bug_is_found(planted: type[DeferredRig]) -> None:
    with pytest.raises(AssertionError):
        fuzz(replace(FUZZER, rig=planted), count=500, seed=1)
