"""The session of `etzel` by itself: which verbs it calls, what it says, whom it wakes and when."""

from __future__ import annotations

import json
from typing import cast

import pytest

from penstock.dialects.etzel import EtzelSession
from penstock.model import codes
from penstock.model.limits import SUBSCRIBED_BYTES_MAX, SUBSCRIPTION_OVERHEAD, SUBSCRIPTIONS_MAX
from penstock.model.message import Message
from penstock.model.options import ANY_LIVE, Publishing, Reserving
from penstock.model.stages import SYNC
from tests.broker.client import Client
from tests.dialects.doors import World
from tests.dialects.fuzz_etzel import asked as sent
from tests.dialects.runner import Connection, FakeContext
from tests.dialects.scripted import Asked, CountingWire, PlainContext, Scripted
from tests.dialects.test_glovebox_stages import SlowDesk
from tests.dialects.test_transcripts import BROKERS
from tests.dialects.websocket_model import OPENING, WELCOME, frames

SECOND_US = 1_000_000


class Line:
    """A session on a scripted broker, open."""

    def __init__(self, context: PlainContext | None = None) -> None:
        self.context = context or PlainContext(Scripted(), {})
        self.broker = cast(Scripted, self.context.broker)
        self.session = EtzelSession(self.context)
        self.session.wire = CountingWire()
        self.session.received(OPENING)
        assert self.session.output() == WELCOME

    def ask(self, **members: object) -> list[Asked]:
        """What the broker is asked because of this request."""
        before = len(self.broker.asked)
        self.session.received(sent(**members))
        return self.broker.asked[before:]

    def said(self) -> list[dict[str, object]]:
        return [json.loads(payload) for _, payload in frames(self.session.output())]

    def uid(self, seq: int) -> str:
        return "etzl" + self.context.ids.show(seq).decode()


@pytest.fixture
def line() -> Line:
    return Line()


def message(seq: int, body: bytes) -> Message:
    return Message(seq, 1, body, 0, 0)


def nok(err: str) -> dict[str, object]:
    return {"cmd": "nok", "err": err}


# -- verbs


def test_pub_publishes_as_durable_as_the_server_is_told_to(line: Line) -> None:
    [asked] = line.ask(cmd="PUB", qname="q", msg="hi", delay=3, expires=9, timeout=5)
    assert (asked.verb, asked.arguments, asked.stage) == ("publish", (b"q", b"hi", 3 * SECOND_US), SYNC)
    options = cast(Publishing, asked.options)
    assert (options.ttl_us, options.lease_us, options.create) == (9 * SECOND_US, 5 * SECOND_US, True)
    assert (options.priority, options.key, options.parked) == (0, None, False)
    assert line.said() == []
    asked.answer(number=1)
    assert line.said() == [{"cmd": "ok"}]


def test_what_is_not_said_is_left_to_the_queue(line: Line) -> None:
    [asked] = line.ask(cmd="PUB", qname="q", msg="hi")
    options = cast(Publishing, asked.options)
    assert (asked.arguments[2], options.ttl_us, options.lease_us) == (-1, -1, -1)


def test_what_is_said_to_be_nothing_is_nothing(line: Line) -> None:
    [asked] = line.ask(cmd="PUB", qname="q", msg="hi", delay=0, expires="0")
    options = cast(Publishing, asked.options)
    assert (asked.arguments[2], options.ttl_us, options.lease_us) == (0, 0, -1)


@pytest.mark.parametrize(
    ("code", "err"),
    [
        (codes.FULL, "FULL"),
        (codes.TOO_LARGE, "TOO_LARGE"),
        (codes.BAD_NAME, "BAD_NAME"),
        (codes.DENIED, "DENIED"),
    ],
)
def test_a_publish_that_is_refused(line: Line, code: int, err: str) -> None:
    line.ask(cmd="PUB", qname="q", msg="hi")[0].answer(code)
    assert line.said() == [nok(err)]


def test_fet_reserves_the_oldest_for_its_own_time_and_does_not_wait(line: Line) -> None:
    [asked] = line.ask(cmd="FET", qname="q")
    assert (asked.verb, asked.arguments, asked.stage) == ("reserve", (b"q", -1, 0), SYNC)
    line.session.owed += 2
    asked.answer(message=message(7, b"hi"), number=3)
    assert line.said() == [{"cmd": "msg", "qname": "q", "uid": line.uid(7), "error_count": 2, "msg": "hi"}]
    assert line.session.owed == 0


def test_a_fetched_message_goes_to_the_tail_when_its_time_is_over() -> None:
    assert not Reserving().old_place


def test_nothing_there(line: Line) -> None:
    line.ask(cmd="FET", qname="q")[0].answer(codes.EMPTY)
    line.ask(cmd="FET", qname="q")[0].answer(codes.NO_QUEUE)
    line.ask(cmd="FET", qname="q")[0].answer(codes.DENIED)
    assert line.said() == [{"cmd": "nomsg", "qname": "q"}, nok("Q_NOT_FOUND"), nok("DENIED")]


