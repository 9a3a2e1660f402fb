"""What the model holds. Fields are named as in the engine, so that the two can be laid side by side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from penstock.model.limits import NARROW_MAX, NEVER_US
from penstock.model.message import DELAYED, LEASED, Origin
from penstock.model.options import Reserving, Taking
from penstock.model.policy import Policy
from penstock.model.views import MessageView
from tests.engine.clients import Client, Event, plain_origin
from tests.fields import fields

TALLIES = ("published", "finished", "dropped", "expired", "deleted", "delivered", "failed")


@dataclass(eq=False)
class Message:
    """A live one; what has ended is gone."""

    order: int
    queue: bytes
    body: bytes
    key: bytes | None
    priority: int
    parked: bool
    dialect: int
    published_us: int
    ready_us: int
    expires_us: int
    lease_us: int
    origin: Origin | None
    place: int = DELAYED
    until_us: int = 0
    leased_us: int = 0
    first_leased_us: int = 0
    holder: int = 0
    old_place: bool = False
    deliveries: int = 0
    failures: int = 0

    @property
    def waits(self) -> bool:
        return self.place != LEASED

    @property
    def narrow(self) -> bool:
        return len(self.body) <= NARROW_MAX and len(self.key or b"") <= NARROW_MAX

    @property
    def gist(self) -> Event:
        return (self.order, self.body, self.key)


@dataclass(eq=False)
class Queue:
    id: int
    name: bytes
    dialect: int
    policy: Policy
    created_us: int
    modified_us: int
    paused: bool = False
    tally: Counter[str] = field(default_factory=Counter)
    known: list[tuple[bytes, int, int]] = field(default_factory=list)  # dedup id, message, when


@dataclass(eq=False)
class Waiter:
    """Somebody who waits: for a reserve or take of one queue, or with a credit for a push from any subscription."""

    turn: int
    client: Client
    token: int
    stage: int
    queue: bytes
    options: Reserving | Taking | None  # None: a credit
    until_us: int = NEVER_US

    @property
    def needs_narrow(self) -> bool:
        return self.options is None or (isinstance(self.options, Taking) and self.options.newest)


@dataclass(eq=False)
class Truth:
    """What a journal keeps."""

    now_us: int = 0
    next_seq: int = 1
    next_queue_id: int = 1
    queues: dict[bytes, Queue] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    marks: dict[bytes, int] = field(default_factory=dict)  # of each list, the last row that was published


def view_of(message: Message) -> dict[str, Any]:
    shown = {field: getattr(message, field) for field in fields(MessageView) if field not in ("seq", "origin")}
    return {**shown, "seq": message.order, "origin": plain_origin(message.origin)}
