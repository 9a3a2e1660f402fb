"""The laws of ARCHITECTURE.md, checked on nothing but facts and notices: what any reader of the journal could check.

It knows no engine and no model; a message here is what the facts before have said of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from penstock.codecs.facts import Fact, decode_origin
from penstock.model import facts, stages
from penstock.model.limits import GRACE_US, NEVER_US

END_KINDS = {
    facts.FINISHED: "finished",
    facts.DROPPED: "dropped",
    facts.EXPIRED: "expired",
    facts.DELETED: "deleted",
}
TURNS = (stages.ASSIGN, stages.RETRY)
ENDS = (stages.FINISH, stages.DROP)
DURABLE = (stages.READY, stages.WRITE, stages.SYNC)


class Broken(AssertionError):
    """A law is broken. `law` is its number in ARCHITECTURE.md; 0: the engine and the model disagree."""

    def __init__(self, law: int, what: str) -> None:
        super().__init__(f"law {law}: {what}" if law else what)
        self.law = law
        self.what = what


def law(number: int, holds: bool, what: str) -> None:
    if not holds:
        raise Broken(number, what)


@dataclass(eq=False)
class Known:
    """A live message, as told by facts."""

    queue_id: int
    key: bytes | None
    parked: bool
    due_us: int
    expires_us: int
    leased: bool = False
    leased_us: int = 0
    until_us: int = 0


class Audit:
    """`given`: every message number ever given out, over all crashes, also those that were lost with their facts."""

    def __init__(self, given: set[int]) -> None:
        self.given = given
        self.unheard: set[tuple[int, int]] = set()  # posters and labels from before a crash: their notices began then
        self.live: dict[int, Known] = {}
        self.ledger: dict[int, Counter[str]] = {}
        self.told: dict[tuple[int, int], list[int]] = {}
        self.marks: dict[bytes, int] = {}

    # -- facts

    def read(self, batch: list[Fact], again: bool = False) -> None:
        """One commit. `again`: after a crash, facts that were read before."""
        taken: set[tuple[int, bytes]] = set()  # queue and key of what this commit took by itself
        for fact in batch:
            if fact.kind == facts.PUBLISHED:
                self._published(fact, again)
            elif facts.LEASED <= fact.kind <= facts.DELETED:
                self._moved(fact, taken)
            elif fact.kind in (facts.STARTED, facts.WOKEN):
                self._grace(fact)
            elif fact.kind == facts.REMOVED:
                law(6, not self._live_in(fact.queue_id), f"queue {fact.queue_id} is removed with messages in it")

    def _published(self, fact: Fact, again: bool) -> None:
        law(12, again or fact.message not in self.given, f"number {fact.message} is given out again")
        self.given.add(fact.message)
        parked = bool(fact.flags & facts.PARKED_FLAG)
        self.live[fact.message] = Known(fact.queue_id, fact.key, parked, fact.due_us, fact.expires_us)
        self._count(fact.queue_id, "published")
        origin = decode_origin(fact.extra)
        if origin is not None and origin.mark:
            law(13, self.marks.get(origin.mark, 0) < origin.row, f"row {origin.row} of {origin.mark!r} comes again")
            self.marks[origin.mark] = origin.row
        if again and origin is not None:
            self.unheard.add((origin.poster, origin.label))

    def _moved(self, fact: Fact, taken: set[tuple[int, bytes]]) -> None:
        name = facts.FACT_NAMES[fact.kind]
        law(3, fact.message in self.live, f"message {fact.message} is {name} after its end")
        known = self.live[fact.message]
        if fact.kind == facts.LEASED:
            law(2, not known.leased, f"message {fact.message} is leased twice at once")
            law(3, not known.parked, f"message {fact.message} is parked, and leased")
            self._handed_out(fact, known)
            known.leased, known.leased_us, known.until_us = True, fact.at_us, fact.due_us
        elif fact.kind == facts.RELEASED:
            self._lease_ended(fact, known)
            known.leased, known.due_us = False, fact.due_us
        elif fact.kind == facts.EXTENDED:
            if known.leased:
                known.until_us = fact.due_us
            else:
                known.due_us = fact.due_us
        else:
            self._ended(fact, known, taken)

    def _ended(self, fact: Fact, known: Known, taken: set[tuple[int, bytes]]) -> None:
        if fact.kind == facts.FINISHED and fact.reason == facts.TAKEN:
            law(2, not known.leased, f"message {fact.message} is leased, and taken")
            self._handed_out(fact, known)
            self._not_parked_alone(fact, known, taken)
        elif fact.kind == facts.DROPPED:
            self._lease_ended(fact, known)
        elif fact.kind == facts.EXPIRED:
            law(3, fact.at_us >= known.expires_us, f"message {fact.message} expires too early")
        del self.live[fact.message]
        self._count(fact.queue_id, END_KINDS[fact.kind])

    def _handed_out(self, fact: Fact, known: Known) -> None:
        law(3, fact.at_us >= known.due_us, f"message {fact.message} is delivered before its due time")
        law(3, fact.at_us < known.expires_us, f"message {fact.message} is delivered after its expiry")

    def _not_parked_alone(self, fact: Fact, known: Known, taken: set[tuple[int, bytes]]) -> None:
        mates = None if known.key is None else (known.queue_id, known.key)
        law(3, not known.parked or mates in taken, f"message {fact.message} is parked, and taken alone")
        if mates is not None and not known.parked:
            taken.add(mates)

    def _lease_ended(self, fact: Fact, known: Known) -> None:
        law(2, known.leased, f"message {fact.message} comes back from a lease that is not there")
        if fact.reason == facts.TIMED_OUT:
            law(4, fact.at_us >= known.until_us, f"the lease of message {fact.message} ends too early")

    def _grace(self, fact: Fact) -> None:
        for known in self.live.values():
            if known.leased and known.until_us < NEVER_US:
                length_us = known.until_us - known.leased_us
                known.until_us = max(known.until_us, fact.at_us + min(length_us, GRACE_US))

    def _count(self, queue_id: int, what: str) -> None:
        self.ledger.setdefault(queue_id, Counter())[what] += 1

    def _live_in(self, queue_id: int) -> list[Known]:
        return [known for known in self.live.values() if known.queue_id == queue_id]

    def check_counts(self, queue_id: int, shown: dict[str, int]) -> None:
        """Law 6, as the facts have it and as the counts have it."""
        places = shown["delayed"] + shown["ready"] + shown["parked"] + shown["leased"]
        ends = sum(shown[end] for end in END_KINDS.values())
        law(6, shown["published"] == places + ends, f"the ledger does not add up: {shown}")
        ledger = self.ledger.get(queue_id, Counter())
        for what in ("published", *END_KINDS.values()):
            law(6, ledger[what] == shown[what], f"{shown[what]} are counted as {what}, the facts say {ledger[what]}")
        leased = sum(known.leased for known in self._live_in(queue_id))
        law(6, leased == shown["leased"], f"{shown['leased']} are counted as leased, the facts say {leased}")

    # -- notices, of posters that asked for all of them

    def hear(self, client_id: int, stage: int, label: int) -> None:
        if (client_id, label) in self.unheard:
            return
        told = self.told.setdefault((client_id, label), [])
        told.append(stage)
        durable = [one for one in told if one in DURABLE]
        law(9, durable == sorted(set(durable)), f"label {label} was told {told}: not in order, or twice")
        law(9, durable == told[: len(durable)], f"label {label} was told {told}: a turn of life came too early")
        law(9, not any(one in ENDS for one in told[:-1] if stage not in DURABLE), f"label {label} was told {told}")
        turns = [one for one in told if one in TURNS]
        law(9, turns == [TURNS[place % 2] for place in range(len(turns))], f"label {label} was told {told}")
