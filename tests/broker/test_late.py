"""The late broker is as late as it says: otherwise whatever passes on it has shown nothing."""

from __future__ import annotations

from penstock.engine.rules import PolicyBook
from penstock.model.options import Publishing, Reserving
from penstock.model.stages import FINISH, READY
from tests.broker.client import Client
from tests.broker.desks import EngineDesk, LateDesk
from tests.broker.late import TICKS_MAX, LateBroker

Q = b"q"


class Listening(Client):
    """A client that notes the order in which it and others are answered."""

    def __init__(self, desk: LateDesk, heard: list[tuple[Client, int]]) -> None:
        super().__init__(desk)
        self._heard = heard

    def answered(self, token: int, code: int, message: object, number: int) -> None:
        self._heard.append((self, token))


def publish_some(desk: LateDesk, clients: list[Listening], count: int) -> list[tuple[Client, int]]:
    """Round robin; the calls in their order."""
    return [
        (client, client.call(desk.broker.publish, Q, b"", -1, Publishing(), desk.confirm))
        for _ in range(count)
        for client in clients
    ]


def late_order(seed: int, clients: int) -> tuple[list[int], list[int]]:
    """Which call was made when, which was answered when."""
    desk = LateDesk(EngineDesk(PolicyBook()), seed)
    heard: list[tuple[Client, int]] = []
    listening = [Listening(desk, heard) for _ in range(clients)]
    made = publish_some(desk, listening, 20)
    desk.settle()
    return list(range(len(made))), [made.index(answer) for answer in heard]


def test_answers_to_one_session_come_out_of_order_each_once() -> None:
    made, answered = late_order(seed=1, clients=1)
    assert answered != made
    assert sorted(answered) == made


def test_answers_to_several_sessions_come_out_of_order_each_once() -> None:
    made, answered = late_order(seed=1, clients=3)
    assert answered != made
    assert sorted(answered) == made


def test_the_same_seed_gives_the_same_order_and_another_one_another() -> None:
    assert late_order(seed=1, clients=2) == late_order(seed=1, clients=2)
    assert late_order(seed=1, clients=2) != late_order(seed=2, clients=2)


def test_a_verb_takes_effect_at_once_and_is_answered_some_ticks_later() -> None:
    behind = EngineDesk(PolicyBook())
    desk = LateDesk(behind, seed=1)
    client = Client(desk)
    token = client.call(desk.broker.publish, Q, b"a", -1, Publishing(), desk.confirm)
    assert Client(behind).reserve(Q).bodies() == [b"a"]
    assert token not in client.outcomes
    for _ in range(TICKS_MAX + 1):
        desk.tick()
    assert token in client.outcomes


def test_what_a_session_is_owed_is_counted_from_the_call_to_the_answer() -> None:
    desk = LateDesk(EngineDesk(PolicyBook()), seed=1)
    client = Client(desk)
    client.publish(Q, bytes(100))
    client.call(desk.broker.reserve, Q, Reserving(), desk.confirm)
    assert client.owed == 100
    desk.settle()
    assert client.owed == 0


def test_a_waiter_is_owed_nothing_that_it_does_not_get() -> None:
    desk = LateDesk(EngineDesk(PolicyBook()), seed=1)
    client, poster = Client(desk), Client(desk)
    poster.declare(Q)
    token = client.call(desk.broker.reserve, Q, Reserving(wait_us=1_000), desk.confirm)
    poster.publish(Q, bytes(100))
    assert client.outcomes[token].bodies() == [bytes(100)]
    assert client.owed == 0


def test_events_are_late_and_keep_their_order() -> None:
    late = LateBroker(EngineDesk(PolicyBook()).broker, seed=1)
    client = Client(LateDesk(EngineDesk(PolicyBook()), seed=1))
    relay = late._relay(client)
    for label in range(50):
        relay.told(READY, label)
        relay.told(FINISH, label)
    assert client.notices == []
    while late.pending():
        late.tick()
    assert client.notices == [(stage, label) for label in range(50) for stage in (READY, FINISH)]
