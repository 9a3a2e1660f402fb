"""What a law is, and what the laws of a broker are written with. They see only verbs, answers and time: none of them
knows an engine, a journal or a disk."""

from __future__ import annotations

from collections.abc import Callable

from penstock.model import codes
from penstock.model.limits import SECOND_US
from penstock.model.options import Reserving
from penstock.model.views import Counts, QueueView
from tests.broker.client import Client
from tests.broker.desks import Desk

Law = Callable[[Desk], None]
LAWS: list[Law] = []

Q = b"q"


def law(check: Law) -> Law:
    LAWS.append(check)
    return check


def counts(client: Client, desk: Desk, queue: bytes = Q) -> Counts:
    view = client.ask(desk.broker.show_queue, queue).value
    assert isinstance(view, QueueView)
    return view.counts


def bodies_reserved(client: Client, queue: bytes = Q) -> list[bytes]:
    """Everything that is ready, in order."""
    found = []
    while (outcome := client.reserve(queue)).code == codes.OK:
        found += outcome.bodies()
    return found


def wait_for(client: Client, desk: Desk, queue: bytes = Q) -> int:
    """A call that is not answered yet."""
    return client.call(desk.broker.reserve, queue, Reserving(wait_us=10 * SECOND_US), desk.confirm)
