"""Snapshots for people: what peek, show, list and stats answer with. Copies: nobody is handed what is behind."""

from __future__ import annotations

from typing import Final, NamedTuple

from mypy_extensions import i64

from penstock.model.message import Origin
from penstock.model.policy import Policy

# Who said a field of the policy that holds.
SAID: Final = 1  # somebody, of this queue
MATCHED: Final = 2  # the configuration, of queues of such a name
DEFAULT: Final = 3  # the dialect that made the queue


class Rank(NamedTuple):
    """Where a ready message stands in its queue: a place to go on from, be the message still there or not."""

    priority: int
    ready_us: int
    seq: int


class Source(NamedTuple):
    """Where a field of a policy comes from."""

    layer: int
    match: bytes  # the name or pattern that matched


class MessageView:
    """One live message at one moment."""

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
        "origin",
        "place",
        "priority",
        "published_us",
        "queue",
        "ready_us",
        "seq",
        "until_us",
    )

    def __init__(self, seq: int, queue: bytes, place: int, body: bytes, key: bytes | None) -> None:
        self.seq = seq
        self.queue = queue
        self.place = place
        self.body = body
        self.key = key
        self.priority: int = 0
        self.dialect: int = 0
        self.published_us: int = 0
        self.ready_us: int = 0
        self.expires_us: int = 0
        self.lease_us: int = -1  # its own lease length; -1: none of its own
        self.leased_us: int = 0
        self.first_leased_us: int = 0
        self.until_us: int = 0
        self.holder: int = 0
        self.deliveries: int = 0
        self.failures: int = 0
        self.origin: Origin | None = None


# A compiled class has no `__slots__` to ask.
COUNTS: Final = (
    "body_bytes",
    "delayed",
    "deleted",
    "delivered",
    "dropped",
    "expired",
    "failed",
    "finished",
    "leased",
    "parked",
    "published",
    "ready",
)


class Counts:
    """The ledger: published = delayed + ready + parked + leased + finished + dropped + expired + deleted, always."""

    __slots__ = COUNTS

    def __init__(self) -> None:
        self.published: int = 0
        self.delayed: int = 0
        self.ready: int = 0
        self.parked: int = 0
        self.leased: int = 0
        self.finished: int = 0
        self.dropped: int = 0
        self.expired: int = 0
        self.deleted: int = 0
        self.delivered: int = 0  # hand-outs, of any kind
        self.failed: int = 0
        self.body_bytes: int = 0  # of live messages


class QueueView:
    """One queue at one moment."""

    __slots__ = (
        "counts",
        "created_us",
        "dialect",
        "effective",
        "modified_us",
        "name",
        "oldest_ready_us",
        "paused",
        "policy",
        "sources",
        "waiting",
    )

    def __init__(self, name: bytes, counts: Counts, policy: Policy, effective: Policy) -> None:
        self.name = name
        self.counts = counts
        self.policy = policy  # what was said of this queue
        self.effective = effective  # what holds, after precedence
        self.sources: dict[str, Source] = {}  # of each field that holds; only where one queue was asked for
        self.dialect: int = 0
        self.paused: bool = False
        self.created_us: int = 0
        self.modified_us: int = 0
        self.oldest_ready_us: int = 0  # 0: nothing is ready
        self.waiting: int = 0  # clients that wait for a message


class Glance:
    """A queue at one moment as its takers need it again and again: numbers only, quick to make."""

    __slots__ = (
        "changes",
        "created_us",
        "delay_us",
        "delivered",
        "lease_us",
        "length",
        "max_body",
        "modified_us",
        "now_us",
        "published",
        "there",
    )

    def __init__(self, now_us: i64) -> None:
        self.now_us: i64 = now_us
        self.there: bool = False  # without a queue all else says nothing
        self.lease_us: i64 = -1  # -1: nobody said it
        self.delay_us: i64 = 0
        self.max_body: i64 = -1  # as it was said, be the server's limit lower or not
        self.published: i64 = 0
        self.delivered: i64 = 0
        self.length: i64 = 0
        self.created_us: i64 = 0
        self.modified_us: i64 = 0
        self.changes: i64 = 0


class StatsView:
    """The whole server at one moment."""

    __slots__ = ("counts", "now_us", "queues", "waiting")

    def __init__(self, counts: Counts, queues: int, waiting: int, now_us: int) -> None:
        self.counts = counts
        self.queues = queues
        self.waiting = waiting
        self.now_us = now_us
