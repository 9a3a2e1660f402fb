"""The same tables in plain Python: one fact after the other, as slowly as one can. It knows nothing of Spark."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from typing import Any

from penstock.dialects.table import NAMES
from penstock.model import facts
from penstock.model.facts import FACT_NAMES, REASON_NAMES
from tests.pipeline.histories import Fact

MINUTE = 60_000_000
ENDS = {facts.FINISHED, facts.DROPPED, facts.EXPIRED, facts.DELETED}

Row = dict[str, Any]


class Message:
    """What is known of one message, after the facts so far."""

    def __init__(self, fact: Fact) -> None:
        self.published = fact
        self.facts: list[Fact] = []
        self.ready_at_us = 0
        self.first_ready_at_us: int | None = None
        self.attempts: list[Row] = []
        self.waits: list[tuple[int, int]] = []  # ready, over
        self.end: Fact | None = None
        self.dead_letter: int | None = None

    @property
    def open_attempt(self) -> Row | None:
        return self.attempts[-1] if self.attempts and self.attempts[-1]["ended_at_us"] is None else None

    def tell(self, fact: Fact) -> None:
        self.facts.append(fact)
        code = fact["fact_code"]
        taken = code == facts.FINISHED and fact["reason_code"] == facts.TAKEN
        if code == facts.LEASED or taken:
            self._delivered(fact)
        if code in ENDS or code == facts.RELEASED:
            self._over(fact)
        if code in (facts.PUBLISHED, facts.RELEASED) or (code == facts.EXTENDED and self.open_attempt is None):
            self._waits(fact)
        elif code == facts.EXTENDED and self.open_attempt is not None:
            self.open_attempt["extensions"] += 1
            self.open_attempt["until_us"] = fact.get("until_us")
        if code in ENDS:
            self.end = fact

    def _waits(self, fact: Fact) -> None:
        self.ready_at_us = max(fact["due_at_us"], fact["at_us"])
        if not self.attempts:
            self.first_ready_at_us = self.ready_at_us

    def _delivered(self, fact: Fact) -> None:
        self.waits.append((self.ready_at_us, fact["at_us"]))
        self.attempts.append(
            {
                "message_seq": fact["message_seq"],
                "attempt": fact["attempt"],
                "queue_id": fact["queue_id"],
                "queue": fact["queue"],
                "dialect": fact["dialect"],
                "holder": fact["holder"],
                "ready_at_us": self.ready_at_us,
                "leased_at_us": fact["at_us"],
                "until_us": fact.get("until_us"),
                "ended_at_us": None,
                "ended": None,
                "reason": None,
                "wait_us": fact["at_us"] - self.ready_at_us,
                "work_us": None,
                "extensions": 0,
            }
        )

    def _over(self, fact: Fact) -> None:
        attempt = self.open_attempt
        if attempt is None:
            self.waits.append((self.ready_at_us, fact["at_us"]))
            return
        attempt |= {
            "ended_at_us": fact["at_us"],
            "ended": FACT_NAMES[fact["fact_code"]],
            "reason": REASON_NAMES[fact["reason_code"]],
            "work_us": fact["at_us"] - attempt["leased_at_us"],
        }


def messages(history: Iterable[Fact]) -> dict[int, Message]:
    found: dict[int, Message] = {}
    for fact in history:
        if not facts.PUBLISHED <= fact["fact_code"] <= facts.DELETED:
            continue
        if fact["fact_code"] == facts.PUBLISHED:
            found[fact["message_seq"]] = Message(fact)
            if fact.get("dead_of"):
                found[fact["dead_of"]].dead_letter = fact["message_seq"]
        found[fact["message_seq"]].tell(fact)
    return found


def attempts(history: Iterable[Fact]) -> list[Row]:
    return [attempt for message in messages(history).values() for attempt in message.attempts]


def lives(history: Iterable[Fact]) -> list[Row]:
    return [_life(message) for message in messages(history).values()]


def _life(message: Message) -> Row:
    published, end = message.published, message.end
    counts = Counter(fact["fact_code"] for fact in message.facts)
    return {
        "message_seq": published["message_seq"],
        "queue_id": published["queue_id"],
        "queue": published["queue"],
        "outcome": "open" if end is None else end["fact"],
        "reason": None if end is None else end["reason"],
        "published_at_us": published["at_us"],
        "first_ready_at_us": message.first_ready_at_us,
        "first_leased_at_us": message.attempts[0]["leased_at_us"] if message.attempts else None,
        "last_leased_at_us": message.attempts[-1]["leased_at_us"] if message.attempts else None,
        "ended_at_us": None if end is None else end["at_us"],
        "expires_at_us": published["expires_at_us"],
        "deliveries": len(message.attempts),
        "retries": counts[facts.RELEASED],
        "failures": sum(fact["failure"] for fact in message.facts),
        "extensions": counts[facts.EXTENDED],
        "wait_us": sum(attempt["wait_us"] for attempt in message.attempts),
        "work_us": sum(attempt["work_us"] or 0 for attempt in message.attempts),
        "life_us": None if end is None else end["at_us"] - published["at_us"],
        "dialect": published["dialect"],
        "dialects": [NAMES[code] for code in sorted({fact["dialect_code"] for fact in message.facts})],
        "principal": published.get("principal"),
        "priority": published["priority"],
        "parked": published["parked"],
        "dead_of": published.get("dead_of"),
        "dead_letter": message.dead_letter,
        "size": published["size"],
        "journal_bytes": sum(fact["journal_bytes"] for fact in message.facts),
        "facts": len(message.facts),
    }


def bucket(us: int) -> int:
    return math.floor(math.log(us) * 20) if us >= 1 else -1


def percentile(histogram: dict[int, int] | None, p: float) -> int | None:
    if not histogram:
        return None
    rank = math.ceil(p * sum(histogram.values()))
    for found in sorted(histogram):
        rank -= histogram[found]
        if rank <= 0:
            return 0 if found == -1 else math.floor(math.exp((found + 0.5) / 20) + 0.5)
    raise AssertionError(histogram)


# column -> which facts it counts
COUNTED: dict[str, Callable[[Fact], bool]] = {
    "published": lambda fact: fact["fact_code"] == facts.PUBLISHED,
    "delivered": lambda fact: fact["fact_code"] == facts.LEASED or fact["reason_code"] == facts.TAKEN,
    "finished": lambda fact: fact["fact_code"] == facts.FINISHED,
    "retried": lambda fact: fact["fact_code"] == facts.RELEASED,
    "failed": lambda fact: fact["failure"],
    "dropped": lambda fact: fact["fact_code"] == facts.DROPPED,
    "expired": lambda fact: fact["fact_code"] == facts.EXPIRED,
    "deleted": lambda fact: fact["fact_code"] == facts.DELETED,
}


def minute_of(us: int) -> int:
    return us // MINUTE * MINUTE


def queue_minutes(history: Sequence[Fact]) -> list[Row]:
    known = messages(history)
    rows: dict[tuple[int, int], Row] = {}
    names = {fact["queue_id"]: fact["queue"] for fact in history if fact["queue_id"]}
    for fact in history:
        if fact["queue_id"]:
            row = rows.setdefault((fact["queue_id"], minute_of(fact["at_us"])), _empty_minute())
            for name, counts in COUNTED.items():
                row[name] += counts(fact)
            row["published_bytes"] += fact["size"]
    for key, waits, works in _timed(known.values()):
        rows[key]["wait_histogram"] = waits or None
        rows[key]["work_histogram"] = works or None
    now_us = history[-1]["at_us"]
    for key, age_us in _oldest(known.values(), now_us).items():
        rows.setdefault(key, _empty_minute())["oldest_ready_age_us"] = age_us
    return [_finished_minute(names, key, row) for key, row in _with_backlog(rows)]


def _empty_minute() -> Row:
    counts: Row = dict.fromkeys([*COUNTED, "published_bytes"], 0)
    return counts | {"wait_histogram": None, "work_histogram": None, "oldest_ready_age_us": None}


def _timed(known: Iterable[Message]) -> list[tuple[tuple[int, int], dict[int, int], dict[int, int]]]:
    waits: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    works: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    for message in known:
        for attempt in message.attempts:
            queue = attempt["queue_id"]
            waits[queue, minute_of(attempt["leased_at_us"])][bucket(attempt["wait_us"])] += 1
            if attempt["work_us"] is not None:
                works[queue, minute_of(attempt["ended_at_us"])][bucket(attempt["work_us"])] += 1
    return [(key, dict(waits.get(key, {})), dict(works.get(key, {}))) for key in {*waits, *works}]


def _oldest(known: Iterable[Message], now_us: int) -> dict[tuple[int, int], int]:
    """By looking at the end of every minute at every message."""
    ages: dict[tuple[int, int], int] = {}
    for message in known:
        if message.published["parked"]:
            continue
        waits = list(message.waits)
        if message.end is None and message.open_attempt is None:
            waits.append((message.ready_at_us, now_us + 1))
        for ready_us, over_us in waits:
            for minute in range(minute_of(ready_us), now_us + 1, MINUTE):
                end_us = min(minute + MINUTE - 1, now_us)
                if ready_us <= end_us < over_us:
                    key = (message.published["queue_id"], minute)
                    ages[key] = max(ages.get(key, 0), end_us - ready_us)
    return ages


def _with_backlog(rows: dict[tuple[int, int], Row]) -> list[tuple[tuple[int, int], Row]]:
    backlog: Counter[int] = Counter()
    for (queue, _), row in sorted(rows.items()):
        ended = sum(row[name] for name in ("finished", "dropped", "expired", "deleted"))
        backlog[queue] += row["published"] - ended
        row["backlog"] = backlog[queue]
    return sorted(rows.items())


def _finished_minute(names: dict[int, str], key: tuple[int, int], row: Row) -> Row:
    queue, minute = key
    percentiles = {
        f"{kind}_p{p}_us": percentile(row[f"{kind}_histogram"], p / 100)
        for kind in ("wait", "work")
        for p in (50, 95, 99)
    }
    return {"queue_id": queue, "queue": names[queue], "minute_us": minute} | row | percentiles


def costs(history: Iterable[Fact]) -> list[Row]:
    rows: dict[tuple[int, int, str], Row] = {}
    names: dict[int, str] = {}
    for fact in history:
        queue = fact["queue_id"]
        if not queue:
            continue
        names[queue] = fact["queue"]
        day = fact["at_us"] // 86_400_000_000
        fields = ("messages", "body_bytes", "deliveries", "redeliveries", "facts", "journal_bytes")
        row = rows.setdefault((day, queue, fact["dialect"]), dict.fromkeys(fields, 0))
        delivered = COUNTED["delivered"](fact)
        row["messages"] += fact["fact_code"] == facts.PUBLISHED
        row["body_bytes"] += fact["size"]
        row["deliveries"] += delivered
        row["redeliveries"] += delivered and fact["attempt"] > 1
        row["facts"] += 1
        row["journal_bytes"] += fact["journal_bytes"]
    return [
        {"date": date(1970, 1, 1) + timedelta(days=day), "queue_id": queue, "queue": names[queue], "dialect": dialect}
        | row
        for (day, queue, dialect), row in rows.items()
    ]


def places(history: Iterable[Fact], at_us: int) -> dict[str, Counter[str]]:
    """What each queue held at a moment, in the words of a server's counts."""
    past = [fact for fact in history if fact["at_us"] <= at_us]
    held: dict[str, Counter[str]] = defaultdict(Counter)
    for fact in past:
        if fact["queue_id"]:
            held[fact["queue"]].update([name for name, counts in COUNTED.items() if counts(fact)])
    for message in messages(past).values():
        if message.end is None:
            held[message.published["queue"]][_place(message, at_us)] += 1
            held[message.published["queue"]]["body_bytes"] += message.published["size"]
    return held


def _place(message: Message, at_us: int) -> str:
    if message.open_attempt is not None:
        return "leased"
    if message.ready_at_us > at_us:
        return "delayed"
    return "parked" if message.published["parked"] else "ready"
