"""The laws of names: who a client is, who may bear a name again, and what is told to it."""

from __future__ import annotations

from penstock.model import codes, stages
from penstock.model.message import Origin
from penstock.model.options import HOLDER_ONLY, Publishing, Reserving
from tests.broker.client import Client
from tests.broker.desks import Desk
from tests.broker.law import Q, law

NOTIFY = 1 << stages.READY | 1 << stages.FINISH


def met(desk: Desk, number: int = 0, durable: bool = False) -> Client:
    client = Client(desk)
    outcome = client.meet(number, durable)
    assert (outcome.code, outcome.number) == (codes.OK, client.client_id)
    return client


def gone(desk: Desk, client: Client) -> int:
    desk.broker.cancel(client)
    desk.settle()
    return int(client.client_id)


def post(desk: Desk, client: Client, label: int) -> int:
    origin = Origin()
    origin.poster, origin.label, origin.notify = client.client_id, label, NOTIFY
    return client.publish(Q, b"x", options=Publishing(origin=origin)).number


@law
def every_client_is_given_a_name_of_its_own(desk: Desk) -> None:
    clients = [met(desk) for _ in range(5)]
    assert len({client.client_id for client in clients} - {0}) == 5


@law
def a_name_tells_whether_it_is_durable(desk: Desk) -> None:
    assert [met(desk, durable=durable).client_id & 1 for durable in (False, True)] == [0, 1]
    assert met(desk, gone(desk, met(desk, durable=True))).durable


@law
def a_name_that_nobody_bears_can_be_taken_up_again(desk: Desk) -> None:
    first = met(desk)
    assert met(desk, int(first.client_id)).client_id != first.client_id
    number = gone(desk, first)
    assert met(desk, number).client_id == number


@law
def a_name_that_was_never_given_out_is_not_taken_up(desk: Desk) -> None:
    for number in (0, 1, -8, 1 << 52, -(1 << 62)):
        assert met(desk, number).client_id != number


@law
def what_a_client_holds_it_can_finish_when_it_is_back_under_its_name(desk: Desk) -> None:
    first = met(desk)
    seq = first.publish(Q, b"x").number
    first.reserve(Q, Reserving(holder=first.client_id))
    number = gone(desk, first)
    assert met(desk).finish(Q, seq, HOLDER_ONLY, met(desk).client_id).code == codes.NO_MESSAGE
    assert met(desk, number).finish(Q, seq, HOLDER_ONLY, number).code == codes.OK


@law
def notices_are_told_to_whoever_bears_the_name(desk: Desk) -> None:
    poster, worker = met(desk), Client(desk)
    post(desk, poster, 7)
    assert poster.notices == [(stages.READY, 7)]
    again = met(desk, gone(desk, poster))
    worker.take(Q)
    assert (poster.notices, again.notices) == ([(stages.READY, 7)], [(stages.FINISH, 7)])


@law
def a_client_that_is_gone_is_told_no_more_unless_it_is_durable(desk: Desk) -> None:
    plain, durable, worker = met(desk), met(desk, durable=True), Client(desk)
    for client in (plain, durable):
        post(desk, client, 7)
        gone(desk, client)
    worker.take(Q)
    worker.take(Q)
    assert plain.notices == [(stages.READY, 7)]
    assert durable.notices == [(stages.READY, 7), (stages.FINISH, 7)]
    heir = met(desk, int(durable.client_id))
    assert heir.inherited == [durable]


@law
def a_finish_tells_an_unknown_queue_from_an_unknown_message(desk: Desk) -> None:
    client = met(desk)
    seq = client.publish(Q, b"x").number
    for queue, number in ((Q, seq + 1), (b"none", 0)):
        outcome = client.finish(queue, seq + 1, HOLDER_ONLY, client.client_id)
        assert (outcome.code, outcome.number) == (codes.NO_MESSAGE, number)
