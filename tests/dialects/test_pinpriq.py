"""The session of `pinpriq` by itself: which verbs it calls, how it waits for room, and what it costs."""

from __future__ import annotations

import struct
import time
import tracemalloc
from typing import cast

import pytest

from penstock.dialects.pinpriq import PinpriqSession
from penstock.model import codes
from penstock.model.contract import owed_for
from penstock.model.limits import IN_FLIGHT_MAX, OWED_BYTES_MAX, ROOM_WAIT_US, TAKE_MESSAGES_MAX
from penstock.model.message import Message
from penstock.model.options import Publishing, Taking
from penstock.model.stages import SYNC
from tests.broker.client import Client
from tests.dialects.fuzz_pinpriq import READY, PinpriqRig, pop, push, subscribe, unsubscribe
from tests.dialects.scripted import Asked, CountingWire, PlainContext, Scripted

SECOND_US = 1_000_000
LONGEST = push(b"q" * 65_535, 0, 1, b"k" * 65_535, b"p" * 65_535)


def packets(messages: list[Message]) -> bytes:
    """An answer, as the page draws it."""
    parts = [struct.pack(">H", len(messages))]
    for one in messages:
        key = one.key or b""
        parts.append(struct.pack(">HH", len(key), len(one.body)) + key + one.body)
    return b"".join(parts)


class Line:
    """A session on a scripted broker."""

    def __init__(self) -> None:
        self.broker = Scripted()
        self.session = PinpriqSession(PlainContext(self.broker, {}))
        self.wire = CountingWire()
        self.session.wire = self.wire

    def ask(self, data: bytes) -> list[Asked]:
        """What the broker is asked because of these bytes."""
        before = len(self.broker.asked)
        self.session.received(data)
        return self.broker.asked[before:]

    def beat(self, now_us: int) -> list[Asked]:
        before = len(self.broker.asked)
        self.session.beat(now_us)
        return self.broker.asked[before:]

    def hand_out(self, asked: Asked, *messages: Message) -> None:
        """As a broker does: what is owed counts before it is answered."""
        self.session.owed += owed_for(list(messages))
        asked.answer_with(list(messages))

    def go_on(self) -> list[Asked]:
        """As the server does, once enough has gone out."""
        assert self.session.held
        assert not self.session.enough()
        before = len(self.broker.asked)
        self.session.resume()
        return self.broker.asked[before:]


@pytest.fixture
def line() -> Line:
    return Line()


def message(body: bytes, key: bytes | None = None) -> Message:
    made = Message(1, 1, body, 0, 0)
    made.key = key
    return made


def bodies(asked: list[Asked]) -> list[object]:
    return [one.arguments[1] for one in asked]


# -- verbs


def test_push_publishes_as_durable_as_the_server_is_told_to_and_says_nothing(line: Line) -> None:
    [asked] = line.ask(push(b"q", 1_000, 1, b"k", b"hi"))
    assert (asked.verb, asked.arguments, asked.stage) == ("publish", (b"q", b"hi", -1), SYNC)
    options = cast(Publishing, asked.options)
    assert (options.ttl_us, options.priority, options.parked, options.key) == (1_000_000, 255, False, b"k")
    asked.answer(number=1)
    assert line.session.output() == b""


@pytest.mark.parametrize(
    ("priority", "counts_as", "parked"), [(1, 255, False), (2, 254, False), (255, 1, False), (0, 0, True)]
)
def test_one_is_the_best_priority_and_none_is_parked(line: Line, priority: int, counts_as: int, parked: bool) -> None:
    options = cast(Publishing, line.ask(push(b"q", 0, priority, b"", b""))[0].options)
    assert (options.priority, options.parked) == (counts_as, parked)


def test_no_ttl_is_said_and_an_empty_key_is_a_key(line: Line) -> None:
    options = cast(Publishing, line.ask(push(b"q", 0, 1, b"", b""))[0].options)
    assert options.ttl_us == 0
    assert options.key == b""
    assert options.create


