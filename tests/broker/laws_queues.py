"""The laws of whole queues, of looking, of batches and of answers."""

from __future__ import annotations

from penstock.model import codes, message, stages
from penstock.model.contract import DELETE, FINISH, PUBLISH, RELEASE, Call
from penstock.model.limits import SECOND_US
from penstock.model.options import WAITING_ONLY, Publishing, Reserving
from penstock.model.policy import Policy
from penstock.model.views import SAID, MessageView, QueueView, Rank, StatsView
from tests.broker.client import Client
from tests.broker.desks import Desk
from tests.broker.law import Q, bodies_reserved, counts, law, wait_for


def batched(verb: int, seq: int = 0, body: bytes = b"") -> Call:
    call = Call(verb, Q)
    call.seq = seq
    call.body = body
    return call


@law
def a_queue_is_declared_once_and_checked(desk: Desk) -> None:
    client = Client(desk)
    assert client.declare(Q, Policy(attempts=-1)).code == codes.BAD_POLICY
    assert client.declare(Q, Policy(attempts=3)).code == codes.OK
    assert client.declare(Q).code == codes.QUEUE_EXISTS
    assert client.declare(bytes(65_536)).code == codes.BAD_NAME


@law
def setting_a_policy_overrides_only_what_is_said(desk: Desk) -> None:
    client = Client(desk)
    assert client.set_policy(Q, Policy(attempts=5)).code == codes.NO_QUEUE
    client.declare(Q, Policy(attempts=3, lease_us=7))
    assert client.set_policy(Q, Policy(attempts=5)).code == codes.OK
    assert client.set_policy(Q, Policy(dead_letter=Q)).code == codes.BAD_POLICY
    view = client.ask(desk.broker.show_queue, Q).value
    assert isinstance(view, QueueView)
    assert (view.effective.attempts, view.effective.lease_us) == (5, 7)


@law
def what_is_said_of_a_queue_can_be_unsaid(desk: Desk) -> None:
    client = Client(desk)
    client.declare(Q, Policy(attempts=3, lease_us=7))
    assert client.ask(desk.broker.set, Q, Policy(ttl_us=9), desk.confirm, ("lease_us",)).code == codes.OK
    assert client.ask(desk.broker.set, Q, Policy(), desk.confirm, ("nonsense",)).code == codes.BAD_POLICY
    view = client.ask(desk.broker.show_queue, Q).value
    assert isinstance(view, QueueView)
    assert (view.policy.attempts, view.policy.lease_us, view.policy.ttl_us) == (3, None, 9)
    assert view.sources == {"attempts": (SAID, b""), "ttl_us": (SAID, b"")}


@law
def removing_a_queue_ends_all_that_is_in_it(desk: Desk) -> None:
    client = Client(desk)
    assert client.on_queue(desk.broker.remove, Q).code == codes.NO_QUEUE
    seq = client.publish(Q, b"a").number
    client.reserve(Q)
    client.publish(Q, b"b", delay_us=SECOND_US)
    assert client.on_queue(desk.broker.remove, Q).number == 2
    assert client.finish(Q, seq).code == codes.NO_MESSAGE
    assert client.reserve(Q).code == codes.NO_QUEUE
    desk.pass_time(2 * SECOND_US)
    assert client.publish(Q, b"c").number > seq


@law
def purging_leaves_what_is_leased(desk: Desk) -> None:
    client = Client(desk)
    assert client.on_queue(desk.broker.purge, Q).code == codes.NO_QUEUE
    seq = client.publish(Q, b"a").number
    client.reserve(Q)
    client.publish(Q, b"b")
    client.publish(Q, b"c", delay_us=SECOND_US)
    assert client.on_queue(desk.broker.purge, Q).number == 2
    assert client.finish(Q, seq).code == codes.OK


@law
def a_pause_stops_handing_out_and_nothing_else(desk: Desk) -> None:
    client, waiter = Client(desk), Client(desk)
    assert client.on_queue(desk.broker.pause, Q).code == codes.NO_QUEUE
    assert client.on_queue(desk.broker.resume, Q).code == codes.NO_QUEUE
    client.declare(Q)
    token = wait_for(waiter, desk)
    assert client.on_queue(desk.broker.pause, Q).code == codes.OK
    assert client.publish(Q, b"a").code == codes.OK
    assert client.reserve(Q).code == codes.EMPTY
    assert token not in waiter.outcomes
    assert client.on_queue(desk.broker.resume, Q).code == codes.OK
    assert waiter.outcomes[token].bodies() == [b"a"]


@law
def peeking_shows_what_could_be_taken_and_changes_nothing(desk: Desk) -> None:
    client = Client(desk)
    for body in (b"1", b"2", b"3"):
        client.publish(Q, body)
    views = client.ask(desk.broker.peek, Q, 2).value
    assert isinstance(views, list)
    assert [view.body for view in views] == [b"1", b"2"]
    assert counts(client, desk).ready == 3


