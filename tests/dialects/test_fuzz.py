"""Whatever comes in, in any dialect, however it is cut: sessions say and do what their models say and do, no more."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.dialects.table import DIALECTS
from tests.dialects.fuzzing import EAGER, check, expected, fuzz, fuzzer

NAMES = [row.name for row in DIALECTS]
SESSIONS = [(name, session) for name in NAMES for session in fuzzer(name).sessions]

dialects = st.sampled_from(NAMES)
chances = st.integers(0, 1 << 16).map(Random)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("dialect", NAMES)
def test_thousands_of_random_conversations(dialect: str, seed: int) -> None:
    assert fuzz(fuzzer(dialect), count=7_000, seed=seed) >= 7_000


@given(dialects, st.lists(st.binary()), chances)
@example("deferred", [b"\n" * 100], Random(0))
@example("deferred", [b"\r\n\r\r\n"], Random(0))
@example("pinpriq", [b"A" * 100], Random(0))
@example("pinpriq", [b"p" + bytes(8), b"\0"], Random(0))
def test_any_bytes_at_all(dialect: str, segments: list[bytes], chance: Random) -> None:
    check(fuzzer(dialect), segments, chance)


@given(dialects, st.binary(), chances, st.just(EAGER) | st.integers(1, 1 << 16))
def test_any_bytes_at_all_on_a_broker_that_answers_early_or_late(
    dialect: str, data: bytes, chance: Random, seed: int
) -> None:
    check(fuzzer(dialect), [data], chance, late=seed)


@pytest.mark.parametrize("late", [EAGER, 0, 1, 2])
@pytest.mark.parametrize(("dialect", "session"), SESSIONS, ids=range(len(SESSIONS)))
def test_a_connection_cut_at_any_byte_has_done_what_was_whole_and_no_more(
    dialect: str, session: bytes, late: int
) -> None:
    for end in range(len(session) + 1):
        for begin in range(0, end + 1, 1 + end // 4):
            rig = fuzzer(dialect).rig(late)
            rig.receive(session[:begin])
            rig.receive(session[begin:end])
            rig.connection.lose()
            rig.settle()
            assert rig.state() == expected(fuzzer(dialect), [session[:end]]).state(), (begin, end)