def test_pop_takes_the_newest_with_its_mates_and_does_not_wait(line: Line) -> None:
    [asked] = line.ask(pop(b"q"))
    assert (asked.verb, asked.arguments, asked.stage) == ("take", (b"q",), SYNC)
    options = cast(Taking, asked.options)
    assert (options.newest, options.mates, options.wait_us) == (True, True, 0)
    line.hand_out(asked, message(b"hi", b"k"), message(b""))
    assert line.session.output() == bytes.fromhex("0002 0001 0002 6b 6869 0000 0000")
    assert line.session.owed == 0


@pytest.mark.parametrize("code", [codes.EMPTY, codes.NO_QUEUE])
def test_nothing_there_is_a_count_of_none(line: Line, code: int) -> None:
    [asked] = line.ask(pop(b"q"))
    asked.session.answered_with(asked.token, code, [])
    assert line.session.output() == b"\0\0"


def test_waiting_is_told_to_the_broker_in_the_order_it_was_said(line: Line) -> None:
    line.ask(READY + subscribe(b"q") + READY + unsubscribe(b"q") + subscribe(b""))
    credit = ("credit", b"")
    assert line.broker.waited == [credit, ("subscribe", b"q"), credit, ("unsubscribe", b"q"), ("subscribe", b"")]


def test_what_is_pushed_looks_like_the_answer_to_a_pop(line: Line) -> None:
    group = [message(b"hi", b"k")]
    line.session.owed += owed_for(group)
    line.session.pushed(b"q", group)
    assert line.session.output() == packets(group) == bytes.fromhex("0001 0001 0002 6b 6869")
    assert line.wire.wakes == 1
    assert line.session.owed == 0


def test_one_answer_holds_as_many_packets_as_its_count_can_say() -> None:
    rig = PinpriqRig()
    other = Client(rig.desk)
    for _ in range(TAKE_MESSAGES_MAX + 2):
        other.call(rig.desk.broker.publish, b"q", b"", 0, Publishing(key=b""), rig.desk.confirm)
    rig.receive(pop(b"q") * 3)
    assert rig.settle() == b"\xff\xff" + bytes(4 * 65_535) + b"\0\2" + bytes(4 * 2) + b"\0\0"


# -- answers


def test_pops_are_answered_in_their_order_whatever_the_order_they_come_in(line: Line) -> None:
    first, _, second, third = line.ask(pop(b"a") + push(b"q", 0, 1, b"", b"") + pop(b"b") + pop(b"c"))
    line.hand_out(third, message(b"c"))
    line.hand_out(second, message(b"b"))
    assert line.session.output() == b""
    line.hand_out(first, message(b"a"))
    assert line.session.output() == packets([message(b"a")])
    line.broker.asked[1].answer(number=1)
    assert line.session.output() == packets([message(b"b")]) + packets([message(b"c")])


def test_what_is_pushed_does_not_wait_for_pops(line: Line) -> None:
    [asked] = line.ask(pop(b"a"))
    line.session.owed += owed_for([message(b"x")])
    line.session.pushed(b"q", [message(b"x")])
    assert line.session.output() == packets([message(b"x")])
    asked.answer_with([])
    assert line.session.output() == b"\0\0"


# -- the end


def test_an_unknown_opcode_ends_it_when_all_before_it_is_answered(line: Line) -> None:
    [asked] = line.ask(pop(b"a") + b"\0" + pop(b"b"))
    assert not line.session.wants_close()
    assert line.ask(pop(b"c")) == []
    asked.answer_with([])
    assert line.session.output() == b"\0\0"
    assert line.session.wants_close()


@pytest.mark.parametrize("one_too_many", [READY, subscribe(b"r")])
def test_what_the_broker_has_no_place_for_ends_it(line: Line, one_too_many: bytes) -> None:
    line.broker.welcomes = 2
    assert line.ask(READY + subscribe(b"q")) == []
    assert not line.session.wants_close()
    assert line.ask(one_too_many + pop(b"q")) == []
    assert line.session.wants_close()


