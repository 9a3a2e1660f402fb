"""Sessions over WebSocket, whatever their dialect: the way in, answers and control frames, every kind of end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.codecs.upgrade import Head
from penstock.dialects.websocket import WebSocketSession
from penstock.model.limits import HEAD_MAX, IN_FLIGHT_MAX, OWED_BYTES_MAX
from penstock.model.message import Message
from tests.dialects.scripted import CountingWire, PlainContext, Scripted
from tests.dialects.websocket_model import BINARY, CLOSE, OPENING, PING, PONG, TEXT, WELCOME, frame, frames, text

FIN = 0x80
Frames = list[tuple[int, bytes]]


class Echo(WebSocketSession):
    """Answers a text with itself when the test says so; `/page` is there, and is told later."""

    def __init__(self) -> None:
        self.broker = Scripted()
        super().__init__(99, PlainContext(self.broker, {}))
        self.texts: list[tuple[int, bytes]] = []
        self.binaries: list[bytes] = []
        self.pages: list[int] = []
        self.greeting = b""

    def opened(self, head: Head) -> None:
        if head.said("greet"):
            self.put_frame(TEXT, b"welcome")

    def text(self, payload: bytes) -> None:
        self.texts.append((int(self.next_turn()), payload))

    def binary(self, payload: bytes) -> None:
        self.binaries.append(payload)

    def page(self, turn: int, path: bytes) -> None:
        if path == b"/page":
            self.pages.append(int(turn))
        else:
            self.not_found(turn)

    def answered(self, token: int, code: int, message: Message | None, number: int) -> None:
        raise AssertionError("nobody was asked")

    def echo(self) -> None:
        turn, payload = self.texts.pop(0)
        self.answer_frame(turn, payload)


@pytest.fixture
def session() -> Echo:
    made = Echo()
    made.wire = CountingWire()
    return made


@pytest.fixture
def opened(session: Echo) -> Echo:
    session.received(OPENING)
    assert session.output() == WELCOME
    return session


def said(session: Echo) -> Frames:
    return frames(session.output())


def closing(code: int) -> tuple[int, bytes]:
    return FIN | CLOSE, code.to_bytes(2, "big")


# -- the way in


@given(st.lists(st.integers(0, len(OPENING))))
def test_it_opens_however_the_request_is_cut(cuts: list[int]) -> None:
    session = Echo()
    places = sorted(cuts)
    for a, b in zip([0, *places], [*places, len(OPENING)], strict=True):
        session.received(OPENING[a:b])
    assert session.output() == WELCOME
    assert not session.wants_close()


def test_frames_may_come_with_the_request(session: Echo) -> None:
    session.received(OPENING + text(b"a") + text(b"b")[:3])
    assert [payload for _, payload in session.texts] == [b"a"]
    session.received(text(b"b")[3:])
    assert [payload for _, payload in session.texts] == [b"a", b"b"]


def test_a_dialect_may_speak_first_and_knows_the_headers(session: Echo) -> None:
    session.received(OPENING.replace(b"Host", b"GREET: true\r\nHost"))
    assert session.output() == WELCOME + b"\x81\x07welcome"


def test_a_page_may_be_told_later_and_then_it_ends(session: Echo) -> None:
    session.received(b"GET /page HTTP/1.1\r\n\r\n")
    assert session.output() == b""
    assert not session.wants_close()
    session.respond_json(session.pages[0], 200, {"a": [1]})
    assert session.output() == (
        b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\nConnection: close\r\n\r\n{"a":[1]}'
    )
    assert session.wants_close()


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"GET /elsewhere HTTP/1.1", b"404"),
        (b"POST /page HTTP/1.1", b"405"),
        (b"POST /connect HTTP/1.1", b"405"),
        (b"GET /connect HTTP/1.1", b"426"),
        (b"hello", b"400"),
    ],
)
def test_any_other_request_is_answered_and_ends_it(session: Echo, request_line: bytes, status: bytes) -> None:
    session.received(request_line + b"\r\n\r\n" + text(b"not read"))
    assert session.output().startswith(b"HTTP/1.1 " + status)
    assert session.wants_close()
    assert session.texts == []


def test_a_head_that_never_ends_is_refused(session: Echo) -> None:
    for _ in range(HEAD_MAX):
        session.received(b"x")
    assert session.output().startswith(b"HTTP/1.1 431 ")
    assert session.wants_close()


@given(st.lists(st.binary(max_size=40)))
def test_any_bytes_at_all_are_no_way_in(segments: list[bytes]) -> None:
    session = Echo()
    for segment in [*segments, b"\r\n\r\n"]:
        session.received(segment)
    assert session.output().startswith(b"HTTP/1.1 4")
    assert session.wants_close()


# -- messages


def test_texts_and_binaries_are_told_apart(opened: Echo) -> None:
    opened.received(text(b"a") + frame(FIN | BINARY, b"b") + frame(TEXT, b"c") + frame(FIN, b"d"))
    assert [payload for _, payload in opened.texts] == [b"a", b"cd"]
    assert opened.binaries == [b"b"]


def test_a_ping_is_answered_at_once_whatever_is_under_way(opened: Echo) -> None:
    opened.received(text(b"a") + frame(FIN | PING, b"?") + frame(FIN | PONG, b"!"))
    assert said(opened) == [(FIN | PONG, b"?")]
    opened.echo()
    assert said(opened) == [(FIN | TEXT, b"a")]


# -- the end


def test_a_close_is_answered_after_all_that_was_asked_before_it(opened: Echo) -> None:
    opened.received(text(b"a") + text(b"b") + frame(FIN | CLOSE, b"\x0f\xa0bye") + text(b"not read"))
    assert said(opened) == []
    opened.echo()
    assert said(opened) == [(FIN | TEXT, b"a")]
    assert not opened.wants_close()
    opened.echo()
    assert said(opened) == [(FIN | TEXT, b"b"), closing(4_000)]
    assert opened.wants_close()


def test_answers_that_come_in_another_order_are_all_given_before_the_close(opened: Echo) -> None:
    opened.received(text(b"a") + text(b"b") + frame(FIN | CLOSE, b"\3\xe8"))
    (first, a), (second, b) = opened.texts
    opened.answer_frame(second, b)
    assert said(opened) == []
    opened.answer_frame(first, a)
    assert said(opened) == [(FIN | TEXT, b"a"), (FIN | TEXT, b"b"), closing(1_000)]
    assert opened.wants_close()


def test_lost_framing_ends_it_alike(opened: Echo) -> None:
    opened.received(text(b"a") + b"\x81\0" + text(b"not read"))
    assert len(opened.texts) == 1
    opened.echo()
    assert said(opened) == [(FIN | TEXT, b"a"), closing(1_002)]
    assert opened.wants_close()
    opened.received(text(b"not read either"))
    assert opened.texts == []


def test_a_client_that_closes_its_half_is_answered_without_a_close(opened: Echo) -> None:
    opened.received(text(b"a") + text(b"half")[:4])
    opened.eof()
    assert not opened.wants_close()
    opened.echo()
    assert said(opened) == [(FIN | TEXT, b"a")]
    assert opened.wants_close()
    assert opened.broker.cancelled == [opened]


def test_where_the_server_ends_it_it_says_that_it_goes_away(opened: Echo) -> None:
    assert frames(opened.parting()) == [closing(1_001)]


def test_but_not_before_it_is_open_nor_after_goodbye(session: Echo) -> None:
    assert session.parting() == b""
    session.received(OPENING)
    session.output()
    session.received(frame(FIN | CLOSE, b""))
    assert said(session) == [(FIN | CLOSE, b"")]
    assert session.parting() == b""


# -- too much at once


def test_requests_are_held_back_while_too_many_wait_for_their_answers(opened: Echo) -> None:
    opened.received(text(b"a") * (IN_FLIGHT_MAX + 2))
    assert len(opened.texts) == IN_FLIGHT_MAX
    assert opened.held
    for _ in range(2):
        opened.echo()
    assert not opened.enough()
    opened.resume()
    assert len(opened.texts) == IN_FLIGHT_MAX
    assert opened.enough()


def test_pings_are_held_back_while_nobody_reads_the_pongs(opened: Echo) -> None:
    pings = OWED_BYTES_MAX // 125 + 100
    opened.received(frame(FIN | PING, b"p" * 125) * pings)
    assert opened.held
    heard = said(opened)
    assert len(heard) < pings
    opened.resume()
    assert len(heard) + len(said(opened)) == pings
    assert not opened.held


def test_what_was_held_back_is_still_read_when_the_client_has_closed_its_half(opened: Echo) -> None:
    opened.owed = OWED_BYTES_MAX + 1
    opened.received(text(b"a") + text(b"b"))
    opened.eof()
    assert opened.texts == []
    assert not opened.wants_close()
    opened.owed = 0
    opened.resume()
    opened.echo()
    opened.echo()
    assert said(opened) == [(FIN | TEXT, b"a"), (FIN | TEXT, b"b")]
    assert opened.wants_close()


def test_but_not_when_the_connection_is_gone(opened: Echo) -> None:
    opened.owed = OWED_BYTES_MAX + 1
    opened.received(text(b"a"))
    opened.lost()
    opened.owed = 0
    opened.resume()
    assert opened.texts == []


def test_a_close_behind_what_is_held_back_waits_for_its_turn(opened: Echo) -> None:
    opened.owed = OWED_BYTES_MAX + 1
    opened.received(text(b"a") + frame(FIN | CLOSE, b"\3\xe8"))
    assert said(opened) == []
    opened.owed = 0
    opened.resume()
    opened.echo()
    assert said(opened) == [(FIN | TEXT, b"a"), closing(1_000)]
    assert opened.wants_close()
