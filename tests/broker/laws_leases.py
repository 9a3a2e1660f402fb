"""The laws of leases: how long they last, who may end them, what failures lead to."""

from __future__ import annotations

from penstock.model import codes
from penstock.model.limits import MILLISECOND_US, SECOND_US
from penstock.model.options import HOLDER_ONLY, LEASED_ONLY, Publishing, Reserving
from penstock.model.policy import Policy
from tests.broker.client import Client
from tests.broker.desks import Desk
from tests.broker.law import Q, bodies_reserved, counts, law


@law
def a_lease_ends_on_time_and_the_message_comes_back_at_the_tail(desk: Desk) -> None:
    client = Client(desk)
    client.publish(Q, b"a")
    client.reserve(Q, Reserving(lease_us=SECOND_US))
    client.publish(Q, b"b")
    desk.pass_time(SECOND_US - 1)
    assert counts(client, desk).leased == 1
    desk.pass_time(1)
    assert bodies_reserved(client) == [b"b", b"a"]


@law
def a_lease_may_ask_for_the_old_place(desk: Desk) -> None:
    client = Client(desk)
    client.publish(Q, b"a")
    client.reserve(Q, Reserving(lease_us=SECOND_US, old_place=True))
    client.publish(Q, b"b")
    desk.pass_time(SECOND_US)
    assert bodies_reserved(client) == [b"a", b"b"]


@law
def the_call_wins_over_the_message_and_the_message_over_the_queue(desk: Desk) -> None:
    client = Client(desk)
    client.declare(Q, Policy(lease_us=9 * SECOND_US))
    client.publish(Q, b"queue")
    client.publish(Q, b"message", options=Publishing(lease_us=5 * SECOND_US))
    client.publish(Q, b"call", options=Publishing(lease_us=5 * SECOND_US))
    untils = [client.reserve(Q).message, client.reserve(Q).message, client.reserve(Q, Reserving(lease_us=2)).message]
    assert [one.until_us - desk.now_us for one in untils if one is not None] == [9 * SECOND_US, 5 * SECOND_US, 2]


@law
def a_finished_message_is_gone_and_finishing_again_is_stale(desk: Desk) -> None:
    client = Client(desk)
    seq = client.publish(Q, b"a").number
    client.reserve(Q, Reserving(lease_us=SECOND_US))
    assert client.finish(Q, seq).code == codes.OK
    assert client.finish(Q, seq).code == codes.NO_MESSAGE
    desk.pass_time(2 * SECOND_US)
    assert client.reserve(Q).code == codes.EMPTY
    assert counts(client, desk).finished == 1


@law
def a_message_of_another_queue_is_unknown(desk: Desk) -> None:
    client = Client(desk)
    seq = client.publish(Q, b"a").number
    client.publish(b"other", b"b")
    client.reserve(Q)
    refused = [client.finish(b"other", seq), client.release(b"other", seq), client.delete(b"other", seq)]
    assert [outcome.code for outcome in refused] == [codes.NO_MESSAGE] * 3
    assert client.finish(Q, seq).code == codes.OK


@law
def a_rule_says_what_may_be_finished(desk: Desk) -> None:
    client = Client(desk)
    seq = client.publish(Q, b"a").number
    assert client.finish(Q, seq, LEASED_ONLY).code == codes.NO_MESSAGE
    client.reserve(Q, Reserving(holder=7))
    assert client.finish(Q, seq, HOLDER_ONLY, 8).code == codes.NO_MESSAGE
    assert client.release(Q, seq, rule=HOLDER_ONLY, holder=8).code == codes.NO_MESSAGE
    assert client.finish(Q, seq, HOLDER_ONLY, 7).code == codes.OK


@law
def a_release_brings_a_message_back_after_its_delay_without_a_failure(desk: Desk) -> None:
    client = Client(desk)
    client.declare(Q, Policy(attempts=1))
    seq = client.publish(Q, b"a").number
    assert client.release(Q, seq).code == codes.NO_MESSAGE
    client.reserve(Q)
    assert client.release(Q, seq, 200 * MILLISECOND_US).code == codes.OK
    assert client.reserve(Q).code == codes.EMPTY
    desk.pass_time(200 * MILLISECOND_US)
    assert client.reserve(Q).number == 2
    assert counts(client, desk).failed == 0


@law
def failures_reach_the_limit_and_the_message_is_dropped(desk: Desk) -> None:
    client = Client(desk)
    client.declare(Q, Policy(attempts=2, lease_us=SECOND_US, backoff_us=(3 * SECOND_US,)))
    seq = client.publish(Q, b"a").number
    client.reserve(Q)
    client.release(Q, seq, -1, failed=True)
    desk.pass_time(3 * SECOND_US - 1)
    assert client.reserve(Q).code == codes.EMPTY
    desk.pass_time(1)
    assert client.reserve(Q).bodies() == [b"a"]
    desk.pass_time(SECOND_US)
    assert client.reserve(Q).code == codes.EMPTY
    assert (counts(client, desk).dropped, counts(client, desk).failed) == (1, 2)


@law
def a_dropped_message_leaves_its_dead_letter(desk: Desk) -> None:
    client = Client(desk)
    client.declare(Q, Policy(attempts=1, dead_letter=b"dead"))
    seq = client.publish(Q, b"a", options=Publishing(ttl_us=SECOND_US)).number
    client.reserve(Q)
    client.release(Q, seq, failed=True)
    desk.pass_time(2 * SECOND_US)
    letter = client.reserve(b"dead").message
    assert letter is not None
    assert letter.body == b"a"
    assert letter.origin is not None
    assert (letter.origin.dead_of, letter.origin.dead_from) == (seq, Q)


@law
def a_lease_can_be_extended_and_time_never_shortens_it(desk: Desk) -> None:
    client = Client(desk)
    seq = client.publish(Q, b"a").number
    client.reserve(Q, Reserving(lease_us=SECOND_US))
    assert client.extend(Q, seq, 5 * SECOND_US).code == codes.OK
    desk.pass_time(5 * SECOND_US - 1)
    assert counts(client, desk).leased == 1
    desk.pass_time(1)
    assert client.reserve(Q).bodies() == [b"a"]


@law
def extending_a_waiting_message_moves_its_due_time(desk: Desk) -> None:
    client = Client(desk)
    seq = client.publish(Q, b"a").number
    assert client.extend(Q, seq, SECOND_US, LEASED_ONLY).code == codes.NO_MESSAGE
    assert client.extend(Q, seq, SECOND_US).code == codes.OK
    assert client.reserve(Q).code == codes.EMPTY
    desk.pass_time(SECOND_US)
    assert client.reserve(Q).bodies() == [b"a"]


@law
def a_deleted_message_is_gone_wherever_it_was(desk: Desk) -> None:
    client = Client(desk)
    ready = client.publish(Q, b"a").number
    delayed = client.publish(Q, b"b", delay_us=SECOND_US).number
    assert [client.delete(Q, seq).code for seq in (ready, delayed)] == [codes.OK, codes.OK]
    assert client.delete(Q, ready).code == codes.NO_MESSAGE
    assert counts(client, desk).deleted == 2
