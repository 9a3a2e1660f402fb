"""The verbs' options: a small object per way of calling, made once by a dialect, used for many calls. -1 is unsaid."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from penstock.model.limits import NEVER_US
from penstock.model.message import Origin

# Who may finish or release: a row of the table of dialects.
ANY_LIVE: Final[i64] = 0  # any live message, leased or waiting
LEASED_ONLY: Final[i64] = 1  # only while it is leased, whoever asks
HOLDER_ONLY: Final[i64] = 2  # only the holder of the present lease
WAITING_ONLY: Final[i64] = 3  # only while nobody holds it


class Publishing:
    """How to publish. `create`: make the queue, with the dialect's defaults, if it is not there.

    `moved`: it was in such a queue elsewhere, so only the server's own limit holds for its body.
    """

    __slots__ = ("create", "key", "lease_us", "moved", "origin", "parked", "priority", "ttl_us")

    def __init__(
        self,
        *,
        ttl_us: i64 = -1,
        lease_us: i64 = -1,
        priority: i64 = 0,
        parked: bool = False,
        key: bytes | None = None,
        create: bool = True,
        moved: bool = False,
        origin: Origin | None = None,
    ) -> None:
        self.ttl_us: i64 = ttl_us
        self.lease_us: i64 = lease_us
        self.priority: i64 = priority
        self.parked: bool = parked
        self.key: bytes | None = key
        self.create: bool = create
        self.moved: bool = moved
        self.origin: Origin | None = origin


class Reserving:
    """How to reserve. `wait_us` 0: an empty queue is answered at once. `max` above 0: so many, answered with a list.

    `unsaid_us` is how long the lease lasts where neither call nor message nor policy says it.
    """

    __slots__ = ("holder", "lease_us", "max", "old_place", "unsaid_us", "wait_us")

    def __init__(
        self,
        *,
        lease_us: i64 = -1,
        holder: i64 = 0,
        old_place: bool = False,
        wait_us: i64 = 0,
        max: i64 = 0,
        unsaid_us: i64 = NEVER_US,
    ) -> None:
        self.lease_us: i64 = lease_us
        self.holder: i64 = holder
        self.old_place: bool = old_place
        self.wait_us: i64 = wait_us
        self.max: i64 = max
        self.unsaid_us: i64 = unsaid_us


class Taking:
    """How to take. `newest`: the last of the best priority, never a wide one. `mates`: and its key mates, as a list."""

    __slots__ = ("mates", "newest", "wait_us")

    def __init__(self, *, newest: bool = False, mates: bool = False, wait_us: i64 = 0) -> None:
        self.newest: bool = newest
        self.mates: bool = mates
        self.wait_us: i64 = wait_us
