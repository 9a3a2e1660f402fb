"""The notation `frames`, as README.md beside this file says it: what is sent, and what is expected."""

from __future__ import annotations

import pytest

from tests.dialects.notations import HEAD, KEYS, WELCOME, Framed, Token, masked, unframed
from tests.dialects.transcript import BadTranscript, Step, parse

OPENED = [("C", (HEAD, KEYS + b"\r\n")), ("S", (WELCOME,))]


def steps(source: str) -> list[tuple[str, object]]:
    return [(step.kind, step.text) for step in parse(source, "frames").steps]


def sent(source: str) -> bytes:
    """What the client sends after it has connected."""
    found = parse(source, "frames").steps
    parts = [part for step in found[2:] if step.kind == "C" for part in step.text]
    return b"".join([part for part in parts if isinstance(part, bytes)])


def unmasked(data: bytes) -> list[tuple[int, bytes]]:
    """First bytes and payloads of short frames from a client."""
    found = []
    while data:
        length, mask = data[1] - 0x80, data[2:6]
        found.append((data[0], bytes([byte ^ mask[at % 4] for at, byte in enumerate(data[6 : 6 + length])])))
        data = data[6 + length :]
    return found


def test_a_connection_is_upgraded_before_its_first_frame_and_only_then() -> None:
    found = steps("C: a\nC: b\nC2: c")
    assert found[:2] == OPENED
    assert [kind for kind, _ in found] == ["C", "S", "C", "C", "C", "S", "C"]


def test_it_may_be_told_to_open_and_with_which_headers() -> None:
    assert steps("C: !open") == OPENED
    [(_, opening), _] = steps("C: !open Binary: true; RECONNECT-AS: <client:a>")
    assert opening == (
        HEAD,
        b"Binary: true",
        b"\r",
        b"\n",
        b"RECONNECT-AS: ",
        Token("client", "a"),
        b"\r\n",
        KEYS + b"\r\n",
    )


def test_a_connection_that_is_gone_is_opened_anew() -> None:
    for end in ("C: !close", "S: !close", "S: !close 1000"):
        assert [kind for kind, _ in steps(f"C: a\n{end}\nC: b")][4:] == ["C", "S", "C"]


def test_one_that_begins_with_raw_bytes_is_not_upgraded() -> None:
    assert steps('C: raw "GET / HTTP/1.1\\r\\n\\r\\n"\nC: a')[0] == ("C", (b"", b"GET / HTTP/1.1\r\n\r\n"))
    assert [kind for kind, _ in steps("C: raw 00\nC: a")] == ["C", "C"]


def test_a_line_is_one_masked_frame() -> None:
    assert unmasked(sent('C: {"a":1}\nC:\nC: bin 00ff "q"')) == [(0x81, b'{"a":1}'), (0x81, b""), (0x82, b"\0\xffq")]


def test_a_message_that_goes_on_is_several() -> None:
    source = "C: a\\\nC2: x\\\nC: !ping p\nC: b\\\nC: c\nC: bin 00\\\nC: d"
    mine = [step for step in parse(source, "frames").steps if step.connection == 1]
    data = b"".join([part for step in mine[2:] for part in step.text if isinstance(part, bytes)])
    assert unmasked(data) == [(1, b"a"), (0x89, b"p"), (0, b"b"), (0x80, b"c"), (2, b"\0"), (0x80, b"d")]
    assert [step.whole for step in mine[2:]] == [False, True, False, True, False, True]


def test_control_frames() -> None:
    assert unmasked(sent("C: !ping x\nC: !pong\nC: !close 1000")) == [(0x89, b"x"), (0x8A, b""), (0x88, b"\x03\xe8")]
    assert steps("S: !pong x\nS: !ping\nS: !close 1002") == [
        ("S", (b"\x8a", Framed((b"x",)))),
        ("S", (b"\x89", Framed(()))),
        ("closed", (b"\x88", Framed((b"\x03\xea",)))),
    ]


def test_what_is_expected_is_what_is_in_the_frame() -> None:
    assert steps('S: a<id:b>\nS: bin 01 <client:c>\nS: raw 00 "x"') == [
        ("S", (b"\x81", Framed((b"a", Token("id", "b"))))),
        ("S", (b"\x82", Framed((b"\x01", Token("client", "c", binary=True))))),
        ("S", (b"", b"\0x")),
    ]


def test_a_frame_whose_length_is_not_known_yet_is_made_when_it_is_sent() -> None:
    [*_, last] = parse("C: x<id:a>", "frames").steps
    assert last == Step(1, "C", 1, (b"\x81", Framed((b"x", Token("id", "a")))))
    assert last.subjects() == {(False, "a")}


@pytest.mark.parametrize(
    ("length", "head"),
    [(0, "00"), (1, "01"), (125, "7d"), (126, "7e007e"), (65_535, "7effff"), (65_536, "7f0000000000010000")],
)
def test_any_length(length: int, head: str) -> None:
    payload = b"x" * length
    from_server = bytes.fromhex(head) + payload
    assert unframed(from_server + b"more") == (payload, len(from_server))
    assert unframed(from_server[:-1]) == (b"", 0)
    from_client = masked(payload)
    assert from_client[0] == 0x80 | from_server[0]
    assert from_client[1 : len(head) // 2] == from_server[1 : len(head) // 2]
    assert len(from_client) == len(from_server) + 4


@pytest.mark.parametrize("wrong", ["C: !close now", "S: !eof", "C: bin xy", "C: raw 7", "C: !dance", "S: !open"])
def test_what_is_no_line_is_refused(wrong: str) -> None:
    with pytest.raises(BadTranscript):
        parse(wrong, "frames")
