"""What must hold between what clients asked, what they were told, and the facts, whatever happens to the server.

Each answer is laid beside the facts that were decided between the request and the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from penstock.model import facts, stages
from penstock.model.limits import NEVER_US
from penstock.model.policy import Policy
from tests.simulation.breaking import law
from tests.simulation.judge import Judge, Wish
from tests.simulation.lives import ENDS, Event, Life
from tests.simulation.network import Mark

HEARD_US = 200_000  # whoever reads has read by then
TURNS = {facts.LEASED: "assign", facts.RELEASED: "retry", facts.FINISHED: "finish", facts.DROPPED: "drop"}


class Shown(NamedTuple):
    """An id, and the number behind it; 0: its dialect does not tell."""

    dialect: int
    id: bytes
    seq: int


@dataclass(slots=True)
class Since:
    """When something was asked: how many facts there were then, and the server's time."""

    number: int
    at_us: int


def follows(some: Sequence[str], full: Sequence[str]) -> bool:
    """They stand there in this order, whatever is between them."""
    rest = iter(full)
    return all(one in rest for one in some)


class Laws(Judge):
    def __init__(self, patterns: Sequence[tuple[bytes, Policy]], defaults: dict[int, Policy]) -> None:
        super().__init__(patterns, defaults)
        self.counts = {"published": 0, "delivered": 0, "finished": 0, "answers": 0}
        self._ids: dict[tuple[int, tuple[int, bytes, bytes]], bytes] = {}  # what messages were shown as, by dialect
        self._owners: dict[tuple[int, bytes], tuple[int, bytes, bytes]] = {}  # and the other way round

    def promise(self, number: int, stage: int, mark: Mark, *what: object) -> None:
        """Something was said that rests on this fact."""
        self.counts["answers"] += 1
        name = stages.STAGES[stage]
        law(8, number <= mark[stage], *what, "rests on fact", number, "and is told at", name, "with", mark)
        self.promised[stage] = max(self.promised[stage], number)

    def published(self, wish: Wish, since: Since, mark: Mark, stage: int, shown: Shown | None) -> None:
        lives = self.lives.by_body.get((wish.queue, wish.body), [])
        fresh = [life for life in lives if since.number < life.number <= mark.decided and not life.claimed]
        fresh = [life for life in fresh if shown is None or shown.seq in (0, life.seq)]
        once = len(fresh) == 1 or (bool(fresh) and bool(wish.dedup_id))
        law(0, once, wish, "was told to be published, and the facts have it", len(fresh), "times")
        fresh[0].claimed = True
        self.counts["published"] += 1
        self.promise(fresh[0].number, stage, mark, wish)
        if shown is not None:
            self.shown(shown, fresh[0])

    def duplicate(self, wish: Wish, mark: Mark, stage: int, shown: Shown) -> None:
        lives = [life for life in self.lives.by_body.get((wish.queue, wish.body), []) if life.number <= mark.decided]
        twins = [life for life in lives if life.seq == shown.seq]
        law(0, bool(twins), wish, "was told to be a duplicate of", shown, "and the facts have", lives)
        self.promise(twins[0].number, stage, mark, wish)
        self.shown(shown, twins[0])

    def shown(self, shown: Shown, life: Life) -> None:
        """Law: an id is one message's for ever, and a message has one id in a dialect."""
        owner = life.seq, life.queue, life.fact.body
        known = self._owners.setdefault((shown.dialect, shown.id), owner)
        law(12, known == owner, shown, "was", known, "and is", owner)
        id = self._ids.setdefault((shown.dialect, owner), shown.id)
        law(12, id == shown.id, owner, "was", id, "in", shown.dialect, "and is", shown.id)

    def shown_as(self, dialect: int, life: Life) -> bytes:
        """Empty: nobody has been shown it in this dialect."""
        return self._ids.get((dialect, (life.seq, life.queue, life.fact.body)), b"")

    def delivered(
        self,
        queue: bytes,
        body: bytes,
        since: Since,
        mark: Mark,
        stage: int,
        *,
        dialect: int,
        taken: bool,
        in_order: bool = False,
        seq: int = 0,
        deliveries: int = 0,
        failures: int = -1,
        lease_us: int = -1,
        unsaid_us: int = int(NEVER_US),
    ) -> Life:
        """Claims the fact of it: nothing is told twice that happened once.

        Of several the last that is as long as it should be, which is the lease that is under way; of those taken, which
        are twins, the first, and so where answers stand in the order of the requests. Where all are claimed, one whose
        claimer can have another.

        `seq`: the number behind its id, where the dialect has shown one; so of its counters.
        """
        lives = [life for life in self.lives.by_body.get((queue, body), []) if seq in (0, life.seq)]
        law(3, bool(lives), body, "was delivered from", queue, "as", seq, "where nobody has published it")

        def fits(event: Event) -> bool:
            counted = deliveries in (0, event.deliveries) and failures in (-1, event.failures)
            return event.dialect == dialect and event.handed(taken) and counted

        def suits(event: Event) -> bool:
            """Of the life that is chosen below; what is told may rest on it."""
            reached = since.number < event.number <= mark[stage]
            return reached and fits(event) and self._until(event, life, lease_us, unsaid_us) == event.due_us

        every = [(event, life) for life in lives for event in life.between(since.number, mark.decided) if fits(event)]
        found = [pair for pair in every if not pair[0].claimed] or self._left(every)
        law(3, bool(found), body, "was delivered between", since, "and", mark, lives)
        fitting = [pair for pair in found if self._until(*pair, lease_us, unsaid_us) == pair[0].due_us]
        event, life = (min if taken or in_order else max)(fitting or found, key=lambda pair: pair[0].number)
        event.claimed, event.suits, life.told = True, suits, event
        until_us = self._until(event, life, lease_us, unsaid_us)
        law(4, event.due_us == until_us, "the lease of", body, "ends at", event.due_us, "not at", until_us)
        self.counts["delivered"] += 1
        self.promise(event.number, stage, mark, "the delivery of", body)
        return life

    def _left(self, found: list[tuple[Event, Life]]) -> list[tuple[Event, Life]]:
        """One that its claimer can leave for another: it was told less of it."""
        for event, life in found:
            if self._claimed(life, event.suits, [event]) is not None:
                return [(event, life)]
        return []

    def taken_from(self, queues: Sequence[bytes], body: bytes, since: Since, mark: Mark) -> bytes:
        """The queue that a message was taken from which has been pushed: its dead letter may have been elsewhere."""
        for queue in queues:
            for life in self.lives.by_body.get((queue, body), []):
                if any(event.taken and not event.claimed for event in life.between(since.number, mark.decided)):
                    return queue
        return b""

    def _until(self, event: Event, life: Life, lease_us: int, unsaid_us: int) -> int:
        """When a lease should end, by call over message over queue: whoever says the length first."""
        if event.kind != facts.LEASED:
            return event.due_us
        said = (lease_us, int(life.fact.lease_us), self.rule(life.queue, "lease_us"), unsaid_us)
        expected = next(one for one in said if one >= 0)
        return int(NEVER_US) if expected >= NEVER_US else event.at_us + expected

    def best(self, life: Life, since: Since, mark: Mark, until_us: int, newest: bool) -> None:
        """Nothing that stood before it all the time was passed over."""
        assert life.told is not None
        rank = self._rank(life, life.told.number - 1)
        for other in self.lives.of(life.queue):
            if other is life or other.fact.flags & facts.PARKED_FLAG:
                continue
            if other.waited(since.number, since.at_us, mark.decided, until_us):
                theirs = self._rank(other, since.number)
                before = theirs[0] > rank[0] or (theirs[0] == rank[0] and (theirs[1:] < rank[1:]) != newest)
                law(3, not before, other.fact.body, theirs, "was passed over for", life.fact.body, rank)

    def _rank(self, life: Life, number: int) -> tuple[int, int, int]:
        return int(life.fact.number), life.due_at(number), life.seq

    def mates(self, given: Iterable[bytes], life: Life, since: Since, mark: Mark, until_us: int) -> None:
        """Of the same key none was left behind."""
        taken = set(given)
        for other in self.lives.of(life.queue):
            if other.fact.key == life.fact.key and other.waited(since.number, since.at_us, mark.decided, until_us):
                law(3, other.fact.body in taken, other.fact.body, "was left behind its mate", life.fact.body)

    def nothing(self, queue: bytes, since: Since, mark: Mark, until_us: int) -> None:
        """Told that there is nothing, though something was there all the time."""
        self.counts["answers"] += 1
        for life in self.lives.of(queue):
            if not life.fact.flags & facts.PARKED_FLAG:
                waited = life.waited(since.number, since.at_us, mark.decided, until_us)
                law(3, not waited, life.fact.body, "was ready, and", queue, "was told to be empty")

    def finished(self, life: Life, since: Since, mark: Mark, stage: int, dialect: int) -> None:
        found = [event for event in life.events if event.reason == facts.ACKNOWLEDGED and event.dialect == dialect]
        fresh = [event for event in found if since.number < event.number <= mark.decided and not event.claimed]
        law(3, len(fresh) == 1, life.fact.body, "was told to be finished, and the facts say", life.events)
        fresh[0].claimed = True
        self.counts["finished"] += 1
        self.promise(fresh[0].number, stage, mark, "the finish of", life.fact.body)

    def gone(self, life: Life, mark: Mark) -> Event:
        """Told that it is not there, by this request or long ago."""
        end = next((event for event in life.events if event.kind in ENDS), None)
        law(3, end is not None and end.number <= mark.decided, life.fact.body, "was told to be gone, and lives")
        assert end is not None
        return end

    def gone_or_finished(self, life: Life, since: Since, mark: Mark, stage: int, dialect: int) -> None:
        """Told so in a dialect that does not say which of the two: it is built on either way."""
        end = self.gone(life, mark)
        if end.number > since.number and end.reason == facts.ACKNOWLEDGED and end.dialect == dialect:
            self.counts["finished"] += 1
        self.promise(end.number, stage, mark, "the end of", life.fact.body)

    def there(self, queue: bytes, mark: Mark, stage: int) -> None:
        """Told that a queue need not be made."""
        born = self.lives.born.get(queue, mark.decided + 1)
        law(0, born <= mark.decided, queue, "was told to be there, and is not")
        self.promise(born, stage, mark, "the making of", queue)

    def moved(
        self,
        life: Life,
        kinds: tuple[int, ...],
        due_us: range,
        since: Since,
        mark: Mark,
        stage: int,
        *,
        dialect: int,
        failed: bool = False,
    ) -> None:
        """Released or extended, to a time in this range, or at its end; counted as a failure where that was said."""

        def upto(number: int) -> Callable[[Event], bool]:
            def suits(event: Event) -> bool:
                mine = event.dialect == dialect and event.failure == failed
                moved = mine and (event.kind == facts.DROPPED or (event.kind in kinds and event.due_us in due_us))
                return since.number < event.number <= number and (moved or event.kind == facts.EXPIRED)

            return suits

        claimed = self._claimed(life, upto(mark[stage]), [])
        if claimed is None:
            early = any(map(upto(mark.decided), life.events))
            what = ("was told to be moved to", due_us, failed, "with", mark, "and the facts say", life.events)
            law(8 if early else 3, False, life.fact.body, *what)
            return
        self.promise(claimed.number, stage, mark, "the move of", life.fact.body)

    def _claimed(self, life: Life, suits: Callable[[Event], bool], asked: list[Event]) -> Event | None:
        """One that nobody has claimed, or one that its claimer can leave for another, and so on: who can tell twins
        apart? But to every answer there is a fact of its own that had come far enough."""
        for event in life.events:
            if event in asked or not suits(event):
                continue
            asked.append(event)
            if not event.claimed or self._claimed(life, event.suits, asked) is not None:
                event.claimed, event.suits = True, suits
                return event
        return None

    def not_held(self, life: Life, since: Since, mark: Mark, until_us: int) -> None:
        """Told that it is not there to be finished or moved."""
        self.counts["answers"] += 1
        held = life.was_leased(since.number, since.at_us, mark.decided, until_us)
        law(3, not held, life.fact.body, "was leased, and told not to be")

    def noticed(
        self, wish: Wish, asked: Sequence[str], told: list[str], since: Since, mark: Mark, in_doubt: int = 0
    ) -> None:
        """The last of the notices that a poster was told: all of them as facts have it, in order, none twice. So many
        were, or were not, on their way when its connection was lost: of those some may be missing."""
        lives = self.lives.by_body.get((wish.queue, wish.body), [])
        law(9, len(lives) == 1, wish, "was told", told, "and the facts have it", len(lives), "times")
        life, stage = lives[0], stages.STAGES.index(told[-1])
        expected = self.notices(life, asked)
        first = life.events[0] if life.events else None
        fast = ["finish"] if first and TURNS.get(first.kind) == "finish" and first.number == life.number + 1 else []
        right = told == fast or any(
            follows(told[:at], expected[:in_doubt]) and told[at:] == expected[in_doubt:][: len(told) - at]
            for at in range(min(in_doubt, len(told)) + 1)
        )
        law(9, right, wish, "was told", told, "of", expected)
        self.promise(life.number, stage if stage <= stages.SYNC else stages.READY, mark, told, "of", wish)

    def notices(self, life: Life, asked: Sequence[str]) -> list[str]:
        """Those that facts have brought about so far."""
        turns = [TURNS[event.kind] for event in life.events if event.kind in TURNS]
        return [one for one in (*stages.STAGES[:3], *turns) if one in asked]

    def in_doubt(self, wish: Wish, asked: Sequence[str]) -> int:
        """How many notices of a post may be on their way."""
        lives = self.lives.by_body.get((wish.queue, wish.body), [])
        return max((len(self.notices(life, asked)) for life in lives), default=0)

    # -- when all is quiet

    def nothing_overdue(self, now_us: int) -> None:
        """What is due has happened: of leases and of expiry."""
        for queue in self.lives.live.values():
            for life in queue.values():
                law(5, not life.leased or life.until_us > now_us, "the lease of", life.fact.body, "is over, and lasts")
                over = not life.leased and life.fact.expires_us <= now_us
                law(5, not over, life.fact.body, "has expired, and lives")

    def ready(self, queue: bytes, now_us: int) -> list[Life]:
        """What can be had, and could be for so long that everybody has heard of it."""
        found = [life for life in self.lives.of(queue) if life.waits(now_us - HEARD_US, now_us)]
        return [life for life in found if not life.fact.flags & facts.PARKED_FLAG]