@pytest.mark.parametrize("cmd", ["ACK", "DEL"])
@pytest.mark.parametrize("code", [codes.OK, codes.NO_MESSAGE])
def test_ack_finishes_whatever_lives_and_is_answered_alike(line: Line, cmd: str, code: int) -> None:
    [asked] = line.ask(cmd=cmd, qname="q", uid=line.uid(7))
    assert (asked.verb, asked.arguments, asked.stage) == ("finish", (b"q", 7, ANY_LIVE, 0), SYNC)
    assert line.said() == []
    asked.answer(code)
    assert line.said() == [{"cmd": "okack", "uid": line.uid(7), "qname": "q"}]


class Wired:
    """A session on a real broker, open."""

    def __init__(self, desk: SlowDesk) -> None:
        self._desk = desk
        self._connection = Connection(EtzelSession(FakeContext(desk, {})))
        self._connection.session.received(OPENING)
        assert self.heard() == []

    def ask(self, **members: object) -> list[dict[str, object]]:
        self._connection.session.received(sent(qname="q", **members))
        return self.heard()

    def heard(self) -> list[dict[str, object]]:
        self._desk.tick()
        self._connection.flush()
        data, self._connection.heard = self._connection.heard.removeprefix(WELCOME), b""
        return [json.loads(payload) for _, payload in frames(data)]


def test_whoever_acks_it_again_is_answered_no_sooner_than_its_end_is_safe() -> None:
    """Or a power cut would bring back what somebody was told is gone."""
    desk = SlowDesk(SYNC)
    one, other = Wired(desk), Wired(desk)
    one.ask(cmd="PUB", msg="x")
    one.ask(cmd="FET")
    desk.sync()
    uid = one.heard()[1]["uid"]
    assert one.ask(cmd="ACK", uid=uid) == []
    desk.start_sync()
    assert other.ask(cmd="ACK", uid=uid) == []
    desk.sync()
    okack = {"cmd": "okack", "uid": uid, "qname": "q"}
    assert one.heard() == other.heard() == [okack]
    assert one.ask(cmd="ACK", uid=uid) == [okack], "nothing is left to wait for"


def test_an_ack_that_is_not_permitted(line: Line) -> None:
    line.ask(cmd="ACK", qname="q", uid=line.uid(7))[0].answer(codes.DENIED)
    assert line.said() == [nok("DENIED")]


def test_answers_come_in_the_order_of_the_requests(line: Line) -> None:
    [first] = line.ask(cmd="PUB", qname="q", msg="a")
    [second] = line.ask(cmd="FET", qname="q")
    assert line.ask(cmd="SUB", qname="q") == []
    second.answer(codes.EMPTY)
    assert line.said() == []
    first.answer(number=1)
    assert [one["cmd"] for one in line.said()] == ["ok", "nomsg", "oksub"]


# -- waking


def test_one_wait_for_who_is_subscribed_and_asleep(line: Line) -> None:
    assert line.ask(cmd="SUB", qname="q") == []
    [asked] = line.ask(cmd="ISLP", qname="q")
    assert (asked.verb, asked.arguments) == ("wait", (b"q",))
    assert line.ask(cmd="ISLP", qname="q") == []
    assert line.ask(cmd="SUB", qname="q") == []
    assert len(line.said()) == 4
    line.session.woken(asked.token)
    assert line.said() == [{"cmd": "awk", "qname": "q"}]
    [again] = line.ask(cmd="ISLP", qname="q")
    assert again.arguments == (b"q",)


def test_a_sleep_before_the_subscription(line: Line) -> None:
    assert line.ask(cmd="ISLP", qname="q") == []
    [asked] = line.ask(cmd="SUB", qname="q")
    assert (asked.verb, asked.arguments) == ("wait", (b"q",))


def test_several_queues_are_several_sleeps(line: Line) -> None:
    for name in ("a", "b"):
        line.ask(cmd="SUB", qname=name)
    [first] = line.ask(cmd="ISLP", qname="a")
    [second] = line.ask(cmd="ISLP", qname="b")
    line.said()
    line.session.woken(second.token)
    line.session.woken(first.token)
    assert line.said() == [{"cmd": "awk", "qname": "b"}, {"cmd": "awk", "qname": "a"}]


def test_a_wake_up_never_overtakes_the_answer_of_its_own_sleep(line: Line) -> None:
    line.ask(cmd="SUB", qname="q")
    [blocking] = line.ask(cmd="FET", qname="q")
    [asked] = line.ask(cmd="ISLP", qname="q")
    line.session.woken(asked.token)
    assert [one["cmd"] for one in line.said()] == ["oksub"]
    blocking.answer(codes.EMPTY)
    assert [one["cmd"] for one in line.said()] == ["nomsg", "okslp", "awk"]


