"""What a session of `rsmq` asks of its broker and says for itself, where no transcript can tell."""

from __future__ import annotations

import pytest

from penstock.dialects.rsmq import RsmqSession
from penstock.model import codes
from penstock.model.contract import FINISH, GLANCE, PUBLISH
from penstock.model.limits import BODY_MAX, COMMAND_WORDS_MAX, LISTED_MAX, SECOND_US
from penstock.model.message import Message
from penstock.model.stages import READY, SYNC
from penstock.model.views import Glance
from tests.broker.desks import START_US, EagerDesk
from tests.dialects.doors import HASH, ZSET, RsmqDoor, World
from tests.dialects.redis_model import RECEIVE, Error, answers, command, multi
from tests.dialects.scripted import Asked, CountingWire, PlainContext, Scripted

OPTIONS: dict[str, object] = {"namespace": "rsmq", "password": ""}


class Talk:
    """A session with a broker that answers as it is told."""

    def __init__(self) -> None:
        self.broker = Scripted()
        self.session = RsmqSession(PlainContext(self.broker, OPTIONS))
        self.session.wire = CountingWire()

    def say(self, data: bytes) -> list[Asked]:
        before = len(self.broker.asked)
        self.session.received(data)
        return self.broker.asked[before:]

    def heard(self) -> bytes:
        return self.session.output()


def test_a_send_is_one_batch_of_a_publish_and_a_glance_that_waits_for_the_confirmation() -> None:
    talk = Talk()
    send = multi(
        command(b"ZADD", b"rsmq:q", 5, b"m"), command(b"HSET", b"rsmq:q:Q", b"m", b"x"),
        command(b"HINCRBY", b"rsmq:q:Q", b"totalsent", 1), command(b"ZCARD", b"rsmq:q"),
    )  # fmt: skip
    [asked] = talk.say(send)
    assert (asked.verb, asked.stage) == ("batch", SYNC)
    assert [call[:2] for call in asked.arguments] == [(PUBLISH, b"q"), (GLANCE, b"q")]  # type: ignore[index]


def test_a_lookup_is_one_glance_and_waits_for_nothing() -> None:
    talk = Talk()
    [asked] = talk.say(multi(command(b"HMGET", b"rsmq:q:Q", b"vt", b"delay", b"maxsize"), command(b"TIME")))
    assert asked.stage == READY
    assert [call[:2] for call in asked.arguments] == [(GLANCE, b"q")]  # type: ignore[index]


def test_a_delete_is_one_finish() -> None:
    talk = Talk()
    [asked] = talk.say(multi(command(b"ZREM", b"rsmq:q", b"m"), command(b"HDEL", b"rsmq:q:Q", b"m", b"m:rc", b"m:fr")))
    assert [call[:2] for call in asked.arguments] == [(FINISH, b"q")]  # type: ignore[index]


def test_receive_and_pop_are_the_verbs_themselves() -> None:
    talk = Talk()
    [received] = talk.say(command(b"EVALSHA", RECEIVE, 3, b"rsmq:q", 1_000, 4_000))
    assert (received.verb, received.arguments, received.stage) == ("reserve", (b"q", 3 * SECOND_US, 0), SYNC)
    message = Message(7, 1, b"body", START_US, START_US)
    message.first_leased_us = START_US
    talk.session.owed += len(message.body)
    received.answer(codes.OK, message, 2)
    [[_, body, deliveries, first]] = answers(talk.heard())
    assert (body, deliveries, first) == (b"body", 2, b"%d" % (START_US // 1_000))
    assert talk.session.owed == 0


@pytest.mark.parametrize("asked", [command(b"EVALSHA", RECEIVE, 3, b"rsmq:q", 0, 1), command(b"TIME")])
def test_who_is_not_permitted_is_told_so(asked: bytes) -> None:
    talk = Talk()
    [call] = talk.say(asked)
    if call.verb == "batch":
        talk.session.answered_with(call.token, codes.DENIED, [])
    else:
        call.answer(codes.DENIED)
    assert talk.heard().startswith(b"-NOPERM ")


def test_answers_come_in_the_order_of_the_commands_however_the_broker_gives_them() -> None:
    talk = Talk()
    talk.say(command(b"EVALSHA", RECEIVE, 3, b"rsmq:q", 0, 1) + command(b"PING"))
    first = talk.broker.asked[0]
    assert talk.heard() == b""
    first.answer(codes.EMPTY)
    assert talk.heard() == b"*0\r\n+PONG\r\n"


def test_nothing_is_read_behind_a_watch_before_it_is_known_what_it_watches() -> None:
    talk = Talk()
    assert len(talk.say(command(b"WATCH", b"rsmq:q") + command(b"TIME"))) == 1
    assert talk.session.held
    talk.session.answered_with(talk.broker.asked[0].token, codes.OK, [(0, 0)])
    assert not talk.session.enough()
    talk.session.resume()
    assert len(talk.broker.asked) == 2


def test_a_multi_is_bounded_as_one_command_is() -> None:
    talk = Talk()
    talk.say(command(b"MULTI") + command(b"ZREM", b"rsmq:q", *[b"%d" % number for number in range(9_000)]))
    talk.say(command(b"ZREM", b"rsmq:q", *[b"x%d" % number for number in range(COMMAND_WORDS_MAX - 9_000)]))
    talk.say(command(b"EXEC"))
    assert answers(talk.heard())[1:] == ["QUEUED", Error("ERR the MULTI is too large"), answers(ABORTED)[0]]
    assert talk.broker.asked == []


ABORTED = b"-EXECABORT Transaction discarded because of previous errors.\r\n"


def test_info_tells_what_node_redis_wants_to_know() -> None:
    talk = Talk()
    talk.say(command(b"info"))
    [told] = answers(talk.heard())
    assert b"redis_version:7.2.0\r\n" in told
    assert b"loading:0\r\n" in told
    assert b"connected_clients:3\r\n" in told


def test_a_queue_too_long_to_list_is_not_listed() -> None:
    talk = Talk()
    [asked] = talk.say(command(b"HGETALL", b"rsmq:q:Q"))
    seen = Glance(START_US)
    seen.there, seen.length = True, LISTED_MAX + 1
    calls = talk.broker.calls[-1]
    calls[0].seen, calls[1].seen = seen, []
    talk.session.answered_with(asked.token, codes.OK, [(0, 0), (0, 0)])
    assert talk.heard() == b"-ERR the queue holds more than one answer can list\r\n"


def test_channels_are_left_with_the_connection() -> None:
    world = World(EagerDesk)
    door = RsmqDoor(world)
    door.ask(command(b"SUBSCRIBE", b"rsmq:rt:default"))
    context = door._connection.session.context  # type: ignore[attr-defined]
    assert context.subscriptions.count(b"default") == 1
    door._connection.lose()
    assert context.subscriptions.count(b"default") == 0
    RsmqDoor(world).publish(b"x")


def test_a_multi_is_in_the_journal_whole_or_not_at_all() -> None:
    world = World(EagerDesk)
    door = RsmqDoor(world)
    door.publish(b"before")
    door.ask(
        command(b"MULTI") + command(b"ZADD", ZSET, 0, b"a") + command(b"HSET", HASH, b"a", b"x")
        + command(b"ZADD", ZSET, 0, b"b") + command(b"HSET", HASH, b"b", bytes(BODY_MAX + 1)) + command(b"EXEC")
    )  # fmt: skip
    assert world.counts()["published"] == 1
