"""The session of `glovebox` by itself: which verbs it calls, what it says, and when it holds back or ends."""

from __future__ import annotations

import json
import struct
from typing import Any, cast

import pytest
from librt.strings import BytesWriter

from penstock.codecs.ids import high, low
from penstock.dialects.glovebox import GloveboxSession
from penstock.dialects.glovebox_words import BAD_REQUEST, DENIED, BinaryWords, JsonWords, Words
from penstock.model import codes, contract, stages
from penstock.model.contract import owed_for
from penstock.model.limits import DAY_US, IN_FLIGHT_MAX, NEVER_US, OWED_BYTES_MAX, SECOND_US
from penstock.model.message import Lease, Message
from penstock.model.options import HOLDER_ONLY, Publishing, Reserving, Taking
from penstock.model.stages import READY, SYNC, WRITE
from tests.dialects.gloves import opening, request
from tests.dialects.scripted import Asked, CountingWire, PlainContext, Scripted
from tests.dialects.websocket_model import BINARY, WELCOME, frame, frames, text

POP = request("pop", queue="q", label=1)
CLIENT = 8


class Line:
    """A session on a scripted broker, which has met its client unless a test wants to see that."""

    def __init__(self, *, met: bool = True, create: bool = True, **headers: object) -> None:
        self.broker = Scripted()
        self.context = PlainContext(self.broker, {"runtime_create": create})
        self.session = GloveboxSession(self.context)
        self.wire = CountingWire()
        self.session.wire = self.wire
        self.session.received(opening(**headers))
        if met:
            self.meet()
            self.said()

    def meet(self) -> None:
        [asked] = self.broker.asked
        asked.answer(number=CLIENT)

    def ask(self, data: bytes) -> list[Asked]:
        before = len(self.broker.asked)
        self.session.received(data)
        return self.broker.asked[before:]

    def request(self, type: str, **members: object) -> Asked:
        [asked] = self.ask(request(type, **members))
        return asked

    def hand_out(self, asked: Asked, message: Message, deliveries: int = 1) -> None:
        """As a broker does: what is owed counts before it is answered."""
        self.session.owed += len(message.body)
        asked.answer(codes.OK, message, deliveries)

    def said(self) -> list[Any]:
        data = self.session.output().removeprefix(WELCOME)
        return [json.loads(payload) if first == 0x81 else payload for first, payload in frames(data)]


@pytest.fixture
def line() -> Line:
    return Line()


def message(body: bytes = b"hi", seq: int = 1) -> Message:
    return Message(seq, 1, body, 0, 0)


def place(line: Line, seq: int) -> dict[str, int]:
    pair = line.context.ids.pair(seq)
    return {"shard": int(high(pair)), "sequence": int(low(pair))}


# -- hello


def test_it_asks_for_a_name_and_says_it_first() -> None:
    line = Line(met=False)
    [asked] = line.broker.asked
    assert (asked.verb, asked.arguments) == ("meet", (0, False))
    assert line.said() == []
    asked.answer(number=CLIENT)
    assert line.said() == [{"type": "hello", "id": line.context.clients.show(CLIENT)}]


def test_nothing_is_read_before_it_has_a_name() -> None:
    line = Line(met=False)
    assert line.ask(POP) == []
    assert line.session.held
    assert line.session.enough()
    line.meet()
    assert not line.session.enough()
    line.session.resume()
    assert [asked.verb for asked in line.broker.asked] == ["meet", "take"]


def test_the_name_it_had_is_asked_for_by_its_number() -> None:
    shown = Line().context.clients.show(6)
    line = Line(met=False, reconnect_as=shown, durable_session="TRUE")
    assert line.broker.asked[0].arguments == (6, True)


@pytest.mark.parametrize("said", ["", "x", "-1", "1.0", "٣", "9" * 17, str(1 << 53)])
def test_a_name_that_is_none_is_not_asked_for(said: str) -> None:
    assert Line(met=False, reconnect_as=said.encode().decode("latin-1")).broker.asked[0].arguments == (0, False)


# -- verbs


def test_post_publishes_into_a_queue_that_is_there_and_says_nothing_when_it_is(line: Line) -> None:
    asked = line.request("post", queue="q", message="hi")
    assert (asked.verb, asked.arguments, asked.stage) == ("publish", (b"q", b"hi", -1), READY)
    options = cast(Publishing, asked.options)
    assert (options.create, options.priority, options.ttl_us, options.key, options.origin) == (False, 0, -1, None, None)
    asked.answer(number=1)
    assert line.said() == []


