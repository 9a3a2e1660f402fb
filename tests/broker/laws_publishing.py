"""The laws of publishing, of order among what is ready, and of what is refused."""

from __future__ import annotations

from penstock.model import codes
from penstock.model.limits import BODY_MAX, DAY_US, MILLISECOND_US, SECOND_US
from penstock.model.message import Origin
from penstock.model.options import Publishing, Reserving
from penstock.model.policy import Policy
from tests.broker.client import Client, Outcome
from tests.broker.desks import Desk
from tests.broker.law import Q, bodies_reserved, counts, law


@law
def what_is_published_is_handed_out_once(desk: Desk) -> None:
    client = Client(desk)
    published = client.publish(Q, b"hello")
    reserved = client.reserve(Q)
    assert (published.code, reserved.code, reserved.bodies()) == (codes.OK, codes.OK, [b"hello"])
    assert reserved.message is not None
    assert reserved.message.order == published.number
    assert reserved.number == 1
    assert client.reserve(Q).code == codes.EMPTY


@law
def a_queue_that_nobody_published_to_is_not_there(desk: Desk) -> None:
    client = Client(desk)
    assert client.reserve(Q).code == codes.NO_QUEUE
    assert client.take(Q).code == codes.NO_QUEUE
    assert client.publish(Q, b"", options=Publishing(create=False)).code == codes.NO_QUEUE
    assert client.ask(desk.broker.show_queue, Q).code == codes.NO_QUEUE
    assert client.ask(desk.broker.peek, Q, 1).code == codes.NO_QUEUE
    assert client.ask(desk.broker.list_queues).value == []


@law
def the_first_published_is_the_first_handed_out(desk: Desk) -> None:
    client = Client(desk)
    for body in (b"1", b"2", b"3"):
        client.publish(Q, body)
    assert bodies_reserved(client) == [b"1", b"2", b"3"]


@law
def a_higher_priority_goes_first(desk: Desk) -> None:
    client = Client(desk)
    for priority in (0, 5, -3, 5):
        client.publish(Q, b"%d" % priority, options=Publishing(priority=priority))
    assert bodies_reserved(client) == [b"5", b"5", b"0", b"-3"]


@law
def a_delayed_message_is_ready_on_time_and_not_before(desk: Desk) -> None:
    client = Client(desk)
    client.publish(Q, b"later", delay_us=500 * MILLISECOND_US)
    desk.pass_time(500 * MILLISECOND_US - 1)
    assert client.reserve(Q).code == codes.EMPTY
    desk.pass_time(1)
    assert client.reserve(Q).bodies() == [b"later"]


@law
def what_became_ready_first_goes_first(desk: Desk) -> None:
    client = Client(desk)
    client.publish(Q, b"third", delay_us=3 * SECOND_US)
    client.publish(Q, b"first", delay_us=1 * SECOND_US)
    client.publish(Q, b"second", delay_us=2 * SECOND_US)
    desk.pass_time(5 * SECOND_US)
    assert bodies_reserved(client) == [b"first", b"second", b"third"]


@law
def a_message_expires_on_time_and_not_before(desk: Desk) -> None:
    client = Client(desk)
    client.publish(Q, b"one", options=Publishing(ttl_us=SECOND_US))
    client.publish(Q, b"two", options=Publishing(ttl_us=SECOND_US))
    desk.pass_time(SECOND_US - 1)
    assert client.take(Q).bodies() == [b"one"]
    desk.pass_time(1)
    assert client.take(Q).code == codes.EMPTY
    assert counts(client, desk).expired == 1


@law
def a_dedup_id_is_the_same_publish_within_its_window(desk: Desk) -> None:
    client = Client(desk)
    client.declare(Q, Policy(dedup_us=SECOND_US))
    origin = Origin()
    origin.dedup_id = b"once"
    first = client.publish(Q, b"a", options=Publishing(origin=origin))
    again = client.publish(Q, b"a", options=Publishing(origin=origin))
    assert (again.code, again.number) == (codes.DUPLICATE, first.number)
    desk.pass_time(SECOND_US)
    assert client.publish(Q, b"a", options=Publishing(origin=origin)).code == codes.OK


@law
def a_row_of_a_mark_is_published_once_for_ever(desk: Desk) -> None:
    client = Client(desk)
    client.declare(Q, Policy())
    outcomes = [client.publish(Q, b"row", options=Publishing(origin=row_of(b"list", row))) for row in (3, 5, 3, 5, 6)]
    assert [outcome.code for outcome in outcomes] == [codes.OK, codes.OK, codes.ALREADY, codes.ALREADY, codes.OK]
    assert [outcome.number for outcome in outcomes[2:4]] == [5, 5]
    desk.pass_time(DAY_US)
    assert client.publish(b"other", b"row", options=Publishing(origin=row_of(b"list", 6))).code == codes.ALREADY
    assert counts(client, desk).published == 3


def row_of(mark: bytes, row: int) -> Origin:
    origin = Origin()
    origin.mark, origin.row = mark, row
    return origin


@law
def a_body_that_is_too_large_is_refused(desk: Desk) -> None:
    client = Client(desk)
    assert client.publish(Q, bytes(BODY_MAX + 1)).code == codes.TOO_LARGE
    assert client.reserve(Q).code == codes.NO_QUEUE
    client.declare(Q, Policy(max_body=3))
    assert client.publish(Q, b"four").code == codes.TOO_LARGE
    assert client.publish(Q, b"3 b").code == codes.OK


@law
def a_full_queue_refuses_until_there_is_room(desk: Desk) -> None:
    client = Client(desk)
    client.declare(Q, Policy(max_length=1))
    first = client.publish(Q, b"a")
    assert client.publish(Q, b"b").code == codes.FULL
    client.finish(Q, first.number)
    assert client.publish(Q, b"b").code == codes.OK


@law
def bytes_count_against_a_limit_too(desk: Desk) -> None:
    client = Client(desk)
    client.declare(Q, Policy(max_bytes=10))
    assert client.publish(Q, bytes(8)).code == codes.OK
    assert client.publish(Q, bytes(3)).code == codes.FULL
    assert client.publish(Q, bytes(2)).code == codes.OK


@law
def several_are_reserved_with_one_call(desk: Desk) -> None:
    client = Client(desk)
    for body in (b"1", b"2", b"3"):
        client.publish(Q, body)
    assert client.reserve(Q, Reserving(max=2)).bodies() == [b"1", b"2"]
    assert client.reserve(Q, Reserving(max=2)).bodies() == [b"3"]
    assert client.reserve(Q, Reserving(max=2)) == Outcome(int(codes.EMPTY), value=[])
