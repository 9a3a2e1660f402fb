"""What a report tells, as plain data: made by a job, or by a test; turned into a page by `page`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

# Of a queue, in each slot of time.
COUNTS: Final = ("published", "delivered", "finished", "retried", "dropped", "expired", "deleted")
ENDS: Final = ("finished", "dropped", "expired", "deleted")
PERCENTS: Final = (50, 95, 99)

Percentiles = tuple[int, int, int] | None  # µs; None: there was nothing to measure


@dataclass(frozen=True)
class Span:
    """The time that is told of, in slots of equal width. Its end is not part of it."""

    from_us: int
    width_us: int
    slots: int

    @property
    def to_us(self) -> int:
        return self.from_us + self.slots * self.width_us


@dataclass
class Group:
    """One queue, several that are told as one, or all of them. Lists have a place for each slot."""

    name: str
    counts: dict[str, list[int]]
    backlog: list[int]  # live messages at each slot's end
    wait: list[Percentiles]
    work: list[Percentiles]
    oldest_us: list[int | None]  # how long the longest ready had been so, at worst
    wait_all: Percentiles = None  # of the whole time
    work_all: Percentiles = None

    def total(self, count: str) -> int:
        return sum(self.counts[count])


@dataclass(frozen=True)
class Failing:
    """What did not go well at the first try, of one queue or of one dialect."""

    name: str
    messages: int
    retries: int
    dropped: int


@dataclass(frozen=True)
class Stuck:
    kind: str  # lease, queue or holder
    queue: str
    message: int | None
    holder: int | None
    since_us: int
    age_us: int
    usual_us: int | None
    deliveries: int | None


@dataclass(frozen=True)
class Attempt:
    """A delivery. `ended_us` None: not yet."""

    ready_us: int
    leased_us: int
    ended_us: int | None
    ended: str
    reason: str
    dialect: str
    holder: int


@dataclass(frozen=True)
class Slow:
    """A message that took long, from its publish to its end."""

    message: int
    queue: str
    dialect: str
    outcome: str
    published_us: int
    ended_us: int
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def life_us(self) -> int:
        return self.ended_us - self.published_us


@dataclass
class Report:
    """`groups`: all queues together first, then each that is told of by itself, then the rest as one."""

    store: str
    made_us: int
    last_fact_us: int
    span: Span
    chosen: list[str]  # the queues that were asked for; empty: all
    published_bytes: int
    groups: list[Group]
    queues: int  # how many there are
    by_queue: list[Failing]
    by_dialect: list[Failing]
    stuck: list[Stuck]
    slowest: list[Slow]

    @property
    def whole(self) -> Group:
        return self.groups[0]