def test_a_post_that_wants_to_hear_says_who_wants_to_hear_what(line: Line) -> None:
    options = cast(Publishing, line.request("post", queue="q", message="", label=7, notify=["ready", "drop"]).options)
    assert options.origin is not None
    assert (options.origin.poster, options.origin.label, options.origin.notify) == (CLIENT, 7, 0b100_0001)
    options = cast(Publishing, line.request("post", queue="q", message=[255], priority=-5).options)
    assert (options.priority, options.origin) == (-5, None)


@pytest.mark.parametrize(("timeout", "wait_us"), [(None, 0), (0, 0), (-1, 0), (0.5, 500_000), (1e300, NEVER_US)])
def test_pop_takes_the_oldest_alone(line: Line, timeout: float | None, wait_us: int) -> None:
    asked = line.request("pop", queue="q", label=7, timeout=timeout, sync="write")
    options = cast(Taking, asked.options)
    assert (asked.verb, asked.arguments, asked.stage) == ("take", (b"q",), WRITE)
    assert (options.newest, options.mates, options.wait_us) == (False, False, wait_us)


@pytest.mark.parametrize(
    ("work", "lease_us"), [(0.5, 500_000), (0, 100 * DAY_US), (-3, 100 * DAY_US), (60, 60 * SECOND_US)]
)
def test_fetch_reserves_for_this_client(line: Line, work: float, lease_us: int) -> None:
    asked = line.request("fetch", queue="q", work_timeout=work, block_timeout=2)
    options = cast(Reserving, asked.options)
    assert (asked.verb, asked.arguments, asked.stage) == ("reserve", (b"q", lease_us, 2 * SECOND_US), READY)
    assert (options.holder, options.old_place, options.max) == (CLIENT, True, 0)


def test_a_lease_is_the_clients_own_also_after_another_name_was_taken_up() -> None:
    """Options are used again as long as nothing in them changes, the client's name included."""
    line = Line(met=False)
    line.meet()
    options = [cast(Reserving, line.request("fetch", queue="q", work_timeout=1).options) for _ in range(2)]
    assert options[0] is options[1]
    assert options[0].holder == CLIENT


def test_finish_ends_only_what_this_client_holds(line: Line) -> None:
    asked = line.request("finish", queue="q", **place(line, 5), label=1, response="sync")
    assert (asked.verb, asked.arguments, asked.stage) == ("finish", (b"q", 5, HOLDER_ONLY, CLIENT), SYNC)


@pytest.mark.parametrize(
    ("retries", "attempts"), [(None, None), (0, 1), (1, 1), (3, 3), (4_294_967_295, 4_294_967_295)]
)
def test_create_declares_and_waits_for_what_the_server_confirms(
    line: Line, retries: int | None, attempts: int | None
) -> None:
    asked = line.request("create", queue="q", label=1, retries=retries)
    assert (asked.verb, asked.arguments, asked.stage) == ("declare", (b"q", attempts), SYNC)


def test_where_clients_make_no_queues_the_broker_is_not_even_asked() -> None:
    line = Line(create=False)
    assert line.ask(request("create", queue="q", label=1)) == []
    assert line.said() == [{"type": "error", "label": 1, "code": "PermissionDenied", "key": "q"}]


def test_lists_are_one_batch_and_a_single_publish_is_none(line: Line) -> None:
    one = line.request(
        "publish", queue="q", messages=[{"body": "a", "delay": 1, "ttl": 2, "key": "k", "dedup_id": "d"}]
    )
    assert (one.verb, one.arguments, one.stage) == ("publish", (b"q", b"a", SECOND_US), SYNC)
    options = cast(Publishing, one.options)
    assert options.origin is not None
    assert (options.ttl_us, options.key, options.origin.dedup_id, options.create) == (2 * SECOND_US, b"k", b"d", True)
    two = line.request("publish", queue="q", sync="ready", messages=[{"body": "a"}, {"body": "b"}])
    assert (two.verb, len(two.arguments), two.stage) == ("batch", 2, READY)


@pytest.mark.parametrize(
    ("type", "members", "verb", "delay_us"),
    [
        ("finish", {}, contract.FINISH, -1),
        ("release", {"delay": 1.5}, contract.RELEASE, 1_500_000),
        ("release", {}, contract.RELEASE, -1),
        ("extend", {"lease": 30}, contract.EXTEND, 30_000_000),
    ],
)
def test_of_lists_only_what_this_client_holds_is_ended_or_extended(
    line: Line, type: str, members: dict[str, object], verb: int, delay_us: int
) -> None:
    places = [list(place(line, seq).values()) for seq in (5, 6)]
    asked = line.request(type, queue="q", messages=places, **members)
    assert asked.arguments == tuple((verb, b"q", seq, delay_us, HOLDER_ONLY, CLIENT) for seq in (5, 6))


