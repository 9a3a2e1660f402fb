"""The laws of batches that name messages by foreign ids, speak of whole queues, or only look."""

from __future__ import annotations

from penstock.model import codes
from penstock.model.contract import (
    CLEAR,
    COUNT,
    DECLARE,
    FIND,
    FINISH,
    GLANCE,
    LIST,
    MOVE,
    NAMES,
    PUBLISH,
    REMOVE,
    SET,
    UNCHANGED,
    Call,
)
from penstock.model.limits import NEVER_US, SECOND_US
from penstock.model.message import Message, Origin
from penstock.model.options import Publishing, Reserving
from penstock.model.policy import Policy
from penstock.model.views import Glance, MessageView
from tests.broker.client import Client, Outcome
from tests.broker.desks import Desk
from tests.broker.law import Q, counts, law

OK = int(codes.OK)
ID = b"theirs"


def named(verb: int, foreign_id: bytes = ID, due_us: int = -1) -> Call:
    call = Call(verb, Q)
    call.foreign_id, call.due_us = foreign_id, due_us
    return call


def sending(desk: Desk, body: bytes = b"body", foreign_id: bytes = ID, in_us: int = 0) -> Call:
    call = named(PUBLISH, foreign_id, desk.now_us + in_us)
    origin = Origin()
    origin.foreign_id = foreign_id
    call.body, call.options = body, Publishing(create=False, origin=origin)
    return call


def told(verb: int, policy: Policy | None = None) -> Call:
    call = Call(verb, Q)
    call.policy = policy
    return call


def batch(desk: Desk, client: Client, *calls: Call) -> Outcome:
    return client.ask(desk.broker.batch, list(calls), desk.confirm)


def glance(desk: Desk, client: Client) -> Glance:
    call = Call(GLANCE, Q)
    batch(desk, client, call)
    assert isinstance(call.seen, Glance)
    return call.seen


def listed(desk: Desk, client: Client, from_us: int = 0, until_us: int = NEVER_US, limit: int = 10) -> list[bytes]:
    call = Call(LIST, Q)
    call.due_us, call.until_us, call.limit = from_us, until_us, limit
    batch(desk, client, call)
    assert isinstance(call.seen, list)
    return [view.body for view in call.seen]


@law
def a_message_is_known_by_its_foreign_id_from_the_publish_to_its_end(desk: Desk) -> None:
    client = Client(desk)
    client.declare(Q)
    sent = batch(desk, client, sending(desk)).value
    assert isinstance(sent, list)
    assert sent[0][0] == OK
    finding = named(FIND)
    batch(desk, client, finding)
    assert isinstance(finding.seen, MessageView)
    assert (finding.seen.seq, finding.seen.body) == (sent[0][1], b"body")
    finishing = named(FINISH)
    assert batch(desk, client, finishing).value == [(OK, 0)]
    assert isinstance(finishing.seen, Message)
    assert batch(desk, client, named(FINISH)).value == [(codes.NO_MESSAGE, 0)]


@law
def a_publish_under_the_id_of_a_live_message_moves_it_or_refuses_the_batch(desk: Desk) -> None:
    client = Client(desk)
    client.declare(Q)
    batch(desk, client, sending(desk))
    again = batch(desk, client, sending(desk, in_us=int(SECOND_US)))
    assert isinstance(again.value, list)
    assert again.value[0][0] == codes.DUPLICATE
    assert counts(client, desk).delayed == 1
    refused = batch(desk, client, sending(desk, b"first", b"other"), sending(desk, b"another body"))
    assert (refused.code, refused.value) == (codes.DUPLICATE, [])
    assert counts(client, desk).published == 1


@law
def a_due_time_in_the_past_is_a_place_in_the_order(desk: Desk) -> None:
    client = Client(desk)
    client.declare(Q)
    for body, in_us in ((b"now", 0), (b"long ago", -int(SECOND_US)), (b"before", -1)):
        batch(desk, client, sending(desk, body, body, in_us))
    assert listed(desk, client) == [b"long ago", b"before", b"now"]
    assert client.reserve(Q).bodies() == [b"long ago"]


@law
def a_lease_that_is_moved_into_the_past_is_given_back_without_a_failure(desk: Desk) -> None:
    client = Client(desk)
    client.declare(Q)
    batch(desk, client, sending(desk))
    client.reserve(Q, Reserving(lease_us=SECOND_US))
    assert batch(desk, client, named(MOVE, due_us=desk.now_us + 2 * int(SECOND_US))).value == [(OK, 0)]
    desk.pass_time(int(SECOND_US))
    assert counts(client, desk).leased == 1
    assert batch(desk, client, named(MOVE, due_us=desk.now_us)).value == [(OK, 0)]
    assert (counts(client, desk).ready, counts(client, desk).failed) == (1, 0)


