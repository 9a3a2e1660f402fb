"""A message as the engine holds it, and what it inherits: something with a next due time. Data only: rules are not
kept here."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i32, i64, mypyc_attr, u8

from penstock.model.limits import NEVER_US

# Places. The first three are one stored state: which of them it is follows from time and is never logged.
DELAYED: Final = 1
READY: Final = 2
PARKED: Final = 3
LEASED: Final = 4
ENDED: Final = 5

PLACE_NAMES: Final = {DELAYED: "delayed", READY: "ready", PARKED: "parked", LEASED: "leased", ENDED: "ended"}

# What happens at a due time. At the same instant lower comes first.
EXPIRY: Final = 0
LEASE_OVER: Final = 1
DELAY_OVER: Final = 2
WAIT_OVER: Final = 3


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class Due:
    """Something the agenda keeps: it wants attention at `due_us`, for the reason `due_kind`."""

    __slots__ = ("due_kind", "due_us", "order", "slot")

    due_us: i64
    slot: i64  # the agenda's bucket that holds it; 0: none
    order: i64  # ties at one instant: a message's number, a waiter's turn
    due_kind: u8

    def __init__(self, order: i64) -> None:
        self.order = order
        self.due_us = NEVER_US
        self.due_kind = EXPIRY
        self.slot = 0


class Origin:
    """What came with a publish beyond the ordinary; most messages have none."""

    __slots__ = (
        "dead_from",
        "dead_of",
        "dedup_id",
        "deliveries",
        "first_leased_us",
        "foreign_id",
        "label",
        "mark",
        "notify",
        "poster",
        "principal",
        "row",
        "trace",
    )

    def __init__(self) -> None:
        self.dedup_id: bytes = b""
        self.foreign_id: bytes = b""
        self.trace: bytes = b""
        self.principal: bytes = b""
        self.poster: int = 0
        self.label: int = 0
        self.notify: int = 0  # bit n: tell the poster of stage n
        self.dead_of: int = 0  # the number of the dropped message this is the dead letter of
        self.dead_from: bytes | None = None  # the queue that message was dropped from, where known
        self.deliveries: int = 0  # that it has behind it, elsewhere
        self.first_leased_us: int = 0  # when the first of them was, where known
        self.mark: bytes = b""  # the list it is a row of: each row is published once, in order
        self.row: int = 0


@mypyc_attr(acyclic=True)
class Message(Due):
    """One message. `seq` is its number for ever (its `order` as something due)."""

    __slots__ = (
        "body",
        "deliveries",
        "dialect",
        "expires_us",
        "failures",
        "first_leased_us",
        "holder",
        "key",
        "lease_us",
        "leased_us",
        "old_place",
        "origin",
        "parked",
        "place",
        "priority",
        "published_us",
        "queue_id",
        "ready_us",
        "until_us",
    )

    # What takes a byte stands together, so that it takes no more; there may be millions of these.
    place: u8
    dialect: u8
    parked: bool
    old_place: bool
    deliveries: i32
    failures: i32
    # Then its rank, near its number: others are compared with it in passing.
    priority: i64
    ready_us: i64  # when it became, or becomes, ready: its rank among equal priorities
    queue_id: i64
    body: bytes
    key: bytes | None
    published_us: i64
    expires_us: i64  # NEVER_US: does not expire
    lease_us: i64  # its own lease length; -1: none of its own
    leased_us: i64  # when the present (or last) lease began
    first_leased_us: i64
    until_us: i64  # when the present lease ends
    holder: i64  # who holds it, where the dialect fences; 0: anyone
    origin: Origin | None

    def __init__(self, seq: i64, queue_id: i64, body: bytes, published_us: i64, ready_us: i64) -> None:
        self.order = seq
        self.due_us = NEVER_US
        self.due_kind = EXPIRY
        self.slot = 0
        self.queue_id = queue_id
        self.body = body
        self.key = None
        self.priority = 0
        self.parked = False
        self.place = DELAYED
        self.dialect = 0
        self.published_us = published_us
        self.ready_us = ready_us
        self.expires_us = NEVER_US
        self.lease_us = -1
        self.leased_us = 0
        self.first_leased_us = 0
        self.until_us = 0
        self.holder = 0
        self.old_place = False
        self.deliveries = 0
        self.failures = 0
        self.origin = None


@mypyc_attr(acyclic=True)
class Lease:
    """A message as it was handed out: by the time that this is told, it may have been handed out again."""

    __slots__ = ("deliveries", "failures", "message", "until_us")

    def __init__(self, message: Message) -> None:
        self.message: Message = message
        self.deliveries: i32 = message.deliveries
        self.failures: i32 = message.failures
        self.until_us: i64 = message.until_us