# -- answers


def test_answers_come_as_they_come_and_labels_tell_them_apart(line: Line) -> None:
    first, second, third = line.ask(
        request("pop", queue="a", label=1)
        + request("fetch", queue="b", label=2, work_timeout=1)
        + request("pop", queue="c", label=3)
    )
    line.hand_out(third, message(b"c", 9))
    second.answer(codes.EMPTY)
    first.answer(codes.NO_QUEUE)
    assert line.said() == [
        {"type": "message", "label": 3, **place(line, 9), "body": "c", "finished": True},
        {"type": "nomessage", "label": 2},
        {"type": "error", "label": 1, "code": "NoObject", "key": "a"},
    ]
    assert line.session.owed == 0


def test_a_notice_wakes_the_connection_once_until_it_is_asked(line: Line) -> None:
    before = line.wire.wakes
    line.session.told(stages.ASSIGN, 7)
    line.session.told(stages.RETRY, 7)
    assert line.wire.wakes == before + 1
    assert [one["notice"] for one in line.said()] == ["assign", "retry"]


def test_what_stands_in_an_answer_is_its_requests_own_however_many_are_under_way(line: Line) -> None:
    """Places in the table are used again."""
    asked = [line.request("pop", queue=f"q{at}", label=at) for at in range(50)]
    for one in asked[::2]:
        one.answer(codes.NO_QUEUE)
    more = [line.request("pop", queue=f"r{at}", label=100 + at) for at in range(25)]
    for one in asked[1::2] + more:
        one.answer(codes.NO_QUEUE)
    said = {one["label"]: one["key"] for one in line.said()}
    assert said == {at: f"q{at}" for at in range(50)} | {100 + at: f"r{at}" for at in range(25)}


# The vectors of the specification: what is said, and its bytes.
VECTORS = {
    "00000000 00000000 0700000000000000 02000000 0100000000000000 0200000000000000 6869 01": lambda words: (
        words.message(7, 2 << 29 | 1, b"hi", True)
    ),
    "00000000 01000000 0500000000000000 04000000": lambda words: words.notice(5, stages.FINISH),
    "00000000 02000000 0100000000000000": lambda words: words.hello(1),
    "00000000 03000000 0700000000000000": lambda words: words.no_message(7),
    "00000000 04000000 0700000000000000 02000000 0300000000000000 616263": lambda words: words.error(7, DENIED, b"abc"),
    "00000000 04000000 0000000000000000 02000000 0b00000000000000" + b"bad request".hex(): lambda words: words.error(
        0, BAD_REQUEST, b"whatever"
    ),
}


@pytest.mark.parametrize("vector", VECTORS)
def test_what_is_said_in_bincode_is_laid_out_as_the_vectors_are(vector: str) -> None:
    out = BytesWriter()
    words: Words = BinaryWords(out)
    VECTORS[vector](words)
    assert frames(out.getvalue()) == [(0x80 | BINARY, bytes.fromhex(vector))]