def test_nor_that_of_a_sleep_that_was_said_again(line: Line) -> None:
    line.ask(cmd="SUB", qname="q")
    [asked] = line.ask(cmd="ISLP", qname="q")
    [blocking] = line.ask(cmd="FET", qname="q")
    line.ask(cmd="ISLP", qname="q")
    line.session.woken(asked.token)
    assert [one["cmd"] for one in line.said()] == ["oksub", "okslp"]
    blocking.answer(codes.EMPTY)
    assert [one["cmd"] for one in line.said()] == ["nomsg", "okslp", "awk"]


def test_but_it_waits_for_nothing_else(line: Line) -> None:
    line.ask(cmd="SUB", qname="q")
    [asked] = line.ask(cmd="ISLP", qname="q")
    line.said()
    [blocking] = line.ask(cmd="FET", qname="q")
    line.session.woken(asked.token)
    assert [one["cmd"] for one in line.said()] == ["awk"]
    blocking.answer(codes.EMPTY)
    assert [one["cmd"] for one in line.said()] == ["nomsg"]


def test_whoever_sends_no_more_is_not_put_to_sleep_by_what_was_held_back(line: Line) -> None:
    line.session.owed = 1 << 30
    assert line.ask(cmd="SUB", qname="q") == line.ask(cmd="ISLP", qname="q") == []
    line.session.eof()
    line.session.owed = 0
    line.session.resume()
    assert line.broker.asked == []
    assert [one["cmd"] for one in line.said()] == ["oksub", "okslp"]
    assert line.session.wants_close()
    assert not line.context.subscriptions.has(b"q")


def test_a_message_that_goes_to_a_waiter_of_another_dialect_wakes_nobody() -> None:
    """The waiting of others is not in the transcripts' language."""
    world = World(BROKERS["prompt"])
    connection = world.session("etzel")
    connection.session.received(OPENING + sent(cmd="SUB", qname="default") + sent(cmd="ISLP", qname="default"))
    waiter, publisher = Client(world.desk), Client(world.desk)
    waiter.call(world.desk.broker.reserve, b"default", Reserving(wait_us=SECOND_US), world.desk.confirm)
    world.looker.declare(b"default")
    waiter.call(world.desk.broker.reserve, b"default", Reserving(wait_us=SECOND_US), world.desk.confirm)
    world.desk.settle()
    connection.flush()
    connection.heard = b""
    publisher.publish(b"default", b"first")
    connection.flush()
    assert connection.heard == b""
    publisher.publish(b"default", b"second")
    connection.flush()
    assert frames(connection.heard) == [(0x81, b'{"cmd":"awk","qname":"default"}')]


# -- who is subscribed


def test_a_queue_with_a_subscriber_on_any_connection_is_there(line: Line) -> None:
    other = Line(line.context)
    other.ask(cmd="SUB", qname="q")
    line.ask(cmd="FET", qname="q")[0].answer(codes.NO_QUEUE)
    other.session.lost()
    line.ask(cmd="FET", qname="q")[0].answer(codes.NO_QUEUE)
    assert line.said() == [{"cmd": "nomsg", "qname": "q"}, nok("Q_NOT_FOUND")]


def test_what_counts_is_how_it_was_when_it_was_asked(line: Line) -> None:
    [asked] = line.ask(cmd="FET", qname="q")
    line.ask(cmd="SUB", qname="q")
    asked.answer(codes.NO_QUEUE)
    assert line.said()[0] == nok("Q_NOT_FOUND")


def test_a_connection_keeps_so_many_names_and_no_more(line: Line) -> None:
    for number in range(SUBSCRIPTIONS_MAX):
        line.ask(cmd="SUB" if number % 2 else "ISLP", qname=str(number))
    assert {one["cmd"] for one in line.said()} == {"oksub", "okslp"}
    line.ask(cmd="SUB", qname="one more")
    line.ask(cmd="ISLP", qname="one more")
    line.ask(cmd="SUB", qname="0")
    assert line.said() == [nok("FULL"), nok("FULL"), {"cmd": "oksub", "qname": "0"}]


def test_all_connections_of_a_listener_share_the_room_for_names(line: Line) -> None:
    other = Line(line.context)
    other.ask(cmd="ISLP", qname="q")
    assert line.context.subscriptions.keep(bytes(SUBSCRIBED_BYTES_MAX - 2 * SUBSCRIPTION_OVERHEAD - 1))
    line.ask(cmd="SUB", qname="r")
    assert line.said() == [nok("FULL")]
    other.session.lost()
    line.ask(cmd="SUB", qname="r")
    assert line.said() == [{"cmd": "oksub", "qname": "r"}]


def test_a_connection_that_ends_leaves_nothing_behind(line: Line) -> None:
    for one in (Line(line.context) for _ in range(10)):
        one.ask(cmd="SUB", qname="q")
        one.ask(cmd="ISLP", qname="r")
        one.session.eof()
        one.session.lost()
    subscriptions = line.context.subscriptions
    assert not subscriptions.has(b"q")
    assert subscriptions.keep(bytes(SUBSCRIBED_BYTES_MAX - SUBSCRIPTION_OVERHEAD))
    assert not subscriptions.keep(b"")