@law
def peeking_goes_on_where_it_left_off(desk: Desk) -> None:
    client = Client(desk)
    seqs = [client.publish(Q, b"%d" % at, options=Publishing(priority=at // 2)).number for at in range(4)]
    assert peeked(client, desk, 2, None) == [b"2", b"3"]
    assert peeked(client, desk, 2, Rank(1, desk.now_us, seqs[3])) == [b"0", b"1"]
    client.delete(Q, seqs[0])
    assert peeked(client, desk, 2, Rank(0, desk.now_us, seqs[0])) == [b"1"]
    assert peeked(client, desk, 2, Rank(0, desk.now_us, seqs[1])) == []


def peeked(client: Client, desk: Desk, limit: int, after: Rank | None) -> list[bytes]:
    views = client.ask(desk.broker.peek, Q, limit, after).value
    assert isinstance(views, list)
    return [view.body for view in views]


@law
def a_message_can_be_shown_as_long_as_it_lives(desk: Desk) -> None:
    client = Client(desk)
    seq = client.publish(Q, b"a", options=Publishing(priority=3, key=b"k")).number
    view = client.ask(desk.broker.show_message, seq).value
    assert isinstance(view, MessageView)
    assert (view.seq, view.queue, view.body, view.key, view.priority) == (seq, Q, b"a", b"k", 3)
    assert view.place == message.READY
    client.take(Q)
    assert client.ask(desk.broker.show_message, seq).code == codes.NO_MESSAGE


@law
def the_ledger_balances(desk: Desk) -> None:
    client = Client(desk)
    seqs = [client.publish(Q, b"%d" % at, delay_us=at * SECOND_US).number for at in range(4)]
    client.reserve(Q)
    client.finish(Q, seqs[0])
    client.delete(Q, seqs[1])
    client.publish(Q, b"", options=Publishing(parked=True))
    found = counts(client, desk)
    waiting = found.delayed + found.ready + found.parked + found.leased
    assert found.published == waiting + found.finished + found.dropped + found.expired + found.deleted == 5
    stats = client.ask(desk.broker.stats).value
    assert isinstance(stats, StatsView)
    assert (stats.queues, stats.counts.published, stats.now_us) == (1, 5, desk.now_us)


@law
def queues_are_listed_by_name(desk: Desk) -> None:
    client = Client(desk)
    for queue in (b"b", b"a", b"\xff", b""):
        client.publish(queue, b"")
    views = client.ask(desk.broker.list_queues).value
    assert isinstance(views, list)
    assert [view.name for view in views] == [b"", b"a", b"b", b"\xff"]


@law
def a_batch_is_all_of_it(desk: Desk) -> None:
    client = Client(desk)
    finished, released, deleted = (client.publish(Q, body).number for body in (b"f", b"r", b"d"))
    client.reserve(Q, Reserving(max=2))
    calls = [
        batched(PUBLISH, body=b"new"),
        batched(FINISH, finished),
        batched(RELEASE, released),
        batched(DELETE, deleted),
        batched(FINISH, finished),
    ]
    outcome = client.ask(desk.broker.batch, calls, desk.confirm)
    assert isinstance(outcome.value, list)
    assert [code for code, _ in outcome.value] == [codes.OK] * 4 + [codes.NO_MESSAGE]
    assert bodies_reserved(client) == [b"r", b"new"]


@law
def a_batch_that_does_not_fit_is_none_of_it(desk: Desk) -> None:
    client = Client(desk)
    client.declare(Q, Policy(max_length=2))
    seq = client.publish(Q, b"a").number
    calls = [batched(DELETE, seq), batched(PUBLISH, body=b"b"), batched(PUBLISH, body=b"c")]
    assert client.ask(desk.broker.batch, calls, desk.confirm).code == codes.FULL
    assert bodies_reserved(client) == [b"a"]


@law
def a_batch_without_a_message_it_needs_is_none_of_it(desk: Desk) -> None:
    client = Client(desk)
    seq = client.publish(Q, b"old").number
    needed = batched(DELETE, seq)
    needed.needed, needed.rule = True, WAITING_ONLY
    calls = [needed, batched(PUBLISH, body=b"new")]
    client.reserve(Q)
    assert client.ask(desk.broker.batch, calls, desk.confirm).code == codes.NO_MESSAGE
    client.release(Q, seq)
    assert client.ask(desk.broker.batch, calls, desk.confirm).code == codes.OK
    assert client.ask(desk.broker.batch, calls, desk.confirm).code == codes.NO_MESSAGE
    assert bodies_reserved(client) == [b"new"]


@law
def many_calls_under_way_are_each_answered_once(desk: Desk) -> None:
    clients = [Client(desk) for _ in range(3)]
    for at in range(30):
        clients[at % 3].call(desk.broker.publish, Q, b"%d" % at, -1, Publishing(), desk.confirm)
    desk.settle()
    assert [sorted(client.outcomes) for client in clients] == [list(range(1, 11))] * 3
    numbers = [outcome.number for client in clients for outcome in client.outcomes.values()]
    assert len(set(numbers)) == 30


@law
def every_stage_is_reached(desk: Desk) -> None:
    client = Client(desk)
    for stage in (stages.READY, stages.WRITE, stages.SYNC):
        assert client.ask(desk.broker.publish, Q, b"a", -1, Publishing(), stage).code == codes.OK
