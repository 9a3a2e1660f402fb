"""Messages as the facts tell of them, for the laws: what lives in which queue, and what happened to it, in order.

It reads facts and nothing else: no engine, no state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.codecs.facts import Fact, decode_origin
from penstock.codecs.policies import decode_policy
from penstock.model import facts
from penstock.model.limits import GRACE_US, NEVER_US
from penstock.model.policy import Policy

ENDS = (facts.FINISHED, facts.DROPPED, facts.EXPIRED, facts.DELETED)


@dataclass(eq=False, slots=True)
class Event:
    """A turn of a life. `claimed`: a client was told of it."""

    number: int
    at_us: int
    kind: int
    reason: int
    dialect: int
    due_us: int
    lease_us: int
    deliveries: int
    holder: int
    failure: bool
    failures: int  # with this one
    claimed: bool = False
    suits: Callable[[Event], bool] = field(default=lambda event: False, repr=False)  # whoever claimed it

    def handed(self, taken: bool) -> bool:
        """It was handed out: to be worked on, or for good."""
        return self.taken if taken else self.kind == facts.LEASED

    @property
    def taken(self) -> bool:
        return self.kind == facts.FINISHED and self.reason == facts.TAKEN


class Standing(NamedTuple):
    """Where a message is: leased until then, to whom, or to be had from then on; and its counters."""

    leased: bool
    at_us: int
    holder: int
    deliveries: int
    failures: int


@dataclass(eq=False, slots=True)
class Life:
    number: int  # of the fact that it was published
    seq: int
    queue: bytes
    fact: Fact = field(repr=False)
    due_us: int  # ready from here on, where it waits
    dead_of: int
    dedup_id: bytes
    events: list[Event] = field(default_factory=list)
    leased: bool = False
    leased_us: int = 0
    until_us: int = 0
    failures: int = 0
    told: Event | None = None  # the delivery that was last claimed
    claimed: bool = False  # its publisher was told of it
    ended: bool = False

    def standing(self) -> Standing:
        """Of one that lives."""
        leases = [event for event in self.events if event.kind == facts.LEASED]
        at_us, holder = (self.until_us, leases[-1].holder) if self.leased else (self.due_us, 0)
        return Standing(self.leased, at_us, holder, len(leases), self.failures)

    def touched(self) -> int:
        """The last fact that is about it."""
        return self.events[-1].number if self.events else self.number

    def between(self, number: int, upto: int) -> list[Event]:
        """What happened to it after one fact and up to another."""
        return [event for event in self.events if number < event.number <= upto]

    def quiet_since(self, number: int, upto: int) -> bool:
        return self.number <= number and not self.between(number, upto)

    def waits(self, since_us: int, now_us: int) -> bool:
        """It can be had now, and could since then."""
        settled_us = self.events[-1].at_us if self.events else self.fact.at_us
        ready = max(self.due_us, settled_us) <= since_us and now_us < self.fact.expires_us
        return ready and not self.leased and not self.ended

    def waited(self, number: int, at_us: int, upto: int, until_us: int) -> bool:
        """It could be had all the time from one moment to another, though more may have happened since."""
        if not self.quiet_since(number, upto) or not at_us <= until_us < self.fact.expires_us:
            return False
        due_us, leased = self._then(number)
        return not leased and due_us <= at_us

    def was_leased(self, number: int, at_us: int, upto: int, until_us: int) -> bool:
        """It was leased all that time, to somebody."""
        if not self.quiet_since(number, upto):
            return False
        end_us, leased = self._then(number)
        return leased and until_us < end_us

    def lease_at(self, number: int) -> int:
        """The fact of the last lease before, or at, another."""
        leases = [event.number for event in self.events if event.kind == facts.LEASED and event.number <= number]
        return leases[-1] if leases else 0

    def holder_before(self, number: int) -> int:
        """Who held it before a fact; -1: nobody."""
        lease = self.lease_at(number - 1)
        held = [event.holder for event in self.events if event.number == lease]
        return held[0] if held and self._then(number - 1)[1] else -1

    def due_at(self, number: int) -> int:
        """When it was ready, or is to be, as it was after that fact."""
        return self._then(number)[0]

    def _then(self, number: int) -> tuple[int, bool]:
        """Due time, or end of the lease, as it was after that fact."""
        due_us, leased = int(self.fact.due_us), False
        for event in self.events:
            if event.number > number:
                break
            due_us = event.due_us if event.kind not in ENDS else int(NEVER_US)
            leased = event.kind == facts.LEASED or (leased and event.kind == facts.EXTENDED)
        return due_us, leased


class Lives:
    """All of them, also those that have ended. `live` are those that have not, by queue."""

    def __init__(self) -> None:
        self.by_seq: dict[int, Life] = {}
        self.by_body: dict[tuple[bytes, bytes], list[Life]] = {}
        self.live: dict[bytes, dict[int, Life]] = {}
        self.names: dict[int, bytes] = {}
        self.ids: dict[bytes, int] = {}
        self.policies: dict[bytes, tuple[int, Policy]] = {}  # who made the queue, and what was said
        self.born: dict[bytes, int] = {}  # the fact that made it

    def read(self, fact: Fact) -> Life | None:
        """The message that the fact is about, if it is about one."""
        if fact.kind == facts.PUBLISHED:
            return self._published(fact)
        if facts.LEASED <= fact.kind <= facts.DELETED:
            return self._moved(fact)
        if fact.kind in (facts.DECLARED, facts.SET):
            name = fact.key or b""
            maker = fact.dialect if fact.kind == facts.DECLARED else self.policies[name][0]
            self.names[fact.queue_id] = name
            self.ids[name] = int(fact.queue_id)
            self.born.setdefault(name, int(fact.seq))
            self.policies[name] = int(maker), decode_policy(fact.body)
        elif fact.kind in (facts.STARTED, facts.WOKEN):
            self._grant_grace(int(fact.at_us))
        return None

    def _grant_grace(self, at_us: int) -> None:
        for queue in self.live.values():
            for life in queue.values():
                if life.leased and life.until_us < NEVER_US:
                    length_us = life.until_us - life.leased_us
                    life.until_us = max(life.until_us, at_us + min(length_us, int(GRACE_US)))

    def _published(self, fact: Fact) -> Life:
        origin = decode_origin(fact.extra)
        dead_of, dedup_id = (0, b"") if origin is None else (origin.dead_of, origin.dedup_id)
        queue = self.names[fact.queue_id]
        life = Life(int(fact.seq), int(fact.message), queue, fact, int(fact.due_us), dead_of, dedup_id)
        self.by_seq[life.seq] = life
        self.by_body.setdefault((queue, fact.body), []).append(life)
        self.live.setdefault(queue, {})[life.seq] = life
        return life

    def _moved(self, fact: Fact) -> Life:
        life = self.by_seq[fact.message]
        failure = bool(fact.flags & facts.FAILURE_FLAG)
        numbers = int(fact.due_us), int(fact.lease_us), int(fact.number), int(fact.holder)
        kinds = int(fact.kind), int(fact.reason), int(fact.dialect)
        life.failures += failure
        life.events.append(Event(int(fact.seq), int(fact.at_us), *kinds, *numbers, failure, life.failures))
        if fact.kind == facts.LEASED:
            life.leased, life.leased_us, life.until_us = True, int(fact.at_us), numbers[0]
        elif fact.kind == facts.RELEASED:
            life.leased, life.due_us = False, numbers[0]
        elif fact.kind == facts.EXTENDED and life.leased:
            life.until_us = numbers[0]
        elif fact.kind == facts.EXTENDED:
            life.due_us = numbers[0]
        else:
            life.ended, life.leased = True, False
            del self.live[life.queue][life.seq]
        return life

    def latest(self, count: int) -> list[Life]:
        """Those to whom something happened last, be they over or not."""
        return sorted(self.by_seq.values(), key=Life.touched)[-count:]

    def of(self, queue: bytes) -> list[Life]:
        return list(self.live.get(queue, {}).values())