@law
def queues_are_declared_set_cleared_and_removed_in_batches(desk: Desk) -> None:
    client = Client(desk)
    policy = Policy(lease_us=5 * int(SECOND_US))
    assert batch(desk, client, told(SET, policy), told(CLEAR), told(REMOVE)).value == [(codes.NO_QUEUE, 0)] * 3
    done = batch(desk, client, told(DECLARE, policy), told(DECLARE), told(SET, Policy(delay_us=7)))
    assert done.value == [(OK, 0), (codes.QUEUE_EXISTS, 0), (OK, 0)]
    seen = glance(desk, client)
    assert (seen.there, seen.lease_us, seen.delay_us, seen.length) == (True, 5 * SECOND_US, 7, 0)
    client.publish(Q, b"a", 0)
    client.reserve(Q)
    client.publish(Q, b"b", 0)
    assert batch(desk, client, told(CLEAR), told(REMOVE), told(CLEAR)).value == [(OK, 2), (OK, 0), (codes.NO_QUEUE, 0)]
    assert not glance(desk, client).there


@law
def a_bad_policy_refuses_the_batch(desk: Desk) -> None:
    client = Client(desk)
    assert batch(desk, client, told(DECLARE), told(SET, Policy(delay_us=-1))).code == codes.BAD_POLICY
    assert not glance(desk, client).there


@law
def looking_sees_what_the_calls_before_it_have_done(desk: Desk) -> None:
    client = Client(desk)
    client.declare(Q)
    before, after, names = Call(GLANCE, Q), Call(GLANCE, Q), Call(NAMES, b"")
    batch(desk, client, before, sending(desk), after, names)
    assert isinstance(before.seen, Glance)
    assert isinstance(after.seen, Glance)
    assert [(seen.published, seen.length) for seen in (before.seen, after.seen)] == [(0, 0), (1, 1)]
    assert after.seen.now_us == desk.now_us
    assert names.seen == [(Q, 1)]


@law
def messages_are_counted_and_listed_by_when_they_can_be_seen(desk: Desk) -> None:
    client = Client(desk)
    second = int(SECOND_US)
    client.publish(Q, b"leased", 0)
    client.reserve(Q, Reserving(lease_us=3 * second))
    client.publish(Q, b"low", 0)
    client.publish(Q, b"high", 0, Publishing(priority=9))
    client.publish(Q, b"later", 2 * second)
    client.publish(Q, b"parked", 0, Publishing(key=b"k", parked=True))
    client.publish(b"other", b"elsewhere")
    now = desk.now_us
    assert listed(desk, client) == [b"low", b"high", b"later", b"leased", b"parked"]
    assert listed(desk, client, now + 1, now + 3 * second) == [b"later", b"leased"]
    assert listed(desk, client, limit=2) == [b"low", b"high"]
    for from_us, until_us, number in ((0, NEVER_US, 5), (now, NEVER_US, 5), (now + 1, NEVER_US, 3), (0, now, 2)):
        call = Call(COUNT, Q)
        call.due_us, call.until_us = from_us, until_us
        assert batch(desk, client, call).value == [(OK, number)]


@law
def what_was_ready_before_a_time_is_not_counted_from_it_on(desk: Desk) -> None:
    client = Client(desk)
    for number in range(600):
        client.publish(Q, b"%d" % number, 0)
        desk.pass_time(1)
    for back in (1, 2, 255, 256, 257, 600, 601):
        call = Call(COUNT, Q)
        call.due_us, call.until_us = desk.now_us - back, int(NEVER_US)
        assert batch(desk, client, call).value == [(OK, min(back, 600))]


@law
def a_batch_may_depend_on_a_queue_that_nobody_has_changed(desk: Desk) -> None:
    client = Client(desk)

    def unchanged(seen: Glance) -> Call:
        call = Call(UNCHANGED, Q)
        call.seq = int(seen.changes)
        return call

    nothing = glance(desk, client)
    client.declare(Q)
    assert batch(desk, client, told(SET, Policy()), unchanged(nothing)).code == codes.CHANGED
    client.publish(Q, b"a", 0)
    leased = client.reserve(Q, Reserving(lease_us=SECOND_US)).message
    assert leased is not None
    seen = glance(desk, client)
    assert batch(desk, client, unchanged(seen)).code == OK
    changes = (
        lambda: client.publish(Q, b"b", 0),
        lambda: client.extend(Q, int(leased.order), 2 * int(SECOND_US)),
        lambda: client.take(Q),
        lambda: client.set_policy(Q, Policy(delay_us=1)),
        lambda: client.release(Q, int(leased.order)),
        lambda: (client.on_queue(desk.broker.remove, Q), client.declare(Q)),
    )
    for change in changes:
        seen = glance(desk, client)
        change()
        assert batch(desk, client, unchanged(seen)).code == codes.CHANGED