@pytest.mark.parametrize("code", [codes.TOO_LARGE, codes.DENIED])
def test_a_push_that_will_never_be_accepted_ends_it(line: Line, code: int) -> None:
    first, second = line.ask(push(b"q", 0, 1, b"", b"a") + pop(b"q") + b"p\0")
    first.answer(code)
    assert not line.session.wants_close()
    assert line.ask(bytes(20)) == []
    second.answer_with([])
    assert line.session.output() == b"\0\0"
    assert line.session.wants_close()


def test_whoever_sends_no_more_waits_no_more_and_gets_what_is_on_its_way(line: Line) -> None:
    line.ask(subscribe(b"q") + READY)
    group = [message(b"")]
    line.session.owed += owed_for(group)
    line.session.eof()
    assert line.broker.cancelled == [line.session]
    assert not line.session.wants_close()
    line.session.pushed(b"q", group)
    assert line.session.output() == packets(group)
    assert line.session.wants_close()


def test_a_lost_connection_ends_its_waiting_once_and_late_answers_do_no_harm(line: Line) -> None:
    first, second = line.ask(push(b"q", 0, 1, b"", b"") + pop(b"q"))
    line.session.eof()
    line.session.lost()
    assert line.broker.cancelled == [line.session]
    second.answer_with([])
    first.answer(codes.FULL)
    assert line.ask(pop(b"q")) == []


# -- too much at once


def test_requests_are_held_back_while_too_many_wait_for_their_answers(line: Line) -> None:
    asked = line.ask(pop(b"q") * (IN_FLIGHT_MAX + 2))
    assert len(asked) == IN_FLIGHT_MAX
    assert line.session.held
    assert line.ask(pop(b"r")) == []
    for one in asked[:3]:
        one.answer_with([])
    assert [one.arguments for one in line.go_on()] == [(b"q",), (b"q",), (b"r",)]


def test_requests_are_held_back_while_the_answers_under_way_are_large(line: Line) -> None:
    [asked] = line.ask(pop(b"q"))
    large = [message(bytes(65_535)) for _ in range(17)]
    line.session.owed += owed_for(large)
    assert line.ask(READY + pop(b"q")) == []
    assert line.broker.waited == []
    asked.answer_with(large)
    assert line.session.enough()
    assert line.session.output() == packets(large)
    assert len(line.go_on()) == 1
    assert line.broker.waited == [("credit", b"")]


def test_the_clients_end_waits_for_what_is_held_back(line: Line) -> None:
    line.session.owed = OWED_BYTES_MAX + 1
    assert line.ask(pop(b"q") + pop(b"r") + b"P") == []
    line.session.eof()
    assert not line.session.wants_close()
    line.session.owed = 0
    for one in line.go_on():
        one.answer_with([])
    assert line.session.output() == b"\0\0\0\0"
    assert line.session.wants_close()


def test_whoever_sends_no_more_is_not_subscribed_by_what_was_held_back(line: Line) -> None:
    line.session.owed = OWED_BYTES_MAX + 1
    line.ask(subscribe(b"q") + READY)
    line.session.eof()
    line.session.owed = 0
    assert line.session.output() == b""
    wakes = line.wire.wakes
    assert line.go_on() == []
    assert line.broker.waited == []
    assert line.session.wants_close()
    assert line.wire.wakes > wakes


# -- no room


def test_a_push_without_room_holds_back_all_that_follows(line: Line) -> None:
    [asked] = line.ask(push(b"q", 0, 1, b"", b"a"))
    asked.answer(codes.FULL)
    assert line.session.held
    assert line.session.enough()
    assert line.wire.wakes == 1
    assert line.ask(push(b"q", 0, 1, b"", b"b") + pop(b"q")) == []


