"""The session of `deferred` by itself: which verbs it calls, how it keeps answers in order, and what it costs."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from penstock.dialects.deferred import DeferredSession, fits_a_line, is_text, milliseconds
from penstock.model import codes
from penstock.model.limits import LINE_MAX, OWED_BYTES_MAX
from penstock.model.message import Message
from penstock.model.options import LEASED_ONLY
from penstock.model.policy import Policy
from penstock.model.stages import SYNC
from penstock.model.views import Counts, QueueView
from tests.dialects.scripted import Asked, CountingWire, PlainContext, Scripted


class Line:
    """A session on a scripted broker."""

    def __init__(self) -> None:
        self.broker = Scripted()
        self.context = PlainContext(self.broker, {"queue": "q"})
        self.session = DeferredSession(self.context)
        self.wire = CountingWire()
        self.session.wire = self.wire

    def ask(self, data: bytes) -> list[Asked]:
        """What the broker is asked because of these bytes."""
        before = len(self.broker.asked)
        self.session.received(data)
        return self.broker.asked[before:]

    def holds_back(self) -> bool:
        return self.session.held

    def shown(self, seq: int) -> bytes:
        return self.context.ids.show(seq)

    def hand_out(self, asked: Asked, body: bytes, seq: int = 1) -> None:
        """As a broker does: what is owed counts before it is answered."""
        self.session.owed += len(body)
        asked.answer(message=Message(seq, 1, body, 0, 0), number=1)


@pytest.fixture
def line() -> Line:
    return Line()


# -- verbs


def test_add_publishes_into_the_listeners_queue_and_waits_as_long_as_the_server_is_told_to(line: Line) -> None:
    [asked] = line.ask(b"ADD 1500 two words\n")
    assert (asked.verb, asked.arguments, asked.stage) == ("publish", (b"q", b"two words", 1_500_000), SYNC)
    asked.answer(number=42)
    assert line.session.output() == b"TASK %b DELAY 1500ms\n" % line.shown(42)


def test_reserve_says_nothing_of_a_lease_and_does_not_wait(line: Line) -> None:
    [asked] = line.ask(b"RESERVE\n")
    assert (asked.verb, asked.arguments, asked.stage) == ("reserve", (b"q", -1, 0), SYNC)
    line.hand_out(asked, b"body", 7)
    assert line.session.output() == b"TASK %b BODY body\n" % line.shown(7)
    assert line.session.owed == 0


def test_delete_finishes_what_is_leased_whoever_holds_it(line: Line) -> None:
    [asked] = line.ask(b"DELETE %b\n" % line.shown(7))
    assert (asked.verb, asked.arguments, asked.stage) == ("finish", (b"q", 7, LEASED_ONLY, 0), SYNC)
    asked.answer(number=7)
    assert line.session.output() == b"ok\n"


def test_return_releases_what_is_leased_and_counts_no_failure(line: Line) -> None:
    [asked] = line.ask(b"RETURN %b 20\n" % line.shown(7))
    assert (asked.verb, asked.arguments, asked.stage) == ("release", (b"q", 7, 20_000, False, LEASED_ONLY, 0), SYNC)
    asked.answer(number=7)
    assert line.session.output() == b"ok\n"


def test_stats_adds_what_is_delayed_and_ready_and_leaves_out_what_is_parked(line: Line) -> None:
    [asked] = line.ask(b"STATS\n")
    counts = Counts()
    counts.delayed, counts.ready, counts.parked, counts.leased = 20, 3, 100, 4
    asked.answer_with(QueueView(b"q", counts, Policy(), Policy()))
    assert line.session.output() == b"TASKS 23 RESERVED 4 CONNECTIONS 3 HEAP 1.50m\n"


def test_stats_of_a_queue_that_is_not_there(line: Line) -> None:
    [asked] = line.ask(b"STATS\n")
    asked.session.answered_with(asked.token, codes.NO_QUEUE, None)
    assert line.session.output() == b"TASKS 0 RESERVED 0 CONNECTIONS 3 HEAP 1.50m\n"


@pytest.mark.parametrize(
    ("request_line", "code", "words"),
    [
        (b"ADD 0 x\n", codes.FULL, b"queue full\n"),
        (b"ADD 0 x\n", codes.TOO_LARGE, b"invalid TASK_BODY attr\n"),
        (b"ADD 0 x\n", codes.DENIED, b"permission denied\n"),
        (b"RESERVE\n", codes.EMPTY, b"nil\n"),
        (b"RESERVE\n", codes.NO_QUEUE, b"nil\n"),
        (b"RESERVE\n", codes.DENIED, b"permission denied\n"),
        (b"DELETE x\n", codes.NO_MESSAGE, b"unknown TASK_ID\n"),
        (b"RETURN x 0\n", codes.NO_MESSAGE, b"unknown TASK_ID\n"),
    ],
)
def test_a_refusal_in_words(line: Line, request_line: bytes, code: int, words: bytes) -> None:
    [asked] = line.ask(request_line)
    asked.answer(code)
    assert line.session.output() == words


@pytest.mark.parametrize(
    "wrong", [b"ADD 0\n", b"ADD x y\n", b"DELETE\n", b"RETURN\n", b"RETURN x\n", b"reserve\n", b"\n"]
)
def test_what_is_wrong_in_itself_is_not_asked(line: Line, wrong: bytes) -> None:
    assert line.ask(wrong) == []
    assert line.session.output().endswith(b"\n")


# -- answers


def test_answers_stand_in_the_order_of_the_requests_whatever_the_order_they_come_in(line: Line) -> None:
    asked = line.ask(b"ADD 1 a\nnonsense\nADD 2 b\nRESERVE\nADD 0\nADD 3 c\n")
    assert line.session.output() == b""
    asked[3].answer(number=3)
    asked[2].answer(codes.EMPTY)
    assert line.session.output() == b""
    asked[0].answer(number=1)
    assert line.session.output() == b"TASK %b DELAY 1ms\nunknown command\n" % line.shown(1)
    asked[1].answer(number=2)
    rest = b"TASK %b DELAY 2ms\nnil\ninvalid TASK_BODY attr\nTASK %b DELAY 3ms\n"
    assert line.session.output() == rest % (line.shown(2), line.shown(3))


def test_the_wire_is_woken_once_for_all_that_is_said_before_it_asks(line: Line) -> None:
    asked = line.ask(b"ADD 0 a\nADD 0 b\nADD 0 c\n")
    asked[1].answer(number=2)
    assert line.wire.wakes == 0
    asked[0].answer(number=1)
    asked[2].answer(number=3)
    assert line.wire.wakes == 1
    assert line.session.output().count(b"\n") == 3
    assert line.session.output() == b""
    line.ask(b"what\n")
    assert line.wire.wakes == 2


# -- the end


def test_after_the_clients_end_what_was_asked_is_answered_and_then_it_wants_to_close(line: Line) -> None:
    [asked] = line.ask(b"ADD 0 a\nADD 0 b")
    line.session.eof()
    assert not line.session.wants_close()
    asked.answer(number=1)
    assert line.wire.wakes > 0
    assert line.session.output() != b""
    assert line.session.wants_close()


def test_a_client_that_ends_without_having_asked_is_closed_at_once(line: Line) -> None:
    line.session.eof()
    assert line.wire.wakes == 1
    assert line.session.wants_close()


def test_a_lost_connection_ends_its_waiting_and_late_answers_do_no_harm(line: Line) -> None:
    asked = line.ask(b"ADD 0 a\nADD 0 b\n")
    line.session.lost()
    assert line.broker.cancelled == [line.session]
    asked[1].answer(number=2)
    asked[0].answer(number=1)
    assert line.ask(b"ADD 0 c\n") == []


def test_a_line_without_end_is_refused_at_the_limit_when_all_before_it_is_answered(line: Line) -> None:
    [asked] = line.ask(b"ADD 0 a\n" + b"x" * LINE_MAX)
    assert not line.session.wants_close()
    assert line.ask(b"x") == []
    assert line.wire.wakes == 1
    assert not line.session.wants_close()
    assert line.ask(b"\nADD 0 behind it\n") == []
    asked.answer(number=1)
    assert line.session.output() != b""
    assert line.session.wants_close()


# -- too much at once


def test_requests_are_held_back_while_the_answers_under_way_are_large(line: Line) -> None:
    first = line.ask(b"RESERVE\n")
    line.session.owed += OWED_BYTES_MAX + 1
    assert line.ask(b"RESERVE\nADD 0 a\n") == []
    assert line.holds_back()
    assert line.wire.wakes == 1
    assert line.ask(b"ADD 0 b\n") == []
    line.session.owed -= OWED_BYTES_MAX + 1
    line.hand_out(first[0], b"large")
    line.session.resume()
    assert not line.holds_back()
    assert [asked.arguments[1] for asked in line.broker.asked[2:]] == [b"a", b"b"]


def test_held_requests_stop_again_at_the_limit(line: Line) -> None:
    line.session.owed = OWED_BYTES_MAX + 1
    assert line.ask(b"RESERVE\n" * 3) == []
    line.session.resume()
    assert line.holds_back()
    assert line.broker.asked == []


def test_the_clients_end_waits_for_what_is_held_back(line: Line) -> None:
    line.session.owed = OWED_BYTES_MAX + 1
    line.ask(b"what\n")
    line.session.eof()
    assert not line.session.wants_close()
    line.session.owed = 0
    line.session.resume()
    assert line.session.output() == b"unknown command\n"
    assert line.session.wants_close()


def test_resuming_a_session_that_holds_nothing_does_nothing(line: Line) -> None:
    line.session.resume()
    assert line.broker.asked == []


# -- what a line costs that comes in small pieces


def seconds_for_a_line(length: int) -> float:
    session = Line().session
    began = time.process_time()
    for _ in range(length):
        session.received(b"x")
    session.received(b"\n")
    return time.process_time() - began


def test_a_line_of_single_bytes_costs_in_proportion_to_its_length() -> None:
    """Four times the length: four times the time where it is linear, sixteen times where it is quadratic."""
    short = min(seconds_for_a_line(LINE_MAX // 4) for _ in range(3))
    assert seconds_for_a_line(LINE_MAX) < 10 * short


def test_a_line_in_pieces_is_kept_in_little_more_than_its_own_room() -> None:
    session = Line().session
    tracemalloc.start()
    try:
        for _ in range(LINE_MAX // 8):
            session.received(b"8 bytes.")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * LINE_MAX


# -- small things


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"0", 0),
        (b"00", 0),
        (b"7", 7),
        (b"2147483647", 2_147_483_647),
        (b"0000000002147483647", 2_147_483_647),
        (b"2147483648", -1),
        (b"99999999999999999999", -1),
        (b"9" * 10_000, -1),
        (b"0" * 10_000, 0),
        (b"", -1),
        (b" 1", -1),
        (b"1 ", -1),
        (b"-0", -1),
        (b"+1", -1),
        (b"1.0", -1),
        (b"1_0", -1),
        (b"\xd9\xa1", -1),  # a digit of another script
    ],
)
def test_milliseconds_are_plain_decimal(text: bytes, value: int) -> None:
    line = b"RETURN 0123456789 " + text
    assert milliseconds(line, 18, len(line)) == value


@pytest.mark.parametrize("body", [b"", b"plain", "ü".encode(), b"\0", b"\r", b"a\nb"])
def test_text_is_utf_8(body: bytes) -> None:
    assert is_text(body)


@pytest.mark.parametrize("body", [b"\xff", b"\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"])
def test_other_bytes_are_not(body: bytes) -> None:
    assert not is_text(body)
    assert not fits_a_line(body)


@pytest.mark.parametrize(
    ("body", "fits"), [(b"", True), (b"a b", True), (b"a\rb", True), (b"a\r", False), (b"\n", False)]
)
def test_what_fits_a_line(body: bytes, fits: bool) -> None:
    assert fits_a_line(body) is fits
