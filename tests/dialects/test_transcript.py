"""The notation of transcripts, as README.md beside this file says it."""

from __future__ import annotations

import pytest

from tests.dialects.notations import Token, in_bytes, text
from tests.dialects.transcript import BadTranscript, Step, parse


def test_options_come_before_the_first_step_and_comments_anywhere() -> None:
    found = parse("# a comment\nqueue: jobs\nstuck_timeout_s: 5\n\n# another\nC: STATS\n")
    assert found.options == {"queue": "jobs", "stuck_timeout_s": "5"}
    assert found.steps == (Step(6, "C", 1, (b"STATS", b"\n")),)


def test_both_sides_speak_in_lines_on_numbered_connections() -> None:
    found = parse("C: RESERVE\nC2: RESERVE\nS2: nil\nS: nil")
    assert [(step.kind, step.connection) for step in found.steps] == [("C", 1), ("C", 2), ("S", 2), ("S", 1)]
    assert {step.text[-1] for step in found.steps} == {b"\n"}


def test_a_backslash_at_the_end_leaves_the_line_open() -> None:
    assert [step.text for step in parse("C: ADD\\\nC:  0 x").steps] == [(b"ADD",), (b" 0 x", b"\n")]


def test_an_escaped_backslash_at_the_end_does_not() -> None:
    assert parse("C: x\\\\").steps[0].text == (b"x", b"\\", b"\n")


def test_a_line_may_be_empty() -> None:
    assert parse("C:").steps == parse("C: ").steps == (Step(1, "C", 1, (b"\n",)),)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("plain", (b"plain",)),
        ("ü", ("ü".encode(),)),
        (r"\r\n\t\0\s\\", (b"\r", b"\n", b"\t", b"\0", b" ", b"\\")),
        (r"\xff\x00", (b"\xff", b"\0")),
        ("a<id:one>b", (b"a", Token("id", "one"), b"b")),
        ("<x*3><9*2>", (b"xxx", b"99")),
        ("<id> <x> \\q", (b"<id> <x> \\q",)),
    ],
)
def test_a_text_means(written: str, meant: tuple[bytes | Token, ...]) -> None:
    assert text(written) == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("70 0001 ff", (b"\x70\x00\x01\xff",)),
        ('0001 "k" 00', (b"\x00\x01k\x00",)),
        ('"two words" "" "x"', (b"two wordsx",)),
        (r'"<q*3>\n\xff"', (b"qqq\n\xff",)),
        ('01 "<id:a>" 02 03', (b"\x01", Token("id", "a"), b"\x02\x03")),
    ],
)
def test_bytes_are_hex_digits_and_quoted_texts(written: str, meant: tuple[bytes | Token, ...]) -> None:
    assert in_bytes(written) == meant


def test_in_bytes_nothing_is_added_and_a_backslash_leaves_the_request_open() -> None:
    found = parse('C: 70 00\\\nC: 01 "q"\nS: 0000\nC: !eof', "bytes").steps
    assert [step.text for step in found] == [(b"\x70\x00",), (b"\x01q",), (b"\0\0",), ()]
    assert [step.whole for step in found] == [False, True, True, True]


@pytest.mark.parametrize("wrong", ["C: 7", "C: 70x", "C: 7 0", "C: FF", "C: q", 'C: "q', 'C: 70"q"x', "S:", "C: \\"])
def test_what_is_neither_is_refused(wrong: str) -> None:
    with pytest.raises(BadTranscript):
        parse(wrong, "bytes")


@pytest.mark.parametrize(
    ("written", "time_us"),
    [("@+7us", 7), ("@+500ms", 500_000), ("@+2s", 2_000_000), ("@+3m", 180_000_000), ("@+1d", 86_400_000_000)],
)
def test_time_passes(written: str, time_us: int) -> None:
    assert parse(written).steps == (Step(1, "@", time_us=time_us),)


def test_connections_open_and_end() -> None:
    found = parse("C2: !open\nC: !eof\nC2: !close\nS: !close")
    assert [(step.kind, step.connection) for step in found.steps] == [
        ("open", 2),
        ("eof", 1),
        ("close", 2),
        ("closed", 1),
    ]


def test_others_are_in_no_dialect_and_their_lines_have_no_end() -> None:
    found = parse("B: publish default body=x\nA: ok <id:a>")
    assert [step.text for step in found.steps] == [(b"publish default body=x",), (b"ok ", Token("id", "a"))]


@pytest.mark.parametrize(
    "wrong", ["X: y", "C:x:", "@500ms", "@+5", "S: !eof", "C: !now", "say something", "C: x\nqueue: y"]
)
def test_a_line_that_is_no_step_is_refused(wrong: str) -> None:
    with pytest.raises(BadTranscript):
        parse(wrong)
