"""Who bears which name: one at a time, and what is kept for those who are gone, within bounds."""

from __future__ import annotations

from penstock.broker.clients import Clients
from penstock.model import stages
from penstock.model.contract import Session
from penstock.model.limits import ABSENT_MAX, KEPT_MAX
from tests.engine.clients import Client, notice


class Heir(Client):
    """Says whom it inherits."""

    def inherit(self, old: Session) -> None:
        self.hear(("heir", old))


def client(number: int, durable: bool = False) -> Heir:
    made = Heir(f"client {number}", client_id=number)
    made.durable = durable
    return made


def tell(clients: Clients, number: int, label: int) -> bool:
    """False: there is nobody to be told."""
    session = clients.whom(number)
    if session is not None:
        session.told(stages.FINISH, label)
    return session is not None


def test_whoever_bears_the_name_is_told() -> None:
    clients, one, other = Clients(), client(4), client(6)
    clients.enter(one)
    clients.enter(other)
    assert clients.is_present(4)
    assert tell(clients, 4, 1)
    assert not tell(clients, 8, 2)
    assert (one.events, other.events) == ([notice(4, stages.FINISH, 1)], [])


def test_one_that_left_is_told_no_more() -> None:
    clients, one = Clients(), client(4)
    clients.enter(one)
    clients.leave(one)
    assert not clients.is_present(4)
    assert not tell(clients, 4, 1)


def test_one_that_never_entered_cannot_leave_in_anothers_place() -> None:
    clients, one = Clients(), client(4)
    clients.enter(one)
    clients.leave(client(4))
    assert clients.is_present(4)


def test_a_durable_one_is_told_when_it_is_gone_and_leaves_it_to_its_heir() -> None:
    clients, one, heir = Clients(), client(5, durable=True), client(5)
    clients.enter(one)
    clients.leave(one)
    assert not clients.is_present(5)
    assert tell(clients, 5, 1)
    clients.enter(heir)
    assert tell(clients, 5, 2)
    assert one.events == [notice(5, stages.FINISH, 1)]
    assert heir.events == [("heir", one), notice(5, stages.FINISH, 2)]


def test_an_heir_is_durable_for_it_must_not_lose_what_it_inherits() -> None:
    clients, one, heir = Clients(), client(4, durable=True), client(4)
    clients.enter(one)
    clients.leave(one)
    clients.enter(heir)
    assert heir.durable


# -- after a restart nobody is known


def test_what_is_for_a_durable_name_that_nobody_bears_is_kept_for_it_in_order() -> None:
    clients, heir = Clients(), client(5)
    assert all(tell(clients, 5, label) for label in (1, 2, 3))
    clients.enter(heir)
    assert heir.events == [notice(5, stages.FINISH, label) for label in (1, 2, 3)]


def test_what_is_on_its_way_to_a_mailbox_comes_to_whoever_bears_the_name_by_then() -> None:
    clients, heir = Clients(), client(5)
    mailbox = clients.whom(5)
    assert mailbox is not None
    clients.enter(heir)
    mailbox.told(stages.RETRY, 7)
    assert heir.events == [notice(5, stages.RETRY, 7)]


def test_of_too_many_notices_the_newest_are_kept() -> None:
    clients, heir = Clients(), client(5)
    for label in range(KEPT_MAX + 3):
        tell(clients, 5, label)
    assert clients.counts() == {"present": 0, "absent": 1, "forgotten": 0, "dropped": 3}
    clients.enter(heir)
    assert [event[3] for event in heir.events] == list(range(3, KEPT_MAX + 3))
    assert clients.counts() == {"present": 1, "absent": 0, "forgotten": 0, "dropped": 3}


def test_of_too_many_that_are_gone_those_are_forgotten_that_went_first() -> None:
    clients = Clients()
    gone = [client(2 * at + 4, durable=True) for at in range(ABSENT_MAX + 1)]
    for one in gone:
        clients.enter(one)
        clients.leave(one)
    assert clients.counts() == {"present": 0, "absent": ABSENT_MAX, "forgotten": 1, "dropped": 0}
    assert not tell(clients, gone[0].client_id, 1)
    assert all(tell(clients, one.client_id, 1) for one in gone[1:])


def test_mailboxes_count_as_well() -> None:
    clients, heir = Clients(), client(5)
    for at in range(ABSENT_MAX + 1):
        tell(clients, 2 * at + 5, 1)
    clients.enter(heir)
    assert heir.events == []
