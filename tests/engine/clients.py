"""Clients that remember what they were told, and events as plain tuples, so that two tellers can be compared.

An event is (kind, client, token, code, value), the kind one of `answer`, `list`, `push`, `wake` and `heard`; or it is
(`notice`, client id, stage, label).
"""

from __future__ import annotations

from typing import Any

from penstock.model.contract import Out, Session, owed_for
from penstock.model.message import Lease, Message, Origin
from penstock.model.policy import POLICY_FIELDS, Policy
from penstock.model.views import Counts, MessageView, QueueView, StatsView
from tests.fields import fields

Event = tuple[Any, ...]

ORIGIN_FIELDS = (
    "dedup_id", "foreign_id", "trace", "principal", "poster", "label", "notify", "dead_of", "dead_from", "deliveries",
    "first_leased_us", "mark", "row",
)  # fmt: skip
_NO_ORIGIN = Origin()


class Client(Session):
    """`events` is all it was told, in order."""

    def __init__(self, name: str, dialect: int = 1, client_id: int = 0) -> None:
        super().__init__(dialect)
        self.client_id = client_id
        self.name = name
        self.events: list[Event] = []

    def answered(self, token: int, code: int, message: Message | None, number: int) -> None:
        if message is not None:
            self.owed -= len(message.body)
        self.hear(answer(self, token, code, message, number))

    def answered_with(self, token: int, code: int, value: object) -> None:
        self.owed -= owed_for(value)
        self.hear(answer_with(self, token, code, value))

    def told(self, stage: int, label: int) -> None:
        self.hear(notice(self.client_id, stage, label))

    def pushed(self, queue: bytes, messages: list[Message]) -> None:
        self.owed -= owed_for(messages)
        self.hear(push(self, queue, messages))

    def woken(self, token: int) -> None:
        self.hear(wake(self, token))

    def heard(self, queue: bytes, length: int) -> None:
        self.hear(announcement(self, queue, length))

    def hear(self, event: Event) -> None:
        self.events.append(event)


class Recorder(Out):
    """Says everything at once, each with the stage it would have waited for."""

    def __init__(self) -> None:
        self.said: list[tuple[int, Event]] = []

    def answer(self, session: Session, token: int, stage: int, code: int, message: Message | None, number: int) -> None:
        self.said.append((stage, answer(session, token, code, message, number)))

    def answer_with(self, session: Session, token: int, stage: int, code: int, value: object) -> None:
        self.said.append((stage, answer_with(session, token, code, value)))

    def push(self, session: Session, stage: int, queue: bytes, messages: list[Message]) -> None:
        self.said.append((stage, push(session, queue, messages)))

    def wake(self, session: Session, token: int) -> None:
        self.said.append((0, wake(session, token)))

    def announce(self, session: Session, queue: bytes, length: int) -> None:
        self.said.append((0, announcement(session, queue, length)))

    def notice(self, client_id: int, stage: int, label: int, after: int) -> None:
        self.said.append((after, notice(client_id, stage, label)))

    def is_present(self, client_id: int) -> bool:
        return False

    def enter(self, session: Session) -> None:
        pass

    def leave(self, session: Session) -> None:
        pass


def answer(session: Session, token: int, code: int, message: Message | None, number: int) -> Event:
    return ("answer", name_of(session), token, code, (None if message is None else gist(message), number))


def answer_with(session: Session, token: int, code: int, value: object) -> Event:
    return ("list", name_of(session), token, code, plain(value))


def push(session: Session, queue: bytes, messages: list[Message]) -> Event:
    return ("push", name_of(session), 0, 0, (queue, plain(messages)))


def wake(session: Session, token: int) -> Event:
    return ("wake", name_of(session), token, 0, None)


def announcement(session: Session, queue: bytes, length: int) -> Event:
    return ("heard", name_of(session), 0, 0, (queue, int(length)))


def notice(client_id: int, stage: int, label: int) -> Event:
    return ("notice", client_id, stage, label)


def name_of(session: Session) -> str:
    assert isinstance(session, Client)
    return session.name


def gist(message: Message) -> Event:
    """What of a handed-out message never changes."""
    return (message.order, message.body, message.key)


def plain(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(plain(one) for one in value)
    if isinstance(value, Message):
        return gist(value)
    if isinstance(value, Lease):
        return (*gist(value.message), int(value.deliveries), int(value.failures), int(value.until_us))
    if isinstance(value, Policy):
        return plain_policy(value)
    if isinstance(value, MessageView | QueueView | StatsView | Counts):
        return {field: _plain_field(field, getattr(value, field)) for field in fields(value)}
    return value


def _plain_field(field: str, value: Any) -> Any:
    return plain_origin(value) if field == "origin" else plain(value)


def plain_policy(policy: Policy) -> dict[str, Any]:
    said = {field: getattr(policy, field) for field in POLICY_FIELDS}
    return {field: value for field, value in said.items() if value is not None}


def plain_origin(origin: Origin | None) -> Event:
    """An origin that says nothing is as good as none."""
    return tuple(getattr(origin or _NO_ORIGIN, field) for field in ORIGIN_FIELDS)