def test_it_is_tried_again_at_every_beat_and_when_it_is_in_the_rest_goes_on(line: Line) -> None:
    line.ask(push(b"q", 7, 3, b"k", b"a"))[0].answer(codes.FULL)
    line.ask(pop(b"q"))
    for beat in range(1, 4):
        [again] = line.beat(beat * SECOND_US)
        assert (again.verb, again.arguments, again.stage) == ("publish", (b"q", b"a", -1), SYNC)
        assert cast(Publishing, again.options).key == b"k"
        assert line.beat(beat * SECOND_US) == []
        again.answer(codes.FULL if beat < 3 else codes.OK)
    assert line.ask(pop(b"q") * 5) == []
    assert [asked.verb for asked in line.go_on()] == ["take"] * 6
    assert line.beat(9 * SECOND_US) == []


def test_several_are_tried_in_their_order_when_all_under_way_is_answered(line: Line) -> None:
    asked = line.ask(b"".join(push(b"q", 0, 1, b"", body) for body in (b"a", b"b", b"c", b"d")))
    asked[3].answer(codes.FULL)
    asked[1].answer(codes.FULL)
    asked[2].answer(codes.OK)
    assert line.beat(SECOND_US) == []
    asked[0].answer(codes.FULL)
    again = line.beat(2 * SECOND_US)
    assert bodies(again) == [b"a", b"b", b"d"]
    again[0].answer(codes.OK)
    again[2].answer(codes.FULL)
    again[1].answer(codes.OK)
    assert line.session.enough()
    assert bodies(line.beat(3 * SECOND_US)) == [b"d"]


def test_the_rest_waits_while_a_try_is_under_way(line: Line) -> None:
    line.ask(push(b"q", 0, 1, b"", b"a"))[0].answer(codes.FULL)
    [again] = line.beat(SECOND_US)
    assert line.session.enough()
    again.answer(codes.OK)
    assert not line.session.enough()


def test_after_half_a_minute_without_room_it_ends_and_what_was_popped_before_is_still_given(line: Line) -> None:
    first, second, third = line.ask(push(b"q", 0, 1, b"", b"a") + pop(b"r") + push(b"q", 0, 1, b"", b"b"))
    first.answer(codes.FULL)
    third.answer(codes.FULL)
    line.ask(pop(b"r"))
    line.hand_out(second, message(b"x"))
    for again in line.beat(SECOND_US):
        again.answer(codes.FULL)
    for again in line.beat(SECOND_US + int(ROOM_WAIT_US)):
        again.answer(codes.FULL)
    assert not line.session.wants_close()
    assert line.beat(SECOND_US + int(ROOM_WAIT_US) + 1) == []
    assert line.session.output() == packets([message(b"x")])
    assert line.session.wants_close()


def test_every_push_that_comes_in_begins_the_wait_anew(line: Line) -> None:
    for asked in line.ask(push(b"q", 0, 1, b"", b"a") + push(b"q", 0, 1, b"", b"b")):
        asked.answer(codes.FULL)
    first, second = line.beat(SECOND_US)
    first.answer(codes.OK)
    second.answer(codes.FULL)
    for now_us in (20 * SECOND_US, 40 * SECOND_US):
        [again] = line.beat(now_us)
        again.answer(codes.FULL)
    assert line.beat(51 * SECOND_US) == []
    assert line.session.wants_close()


# -- what a request costs that comes in small pieces


def seconds_for(payload: int) -> float:
    session = Line().session
    request = push(b"q", 0, 1, b"k" * payload, b"p" * payload)
    began = time.process_time()
    for at in range(len(request)):
        session.received(request[at : at + 1])
    return time.process_time() - began


def test_a_request_of_single_bytes_costs_in_proportion_to_its_length() -> None:
    """Four times the length: four times the time where it is linear, sixteen times where it is quadratic."""
    short = min(seconds_for(16_000) for _ in range(3))
    assert seconds_for(64_000) < 10 * short


def test_the_longest_request_in_pieces_is_kept_in_little_more_than_its_own_room(line: Line) -> None:
    tracemalloc.start()
    try:
        for at in range(0, len(LONGEST) - 8, 8):
            line.session.received(LONGEST[at : at + 8])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert line.broker.asked == []
    assert peak < 3 * len(LONGEST)
