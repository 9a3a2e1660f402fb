"""The past tense: the kinds of fact a journal holds, their reasons and flags. Numbers here are on disk for ever."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

STARTED: Final[i64] = 1
DECLARED: Final[i64] = 2
SET: Final[i64] = 3
REMOVED: Final[i64] = 4
PAUSED: Final[i64] = 5
RESUMED: Final[i64] = 6
PUBLISHED: Final[i64] = 7
LEASED: Final[i64] = 8
FINISHED: Final[i64] = 9
RELEASED: Final[i64] = 10
EXTENDED: Final[i64] = 11
DROPPED: Final[i64] = 12
EXPIRED: Final[i64] = 13
DELETED: Final[i64] = 14
WOKEN: Final[i64] = 15

FACT_NAMES: Final = {
    STARTED: "started",
    DECLARED: "declared",
    SET: "set",
    REMOVED: "removed",
    PAUSED: "paused",
    RESUMED: "resumed",
    PUBLISHED: "published",
    LEASED: "leased",
    FINISHED: "finished",
    RELEASED: "released",
    EXTENDED: "extended",
    DROPPED: "dropped",
    EXPIRED: "expired",
    DELETED: "deleted",
    WOKEN: "woken",
}

# Reasons: why a fact came about.
NO_REASON: Final[i64] = 0
ACKNOWLEDGED: Final[i64] = 1  # finished by whoever worked on it
TAKEN: Final[i64] = 2  # finished in the moment it was handed out
RETURNED: Final[i64] = 3  # released by a client
TIMED_OUT: Final[i64] = 4  # released or dropped because the lease ran out
FAILED: Final[i64] = 5  # released or dropped because a client said it failed
DELETED_ONE: Final[i64] = 6
PURGED: Final[i64] = 7
QUEUE_REMOVED: Final[i64] = 8

REASON_NAMES: Final = {
    NO_REASON: "",
    ACKNOWLEDGED: "acknowledged",
    TAKEN: "taken",
    RETURNED: "returned",
    TIMED_OUT: "timed out",
    FAILED: "failed",
    DELETED_ONE: "deleted",
    PURGED: "purged",
    QUEUE_REMOVED: "queue removed",
}

# Flags of a record.
PARKED_FLAG: Final[i64] = 1  # published: never chosen, only taken along with its key
KEYED_FLAG: Final[i64] = 2  # the key is there, be it empty
OLD_PLACE_FLAG: Final[i64] = 4  # leased: comes back to its old place, not to the tail
FAILURE_FLAG: Final[i64] = 8  # released: counts against the attempt limit