@pytest.mark.parametrize("label", [0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
def test_every_label_comes_back_whole_in_either_form(label: int) -> None:
    text_out, binary_out = BytesWriter(), BytesWriter()
    JsonWords(text_out).no_message(label)
    BinaryWords(binary_out).no_message(label)
    assert json.loads(frames(text_out.getvalue())[0][1])["label"] == label
    assert struct.unpack("<IIQ", frames(binary_out.getvalue())[0][1]) == (0, 3, label)


ASKED = {
    "00000000 00000000 0300000000000000 616263 0200000000000000 6869 feff 0500000000000000 0200000000000000 00000000 "
    "06000000": ("publish", (b"abc", b"hi", -1), READY),
    "00000000 01000000 0300000000000000 616263 01 0000f041 0000003f 01000000 0900000000000000": (
        "reserve",
        (b"abc", 500_000, 30_000_000),
        WRITE,
    ),
    "00000000 03000000 0300000000000000 616263 00000000 00 0700000000000000": ("take", (b"abc",), READY),
    "00000000 04000000 0300000000000000 616263 0100000000000000 01 03000000 00 00": ("declare", (b"abc", 3), SYNC),
}


@pytest.mark.parametrize("vector", ASKED)
def test_what_is_asked_in_bincode_is_read_as_the_vectors_say(line: Line, vector: str) -> None:
    [asked] = line.ask(frame(0x80 | BINARY, bytes.fromhex(vector)))
    assert (asked.verb, asked.arguments, asked.stage) == ASKED[vector]


def test_a_finish_in_bincode_is_read_as_the_vector_says(line: Line) -> None:
    vector = "00000000 02000000 0300000000000000 616263 0100000000000000 02000000 00 01 02000000"
    [asked] = line.ask(frame(0x80 | BINARY, bytes.fromhex(vector)))
    assert (asked.arguments[1], asked.stage) == (line.context.ids.seq_of(2, 1), SYNC)
    asked.answer(number=1)
    assert line.said() == []


# -- too much at once


def test_requests_are_held_back_while_too_many_wait_for_their_answers(line: Line) -> None:
    asked = line.ask(POP * (IN_FLIGHT_MAX + 2))
    assert len(asked) == IN_FLIGHT_MAX
    assert line.session.held
    asked[0].answer(codes.EMPTY)
    assert not line.session.enough()
    line.session.resume()
    assert len(line.broker.asked) == 1 + IN_FLIGHT_MAX + 1


def test_requests_are_held_back_while_the_answers_under_way_are_large(line: Line) -> None:
    line.session.owed = OWED_BYTES_MAX + 1
    assert line.ask(POP) == []
    line.session.owed = 0
    line.session.resume()
    [asked] = line.broker.asked[1:]
    line.hand_out(asked, message(bytes(OWED_BYTES_MAX)))
    assert line.session.enough()
    assert len(line.said()) == 1
    assert not line.session.enough()


# -- the end


def test_it_ends_when_all_is_answered_but_what_is_waited_for(line: Line) -> None:
    line.request("pop", queue="q", timeout=60)
    asked = line.request("pop", queue="q")
    line.session.eof()
    assert line.broker.cancelled == [line.session]
    assert not line.session.wants_close()
    asked.answer(codes.EMPTY)
    assert len(line.said()) == 1
    assert line.session.wants_close()


def test_a_message_that_was_handed_out_while_the_end_came_is_still_given(line: Line) -> None:
    asked = line.request("fetch", queue="q", block_timeout=60, work_timeout=1)
    line.session.owed += len(b"hi")
    line.session.eof()
    assert not line.session.wants_close()
    asked.answer(codes.OK, message(), 1)
    assert line.said()[0]["body"] == "hi"
    assert line.session.wants_close()


def test_a_list_that_was_handed_out_while_the_end_came_is_still_given(line: Line) -> None:
    asked = line.request("reserve", queue="q", wait=60, max=5)
    leases = [Lease(message(b""))]
    line.session.owed += owed_for(leases)
    line.session.eof()
    assert not line.session.wants_close()
    asked.answer_with(leases)
    assert len(line.said()[0]["messages"]) == 1
    assert line.session.wants_close()


def test_a_lost_connection_ends_its_waiting_once_and_late_answers_do_no_harm(line: Line) -> None:
    asked = line.request("pop", queue="q", timeout=60)
    line.session.eof()
    line.session.lost()
    assert line.broker.cancelled == [line.session]
    line.hand_out(asked, message())
    line.session.told(stages.FINISH, 1)
    assert line.ask(POP) == []


def test_a_page_is_answered_when_the_broker_has_looked() -> None:
    broker = Scripted()
    session = GloveboxSession(PlainContext(broker, {"runtime_create": True}))
    session.received(b"GET /status/none HTTP/1.1\r\n\r\n")
    [asked] = broker.asked
    assert (asked.verb, asked.arguments) == ("show_queue", (b"none",))
    assert not session.wants_close()
    session.answered_with(asked.token, codes.NO_QUEUE, None)
    assert session.output().startswith(b"HTTP/1.1 404 ")
    assert session.wants_close()


def test_text_may_be_anything_and_is_answered_once(line: Line) -> None:
    assert line.ask(text(b"\xff\0") * 3) == []
    assert [one["code"] for one in line.said()] == ["BadRequest"] * 3


@pytest.mark.parametrize("row", [1, 1 << 61, (1 << 61) + 1, 1 << 63, 1 << 64, 10**30])
def test_a_row_may_be_any_number_and_the_greatest_are_one(row: int) -> None:
    asked = Line().request("publish", queue="q", messages=[{"body": "x", "mark": "list", "row": row}])
    assert isinstance(asked.options, Publishing)
    assert asked.options.origin is not None
    assert asked.options.origin.row == min(row, 1 << 61)
