"""What clients of all dialects asked and were told, and what must follow from it whatever happened to the server.

A message is known by its body, for every dialect has ids of its own: an id is the dialect's name, a space, and what
the dialect shows. Times are the client's own monotonic clock. A request that was sent may have taken effect; one that
was answered has.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass, field

CLOCK_SLACK_S = 0.002  # the server's time has microseconds, its clock starts from another source
SHORTEST_S = 1.0  # of the leases that clients ask for
WITH_MATES = "pinpriq"  # a take in it has all of one key

LOST = "lost"
RESURRECTED = "resurrected"
EARLY = "early"
TWICE = "twice at once"
DUPLICATE = "unexplained duplicate"
BODY = "wrong body"
TABLES = "table difference"
KINDS = (LOST, RESURRECTED, EARLY, TWICE, DUPLICATE, BODY, TABLES)


@dataclass(eq=False)
class Life:
    """One message, as its clients know it."""

    body: bytes
    due_s: float  # not to be seen before
    dialect: str = ""  # that published it
    key: bytes | None = None
    lease_s: float = 0.0  # its own; 0: the queue's
    ttl_s: float = math.inf
    may_expire_s: float = math.inf  # it may be gone from then on
    must_expire_s: float = math.inf  # and is, from then on
    ids: dict[str, bytes] = field(default_factory=dict)  # by dialect
    published: bool = False  # told so
    finish_sent: bool = False
    contested: bool = False  # more than one has asked to finish it
    finished: bool = False  # told so, or taken
    gone_s: float = math.inf  # somebody was told then that it is finished
    held_until_s: float = 0.0  # nobody else may have it before
    releases: int = 0  # asked for, and not answered
    told_s: list[float] = field(default_factory=list)  # its deliveries


@dataclass
class History:
    """All lives, and every law that was broken.

    `stage` is what promises something: what is told before it does not. With `finals` clients take for good as well,
    and messages expire; then it is in doubt what has become of a message as long as a take is not answered.
    """

    lease_s: float
    stage: str = "sync"
    finals: bool = False
    lives: dict[bytes, Life] = field(default_factory=dict)
    by_id: dict[bytes, Life] = field(default_factory=dict)
    abroad: dict[str, list[Life]] = field(default_factory=dict)  # by dialect: held in another, to be finished there
    takes: Counter[str] = field(default_factory=Counter)  # by dialect: asked for, and not answered
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)  # what was told, in which dialect
    broken: list[str] = field(default_factory=list)
    answers: int = 0

    def breaks(self, kind: str, words: str) -> None:
        self.broken.append(f"{kind}: {words}")

    # -- publishing

    def publishing(self, body: bytes, delay_s: float, now_s: float) -> Life:
        life = self.lives[body] = Life(body, now_s + delay_s)
        return life

    def published(self, life: Life, id: bytes) -> None:
        """Told that it is there, and by which id, if the dialect says so."""
        self.posted(life)
        if id:
            self.named(life, id)

    def posted(self, life: Life) -> None:
        """Told how far it has come, at each stage that was asked for."""
        self.answers += 1
        self.counts["published", life.dialect] += not life.published
        life.published = True
        life.must_expire_s = min(life.must_expire_s, time.monotonic() + life.ttl_s)

    def named(self, life: Life, id: bytes) -> None:
        """A message has one id in each dialect, and an id is one message's."""
        dialect, _, shown = id.partition(b" ")
        if life.ids.setdefault(dialect.decode(), shown) != shown:
            self.breaks(DUPLICATE, f"{life.body[:60]!r} is {life.ids[dialect.decode()]!r} and {id!r}")
        if shown and self.by_id.setdefault(id, life) is not life:
            self.breaks(BODY, f"{id!r} was {self.by_id[id].body[:60]!r}, is {life.body[:60]!r}")

    # -- handing out

    def delivered(self, id: bytes, body: bytes, sent_s: float, now_s: float) -> Life | None:
        """A request, sent at `sent_s`, was answered with this message."""
        self.answers += 1
        life = self.lives.get(body)
        if life is None:
            self.breaks(BODY, f"nobody published {body[:60]!r}, {len(body)} bytes, given out as {id!r}")
            return None
        self.named(life, id)
        self._judge_delivery(life, id, sent_s, now_s)
        self.counts["delivered", id.partition(b" ")[0].decode()] += 1
        life.told_s.append(now_s)
        life.held_until_s = sent_s + (life.lease_s or self.lease_s)
        return life

    def _judge_delivery(self, life: Life, id: bytes, sent_s: float, now_s: float) -> None:
        words = f"{life.body[:60]!r}, published in {life.dialect}, given out as {id!r}"
        if sent_s > life.gone_s:
            self.breaks(RESURRECTED, f"{words}: it was finished {sent_s - life.gone_s:.4f} s before that was asked for")
        if sent_s > life.must_expire_s + CLOCK_SLACK_S:
            self.breaks(RESURRECTED, f"{words}: it had expired {sent_s - life.must_expire_s:.4f} s before")
        if now_s < life.due_s - CLOCK_SLACK_S:
            self.breaks(EARLY, f"{words}: by {life.due_s - now_s:.4f} s")
        if now_s < life.held_until_s - CLOCK_SLACK_S and not life.releases and not is_older(life, sent_s):
            self.breaks(TWICE, f"{words}: {life.held_until_s - now_s:.3f} s before its lease ended")

    def counted(self, life: Life, deliveries: int, sent_s: float) -> None:
        """The server says how often it has been handed out: at least as often as was told before it was asked."""
        known = 1 + sum(told_s < sent_s for told_s in life.told_s[:-1])
        if deliveries < known:
            self.breaks("deliveries", f"{life.body[:60]!r} was handed out {known} times, is said to be {deliveries}")

    def taking(self, dialect: str) -> None:
        self.takes[dialect] += 1

    def take_answered(self, dialect: str) -> None:
        """With a message or without."""
        self.answers += 1
        self.takes[dialect] -= 1

    def taken(self, id: bytes, body: bytes, sent_s: float, now_s: float) -> None:
        """Handed out and finished in one."""
        life = self.delivered(id, body, sent_s, now_s)
        if life is not None:
            self.finishing(life)
            self.finished(life)
            self.counts["finished", id.partition(b" ")[0].decode()] += 1

    # -- finishing

    def finishing(self, life: Life) -> None:
        life.contested = life.contested or life.finish_sent
        life.finish_sent = True

    def finished(self, life: Life) -> None:
        """What was asked for before that may have been handed out before it: answers are read in any order."""
        self.answers += 1
        life.finished = True
        life.gone_s = min(life.gone_s, time.monotonic())

    def finish_refused(self, life: Life, now_s: float) -> None:
        """Legal only once the lease may have ended: the asker's, if the message was handed out again since, or where
        another finish may have counted."""
        self.answers += 1
        again = len(life.told_s) > 1
        if now_s < life.held_until_s - CLOCK_SLACK_S and not life.contested and not again:
            self.breaks(LOST, f"{life.body[:60]!r} was held, and unknown when it was to be finished")

    def noticed(self, life: Life, now_s: float) -> None:
        """Its poster is told that it is finished."""
        self.finishing(life)
        self.answers += 1
        life.gone_s = min(life.gone_s, now_s)

    # -- giving back

    def releasing(self, life: Life) -> None:
        """From now on somebody else may have it."""
        life.releases += 1
        life.held_until_s = life.due_s = 0.0

    def released(self, life: Life, due_s: float) -> None:
        """It is not due before; what was handed out meanwhile may be what was given back."""
        self.release_refused(life)
        life.held_until_s = 0.0
        life.due_s = due_s

    def extended(self, life: Life, until_s: float) -> None:
        """It was not given back but is held for longer: nobody has it before."""
        self.release_refused(life)
        life.held_until_s = until_s

    def release_refused(self, life: Life) -> None:
        self.answers += 1
        life.releases -= 1

    # -- the end

    def outstanding(self) -> list[Life]:
        """Told published, nobody ever asked to finish it, and its time is not over: these must still be there."""
        now_s = time.monotonic()
        return [
            life
            for life in self.lives.values()
            if life.published and not life.finish_sent and now_s < life.may_expire_s
        ]

    def drained(self, seen: set[bytes]) -> None:
        """Everything that was left has been delivered and finished; `seen` are their bodies."""
        missing = [life for life in self.outstanding() if life.body not in seen]
        for life in self.unexplained(missing):
            self.breaks(LOST, f"{life.body[:60]!r}, published in {life.dialect}")

    def unexplained(self, missing: list[Life]) -> list[Life]:
        """A take whose answer nobody heard may have had one of them, or all of one key; the others are lost."""
        by_key: dict[bytes | int, list[Life]] = {}
        for life in missing:
            by_key.setdefault(id(life) if life.key is None else life.key, []).append(life)
        groups = sorted(by_key.values(), key=len, reverse=True)
        rest = [life for group in groups[self.takes[WITH_MATES] :] for life in group]
        return rest[self.takes.total() - self.takes[WITH_MATES] :]


def is_older(life: Life, sent_s: float) -> bool:
    """This delivery may be one before the last, and over by then: answers are read in any order."""
    return life.told_s[-1:] >= [sent_s + SHORTEST_S]


def tally(broken: tuple[str, ...]) -> dict[str, int]:
    """How often each law was broken, and `other` for what has no column."""
    kinds = Counter(line.partition(":")[0] for line in broken)
    return {kind: kinds[kind] for kind in KINDS} | {"other": sum(kinds.values()) - sum(kinds[kind] for kind in KINDS)}
