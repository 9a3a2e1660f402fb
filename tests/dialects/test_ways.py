"""Ways move bytes between segments; what a connection sends, and what must be answered, stays the same."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests.dialects.folders import transcript, transcripts
from tests.dialects.transcript import Step, parse
from tests.dialects.ways import WAYS, byte_by_byte, pipelined, with_trailing_data

CUT_OFF = b"<cut off>"


def sent(steps: tuple[Step, ...]) -> dict[int, bytes]:
    """By connection, with ids by their names."""
    found: dict[int, bytes] = defaultdict(bytes)
    for step in steps:
        if step.kind == "C":
            parts = [part if isinstance(part, bytes) else repr(part).encode() for part in step.text]
            found[step.connection] += b"".join(parts)
    return found


def others(steps: tuple[Step, ...]) -> list[Step]:
    return [step for step in steps if step.kind != "C"]


def segments(source: str, arrange: str) -> list[bytes]:
    steps = WAYS[arrange].arrange(parse(source).steps, CUT_OFF)
    return [b"".join([part for part in step.text if isinstance(part, bytes)]) for step in steps if step.kind == "C"]


@pytest.mark.parametrize(("dialect", "name"), transcripts())
@pytest.mark.parametrize("way", WAYS)
def test_a_way_changes_neither_what_is_sent_nor_what_is_expected(dialect: str, name: str, way: str) -> None:
    steps = transcript(dialect, name).steps
    arranged = WAYS[way].arrange(steps, b"")
    assert sent(arranged) == sent(steps)
    assert others(arranged) == others(steps)


def test_pipelining_joins_requests_across_answers() -> None:
    assert segments("C: ADD 0 a\nS: x\nC: RESERVE\nC: STATS\nS: y", "pipelined") == [b"ADD 0 a\nRESERVE\nSTATS\n"]


def test_pipelining_waits_for_an_id_it_needs() -> None:
    source = "C: ADD 0 a\nS: TASK <id:a>\nC: RESERVE\nS: x\nC: DELETE <id:a>\nC: STATS\nS: ok\nC: DELETE <id:a>"
    assert segments(source, "pipelined") == [b"ADD 0 a\nRESERVE\n", b"DELETE \nSTATS\nDELETE \n"]


@pytest.mark.parametrize("between", ["@+1s", "B: show q", "C: !eof", "C2: STATS"])
def test_pipelining_stops_where_something_else_happens(between: str) -> None:
    assert segments(f"C: ADD 0 a\nS: x\n{between}\nC: RESERVE", "pipelined")[-1] == b"RESERVE\n"


def test_trailing_data_is_the_beginning_of_the_next_request_of_the_same_connection() -> None:
    source = "C: ADD 0 something long\nC2: STATS\nC: RESERVE\nS: x"
    assert segments(source, "with trailing data") == [
        b"ADD 0 something long\nRESERVE",
        b"STATS\n" + CUT_OFF,
        b"\n" + CUT_OFF,
    ]


def test_trailing_data_never_makes_the_next_request_whole() -> None:
    steps = parse("C: 50 0000\nS: 0000\nC: 41\nC: 73 0000\nC: 75 0000", "bytes").steps
    sent_ahead = [step.text for step in with_trailing_data(steps, b"\x70") if step.kind == "C"]
    assert [b"".join([part for part in text if isinstance(part, bytes)]) for text in sent_ahead] == [
        b"\x50\0\0",
        b"\x41\x73\0",
        b"\0\x75\0",
        b"\0\x70",
    ]


def test_trailing_data_does_not_reach_into_the_next_connection() -> None:
    steps = with_trailing_data(parse("C: A\nC: !close\nC: B").steps, CUT_OFF)
    assert sent(steps)[1] == b"A\n" + CUT_OFF + b"B\n" + CUT_OFF


def test_a_line_that_stays_open_is_not_cut_off_twice() -> None:
    assert sent(with_trailing_data(parse("C: AD\\\nC: !close").steps, CUT_OFF))[1] == b"AD"


def test_byte_by_byte_is_every_byte_of_a_line_and_both_ends_of_a_very_long_one() -> None:
    assert byte_by_byte(b"abc") == [b"a", b"b", b"c"]
    pieces = byte_by_byte(bytes(100_000))
    assert b"".join(pieces) == bytes(100_000)
    assert {len(piece) for piece in pieces[:512] + pieces[-512:]} == {1}
    assert len(pieces) < 1_100


def test_requests_of_several_connections_stay_in_their_order() -> None:
    source = "C: A\nC2: B\nC: C\nS: a\nS2: b\nS: c\nC: D\nC2: E"
    assert pipelined(parse(source).steps, CUT_OFF) == parse(source).steps
