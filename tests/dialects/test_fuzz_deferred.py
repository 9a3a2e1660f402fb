"""Whatever comes in, however it is cut: the session says and does what the model says and does, and nothing else."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.model.limits import LINE_MAX
from tests.dialects.fuzz_deferred import BODIES, DELAYS, ENDS, IDS, LINES, NOT_IDS, Rig, Script, check, expected, fuzz

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

# Sessions in which every request does something, to be cut off anywhere.
SESSIONS = (
    b"ADD 0 a\nRESERVE\nDELETE %b\n" % IDS[0],
    b"ADD 0 a\r\nADD 0 b\r\nRESERVE\r\nRETURN %b 0\r\nRESERVE\r\nDELETE %b\r\n" % (IDS[0], IDS[1]),
    b"ADD 0 \nADD 0 \xc3\xbc\nADD 0 \xff\nRESERVE\nRESERVE\nRETURN %b 5\nSTATS\nDELETE %b\nADD 0 z" % (IDS[1], IDS[0]),
    b"ADD 10 later\nADD 0 x\r\r\nRESERVE\nwhat\n\nRETURN %b 00\nRESERVE\nDELETE %b\nSTATS\n" % (IDS[1], IDS[1]),
)


@pytest.mark.parametrize("seed", range(4))
def test_thousands_of_random_conversations(seed: int) -> None:
    assert fuzz(count=7_000, seed=seed) >= 7_000


@given(scripts, chances)
def test_any_conversation_however_it_is_cut(script: Script, chance: Random) -> None:
    check(script, chance)


@given(scripts, chances, st.integers(1, 1 << 16))
def test_any_conversation_on_a_broker_that_answers_late(script: Script, chance: Random, seed: int) -> None:
    check(script, chance, late=seed)


@given(st.lists(st.binary()), chances)
@example([b"\n" * 100], Random(0))
@example([b"\r\n\r\r\n"], Random(0))
def test_any_bytes_at_all(segments: list[bytes], chance: Random) -> None:
    check(segments, chance)


@given(st.binary())
def test_every_line_is_answered_with_one_line(data: bytes) -> None:
    rig = Rig()
    rig.receive(data)
    heard = rig.settle()
    assert heard.count(b"\n") == data.count(b"\n")
    assert heard[-1:] in (b"", b"\n")


@pytest.mark.parametrize("session", SESSIONS, ids=range(len(SESSIONS)))
@pytest.mark.parametrize("late", [0, 1, 2])
def test_a_connection_cut_at_any_byte_has_done_what_was_whole_and_no_more(session: bytes, late: int) -> None:
    for end in range(len(session) + 1):
        for begin in range(0, end + 1, 1 + end // 4):
            rig = Rig(late)
            rig.receive(session[:begin])
            rig.receive(session[begin:end])
            rig.connection.lose()
            rig.settle()
            _, model = expected([session[: session[:end].rfind(b"\n") + 1]])
            assert rig.state() == model.state(), (begin, end)


@given(st.integers(-3, 3), st.lists(st.integers(0, LINE_MAX + 8), max_size=4), st.sampled_from([b"\n", b"\r\n", b""]))
@example(0, [], b"\n")
@example(1, [], b"\n")
@example(1, [LINE_MAX + 1], b"\n")
@example(0, [LINE_MAX], b"\r\n")
def test_the_longest_line_is_the_same_however_it_is_cut(over: int, places: list[int], end: bytes) -> None:
    data = b"RESERVE\n" + b"x" * (LINE_MAX + over) + end + b"STATS\n"
    heard, model = expected([data])
    rig = Rig()
    marks = [0, *sorted(places), len(data)]
    for begin, stop in pairwise(marks):
        rig.receive(data[begin:stop])
    assert rig.settle() == heard
    assert rig.connection.closed == model.closed


# -- the tests of the tests


class UpperCasing(Rig):
    def receive(self, data: bytes) -> None:
        super().receive(data.replace(b"reserve", b"RESERVE"))


class Forgetting(Rig):
    """What is left of a segment behind its last line feed is lost."""

    def receive(self, data: bytes) -> None:
        super().receive(data[: data.rfind(b"\n") + 1])


class Hasty(Rig):
    """Takes the end of a segment for the end of a line."""

    def receive(self, data: bytes) -> None:
        super().receive(data if data.endswith(b"\n") else data + b"\n")


class Tidying(Rig):
    """Takes every carriage return for a part of the line's end."""

    def receive(self, data: bytes) -> None:
        super().receive(data.replace(b"\r", b""))


class Deaf(Rig):
    """Acts, but does not say so."""

    def settle(self) -> bytes:
        return super().settle().replace(b"ok\n", b"")


class Careless(Rig):
    """Says, but has not acted."""

    def state(self) -> dict[bytes, tuple[bytes, int, bool]]:
        return {shown: (body, due_ms, False) for shown, (body, due_ms, _) in super().state().items()}


@pytest.mark.parametrize("planted", [UpperCasing, Forgetting, Hasty, Tidying, Deaf, Careless])
def test_a_planted_bug_is_found(planted: type[Rig]) -> None:
    with pytest.raises(AssertionError):
        fuzz(count=500, seed=1, make=planted)
