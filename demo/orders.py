"""The orders of the story: who sends which, and what is special about each. They are the same at every telling."""

from __future__ import annotations

import random
from typing import Final, NamedTuple

ORDERS: Final = "orders"
DEAD: Final = "orders.dead"
RECEIPTS: Final = "receipts"

DELAY_S: Final = 2  # of those for later
ATTEMPTS: Final = 5
FLAKY_FAILURES: Final = 2  # the kill may cost it another one

# voice -> what can be said in it, beside the plain
VOICES: Final[dict[str, frozenset[str]]] = {
    "deferred": frozenset({"later"}),
    "pinpriq": frozenset({"urgent"}),
    "etzel": frozenset({"later"}),
    "glovebox": frozenset({"urgent"}),
    "rsmq": frozenset({"later"}),
    "Python": frozenset({"later", "urgent"}),
}

# kind -> how many each voice sends: before anybody works, and while everything happens
BEFORE: Final = {"plain": 8, "later": 4, "urgent": 4, "flaky": 2, "poison": 1}
MEANWHILE: Final = {"plain": 40, "later": 0, "urgent": 0, "flaky": 4, "poison": 1}


class Order(NamedTuple):
    voice: str
    kind: str
    number: int

    @property
    def body(self) -> str:
        return f"{self.voice} {self.kind} {self.number}"


def order_of(body: str) -> Order:
    voice, kind, number = body.split(" ")
    return Order(voice, kind, int(number))


def lot(voice: str, counts: dict[str, int], first: int) -> list[Order]:
    """Numbered from `first`, in an order of its own. What the voice cannot say is sent as a plain one."""
    kinds = [kind for kind, count in counts.items() for _ in range(count)]
    random.Random(voice).shuffle(kinds)
    said = VOICES[voice] | {"plain", "flaky", "poison"}
    return [Order(voice, kind if kind in said else "plain", first + at) for at, kind in enumerate(kinds)]


def before(voice: str) -> list[Order]:
    return lot(voice, BEFORE, 1)


def meanwhile(voice: str) -> list[Order]:
    return lot(voice, MEANWHILE, 1 + sum(BEFORE.values()))


def all_orders() -> list[Order]:
    return [order for voice in VOICES for order in (*before(voice), *meanwhile(voice))]
