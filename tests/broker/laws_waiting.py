"""The laws of taking for good, and of waiting for what is not there yet."""

from __future__ import annotations

from penstock.model import codes
from penstock.model.limits import SECOND_US
from penstock.model.options import Publishing, Taking
from tests.broker.client import Client
from tests.broker.desks import Desk
from tests.broker.law import Q, counts, law, wait_for


@law
def taking_is_finishing(desk: Desk) -> None:
    client = Client(desk)
    seq = client.publish(Q, b"a").number
    assert client.take(Q).bodies() == [b"a"]
    assert client.finish(Q, seq).code == codes.NO_MESSAGE
    assert (counts(client, desk).finished, counts(client, desk).delivered) == (1, 1)


@law
def a_taker_may_want_the_newest_of_the_best_priority(desk: Desk) -> None:
    client = Client(desk)
    for body, priority in ((b"low", 0), (b"old", 1), (b"new", 1)):
        client.publish(Q, body, options=Publishing(priority=priority))
    assert client.take(Q, Taking(newest=True)).bodies() == [b"new"]
    assert client.take(Q).bodies() == [b"old"]


@law
def key_mates_come_along_and_the_parked_never_alone(desk: Desk) -> None:
    client = Client(desk)
    client.publish(Q, b"parked", options=Publishing(key=b"k", parked=True))
    assert client.take(Q).code == codes.EMPTY
    client.publish(Q, b"mate", options=Publishing(key=b"k"))
    client.publish(Q, b"stranger", options=Publishing(key=b"other"))
    client.publish(Q, b"chosen", options=Publishing(key=b"k"))
    taken = client.take(Q, Taking(newest=True, mates=True))
    assert taken.bodies() == [b"chosen", b"mate", b"parked"]
    assert client.take(Q, Taking(mates=True)).bodies() == [b"stranger"]


@law
def a_waiter_is_served_by_the_next_publish(desk: Desk) -> None:
    client, other = Client(desk), Client(desk)
    client.publish(Q, b"first")
    client.take(Q)
    token = wait_for(client, desk)
    desk.settle()
    assert token not in client.outcomes
    other.publish(Q, b"second")
    assert client.outcomes[token].bodies() == [b"second"]


@law
def waiters_are_served_in_the_order_they_came(desk: Desk) -> None:
    first, second, poster = Client(desk), Client(desk), Client(desk)
    poster.declare(Q)
    tokens = [(first, wait_for(first, desk)), (second, wait_for(second, desk))]
    poster.publish(Q, b"1")
    poster.publish(Q, b"2")
    assert [client.outcomes[token].bodies() for client, token in tokens] == [[b"1"], [b"2"]]


@law
def a_wait_ends_on_time_with_nothing(desk: Desk) -> None:
    client = Client(desk)
    client.declare(Q)
    token = wait_for(client, desk)
    desk.pass_time(10 * SECOND_US - 1)
    assert token not in client.outcomes
    desk.pass_time(1)
    assert client.outcomes[token].code == codes.EMPTY


@law
def a_waiter_who_is_gone_gets_nothing(desk: Desk) -> None:
    gone, client = Client(desk), Client(desk)
    client.declare(Q)
    token = wait_for(gone, desk)
    desk.broker.cancel(gone)
    client.publish(Q, b"a")
    assert token not in gone.outcomes
    assert client.reserve(Q).bodies() == [b"a"]


@law
def leases_outlive_whoever_is_gone(desk: Desk) -> None:
    gone, client = Client(desk), Client(desk)
    seq = client.publish(Q, b"a").number
    gone.reserve(Q)
    desk.broker.cancel(gone)
    assert client.reserve(Q).code == codes.EMPTY
    assert client.finish(Q, seq).code == codes.OK


@law
def a_credit_is_one_push_whether_it_comes_before_or_after_the_message(desk: Desk) -> None:
    client, poster = Client(desk), Client(desk)
    assert desk.broker.subscribe(client, Q)
    poster.publish(Q, b"1")
    assert client.pushes == []
    assert desk.broker.credit(client, desk.confirm)
    assert desk.broker.credit(client, desk.confirm)
    desk.settle()
    poster.publish(Q, b"2")
    poster.publish(Q, b"3")
    assert client.pushes == [(Q, [b"1"]), (Q, [b"2"])]
    desk.broker.unsubscribe(client, Q)
    desk.broker.credit(client, desk.confirm)
    desk.settle()
    assert len(client.pushes) == 2


@law
def whoever_listens_hears_of_every_publish_with_what_the_queue_holds_then(desk: Desk) -> None:
    client, other, poster = Client(desk), Client(desk), Client(desk)
    for one in (client, client, other):
        assert desk.broker.listen(one, Q)
    poster.publish(Q, b"1")
    poster.publish(Q, b"2", delay_us=SECOND_US)
    poster.publish(b"another", b"3")
    poster.take(Q)
    desk.broker.unlisten(other, Q)
    poster.publish(Q, b"4")
    assert client.announced == [(Q, 1), (Q, 2), (Q, 2)]
    assert other.announced == [(Q, 1), (Q, 2)]
    desk.broker.cancel(client)
    poster.publish(Q, b"5")
    assert len(client.announced) == 3


@law
def a_sleep_is_one_wake_up(desk: Desk) -> None:
    client, poster = Client(desk), Client(desk)
    desk.broker.wait(client, 5, Q)
    desk.broker.wait(client, 6, Q)
    desk.settle()
    assert client.wakes == []
    poster.publish(Q, b"1")
    poster.publish(Q, b"2")
    assert client.wakes == [5]
    desk.broker.wait(client, 7, Q)
    desk.settle()
    assert client.wakes == [5, 7]
