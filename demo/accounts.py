"""What became of every order, read from the journal fact by fact, and told by voice. It asks no server and no actor."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from demo.orders import ORDERS, VOICES, Order, order_of
from demo.telling import ALL

# fact -> where it leaves a message
STATES: Final = {
    "published": "waiting",
    "leased": "leased",
    "released": "waiting",
    "finished": "finished",
    "dropped": "dropped",
}


@dataclass
class Life:
    """One message of an order; an order that was repeated, or replayed, has several."""

    order: Order
    replayed: bool
    state: str = ""
    handed_out: int = 0
    failures: int = 0
    given_back: int = 0

    def happened(self, fact: dict[str, Any]) -> None:
        self.state = STATES.get(fact["kind"], self.state)
        self.handed_out += fact["kind"] == "leased"
        self.failures += fact["failure"]
        self.given_back += fact["kind"] == "released" and not fact["failure"]


class Accounts:
    """The lives of all messages in the queue of orders."""

    def __init__(self, facts: Iterable[dict[str, Any]]) -> None:
        self._lives: dict[str, Life] = {}
        for fact in facts:
            if fact.get("queue") == ORDERS and "message" in fact:
                self._life(fact).happened(fact)

    def _life(self, fact: dict[str, Any]) -> Life:
        if fact["kind"] == "published":
            self._lives[fact["message"]] = Life(order_of(fact["body"]), "mark" in fact)
        return self._lives[fact["message"]]

    @property
    def lives(self) -> list[Life]:
        return list(self._lives.values())

    def orders(self, state: str | None = None) -> set[Order]:
        """Those that have a message, or one in this state."""
        return {life.order for life in self.lives if state in (None, life.state)}

    def id_of(self, order: Order) -> str:
        return next(id for id, life in self._lives.items() if life.order == order)

    def messages(self, order: Order) -> int:
        """How often it was published, replays apart."""
        return sum(life.order == order and not life.replayed for life in self.lives)

    def by_voice(self) -> dict[str, Counter[str]]:
        """States and sums of each voice, and of all together."""
        rows = {voice: Counter[str]() for voice in (*VOICES, ALL)}
        for life in self.lives:
            for row in (rows[life.order.voice], rows[ALL]):
                row[life.state] += 1
                row["messages"] += 1
                row["replayed"] += life.replayed
                row["handed out"] += life.handed_out
                row["failures"] += life.failures
                row["given back"] += life.given_back
        return rows


def read(dump: str) -> Accounts:
    """From the lines of `penstock journal dump --output json`."""
    return Accounts(map(json.loads, dump.splitlines()))
