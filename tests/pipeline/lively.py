"""A lively day: queues of four dialects, two rush hours, an outage in the afternoon, dead letters, something stuck.

python -m tests.pipeline.lively DIR      writes it as an archive, to look at what the pipeline makes of it
"""

from __future__ import annotations

import heapq
import math
import random
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import NamedTuple

from penstock.model import facts
from tests.pipeline.histories import GLOVEBOX, SECOND, History, Live, cut, write_archive

MIDNIGHT_US = int(datetime(2026, 1, 2, tzinfo=UTC).timestamp()) * SECOND
HOUR = 3_600 * SECOND
DAY = 24 * HOUR
OUTAGE = (13.2, 14.1)  # hours in which most work fails
ETZEL, PINPRIQ, DEFERRED = 1, 2, 3


class Plant(NamedTuple):
    """A queue and those who work on it."""

    queue: str
    dialect: int
    per_hour: float  # messages, at its best
    workers: int
    work_s: float  # in the middle
    fails: float  # of tries, on a good day
    attempts: int
    takes: bool = False  # there is no lease
    suffers: bool = False  # from the outage


PLANTS = (
    Plant("orders", DEFERRED, 260, 2, 22.0, 0.03, 4, suffers=True),
    Plant("mails", GLOVEBOX, 180, 1, 12.0, 0.05, 5, suffers=True),
    Plant("thumbnails", ETZEL, 80, 1, 40.0, 0.01, 3),
    Plant("metrics", PINPRIQ, 200, 2, 0.0, 0.0, 1, takes=True),
    Plant("billing <nightly> & co", GLOVEBOX, 12, 1, 120.0, 0.08, 3),
)


class Day:
    """Events in the order of time; each may cause others."""

    def __init__(self, seed: int) -> None:
        self.history = History()
        self.history.now_us = MIDNIGHT_US
        self.history.facts[0]["at_us"] = MIDNIGHT_US
        self.rng = random.Random(seed)
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._order = count()
        self._ready: dict[str, list[Live]] = {}
        self._idle: dict[str, int] = {}
        self.numbers = {plant.queue: self.history.declare(plant.queue) for plant in PLANTS}
        self.dead = self.history.declare("orders.dead")

    def at(self, at_us: int, event: Callable[[], None]) -> None:
        heapq.heappush(self._events, (at_us, next(self._order), event))

    def live(self) -> History:
        for plant in PLANTS:
            self._ready[plant.queue], self._idle[plant.queue] = [], plant.workers
            self._publish_next(plant, MIDNIGHT_US)
        while self._events and self._events[0][0] < MIDNIGHT_US + DAY:
            at_us, _, event = heapq.heappop(self._events)
            self.history.now_us = at_us
            event()
        return self.history

    def hour(self) -> float:
        return (self.history.now_us - MIDNIGHT_US) / HOUR

    # -- publishing

    def _publish_next(self, plant: Plant, after_us: int) -> None:
        hour = (after_us - MIDNIGHT_US) / HOUR
        per_us = plant.per_hour * busy(hour) / HOUR
        self.at(after_us + int(self.rng.expovariate(per_us)) + 1, lambda: self._publish(plant))

    def _publish(self, plant: Plant) -> None:
        body = self.rng.randbytes(self.rng.choice((40, 200, 900)))
        ttl_us = 2 * HOUR if plant.queue == "thumbnails" else None
        message = self.history.publish(self.numbers[plant.queue], body, 0, ttl_us, dialect=plant.dialect)
        self._ready[plant.queue].append(message)
        self._publish_next(plant, self.history.now_us)
        self._hand_out(plant)

    # -- working

    def _hand_out(self, plant: Plant) -> None:
        ready = self._ready[plant.queue]
        while ready and self._idle[plant.queue]:
            message = ready.pop(0)
            if message.expires_us is not None and message.expires_us <= self.history.now_us:
                self.history.expire(message)
            elif plant.takes:
                self.history.take(message)
            else:
                self._idle[plant.queue] -= 1
                self._lease(plant, message)

    def _lease(self, plant: Plant, message: Live) -> None:
        holder = 7 + self._idle[plant.queue] if plant.dialect == GLOVEBOX else 0
        self.history.lease(message, 900 * SECOND, holder, plant.dialect)
        us = int(plant.work_s * math.exp(self.rng.gauss(0, 0.6)) * SECOND)
        stuck = plant.queue == "thumbnails" and self.hour() > 22.5 and message.attempt == 1 and self.rng.random() < 0.1
        if not stuck:
            self.at(self.history.now_us + us, lambda: self._worked(plant, message))

    def _worked(self, plant: Plant, message: Live) -> None:
        self._idle[plant.queue] += 1
        out = plant.suffers and OUTAGE[0] <= self.hour() < OUTAGE[1]
        if self.rng.random() >= (0.85 if out else plant.fails):
            self.history.finish(message)
        elif message.attempt >= plant.attempts:
            self.history.drop(message, self.dead if plant.queue == "orders" else None)
        else:
            self._come_back(plant, message)
        self._hand_out(plant)

    def _come_back(self, plant: Plant, message: Live) -> None:
        delay_us = 30 * SECOND * 2**message.attempt
        reason = self.rng.choice((facts.FAILED, facts.TIMED_OUT))
        self.history.release(message, reason, delay_us)
        self.at(self.history.now_us + delay_us, lambda: self._again(plant, message))

    def _again(self, plant: Plant, message: Live) -> None:
        self._ready[plant.queue].append(message)
        self._hand_out(plant)


def busy(hour: float) -> float:
    """Quiet nights, rushes at ten and at seven."""
    return 0.08 + math.exp(-(((hour - 10) / 2.2) ** 2)) + 0.8 * math.exp(-(((hour - 19) / 1.6) ** 2))


def lively_day(seed: int = 1) -> History:
    return Day(seed).live()


if __name__ == "__main__":
    rows = lively_day().facts
    write_archive(Path(sys.argv[1]), cut(rows, len(rows) // 2))
    print(f"{len(rows):,} facts")
