"""The life of a message as a table: what may happen in which place, what it leads to, which fact says so, who is told.

A replay refuses a fact that this table does not allow; docs/lifecycle.md is made from it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from penstock.model import facts, stages
from penstock.model.message import DELAYED, LEASED, PARKED, READY

WAITING: Final = (DELAYED, READY, PARKED)
LIVE: Final = (DELAYED, READY, PARKED, LEASED)


class Turn(NamedTuple):
    """One row: an event, where the message may be before it, and what follows."""

    event: str
    before: tuple[int, ...]
    after: str
    fact: int
    reason: int
    told: tuple[int, ...]


TURNS: Final = (
    Turn("publish", (), "ready, delayed or parked, by its due time", facts.PUBLISHED, facts.NO_REASON,
         (stages.READY, stages.WRITE, stages.SYNC)),
    Turn("reserve", (DELAYED, READY), "leased: holder, deliveries + 1, until", facts.LEASED, facts.NO_REASON,
         (stages.ASSIGN,)),
    Turn("take", WAITING, "finished: deliveries + 1", facts.FINISHED, facts.TAKEN, (stages.FINISH,)),
    Turn("finish, where the caller's rule allows it", LIVE, "finished", facts.FINISHED, facts.ACKNOWLEDGED,
         (stages.FINISH,)),
    Turn("release", (LEASED,), "due at now + delay, at the tail", facts.RELEASED, facts.RETURNED, (stages.RETRY,)),
    Turn("release as failed, failures + 1 below the limit", (LEASED,),
         "due after the delay it names, else after the back-off, at the tail",
         facts.RELEASED, facts.FAILED, (stages.RETRY,)),
    Turn("release as failed, limit reached", (LEASED,), "dropped; a copy in the dead-letter queue if there is one",
         facts.DROPPED, facts.FAILED, (stages.DROP,)),
    Turn("lease over, failures + 1 below the limit", (LEASED,),
         "due after the back-off, at the tail or at its old place as its taker chose",
         facts.RELEASED, facts.TIMED_OUT, (stages.RETRY,)),
    Turn("lease over, limit reached", (LEASED,), "dropped; a copy in the dead-letter queue if there is one",
         facts.DROPPED, facts.TIMED_OUT, (stages.DROP,)),
    Turn("extend", (DELAYED, READY, LEASED), "the lease ends, or the message becomes ready, at another time",
         facts.EXTENDED, facts.NO_REASON, ()),
    Turn("expiry while waiting; lease over or release after expiry", LIVE, "expired",
         facts.EXPIRED, facts.NO_REASON, ()),
    Turn("delete", LIVE, "deleted", facts.DELETED, facts.DELETED_ONE, ()),
    Turn("purge", WAITING, "deleted", facts.DELETED, facts.PURGED, ()),
    Turn("queue removed", LIVE, "deleted", facts.DELETED, facts.QUEUE_REMOVED, ()),
)  # fmt: skip

# (fact, reason) -> places it may find a message in
BEFORE: Final = {(turn.fact, turn.reason): turn.before for turn in TURNS}
