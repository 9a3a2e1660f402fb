"""How the story adds up in the end: what was sent, what the journal holds of it, and what must be equal to what."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from demo.accounts import Accounts
from demo.orders import Order, all_orders
from demo.telling import ALL

COUNTED: Final = ("messages", "replayed", "handed out", "failures", "dropped", "finished")
COLUMNS: Final = ("producer", "orders", "repeated", *COUNTED)


def of_voice(orders: Iterable[Order], voice: str) -> int:
    return sum(voice in (order.voice, ALL) for order in orders)


def rows(accounts: Accounts, repeated: list[Order]) -> list[tuple[object, ...]]:
    return [
        (voice, of_voice(all_orders(), voice), of_voice(repeated, voice), *(row[column] for column in COUNTED))
        for voice, row in accounts.by_voice().items()
    ]


def checks(accounts: Accounts, told: list[Order], repeated: list[Order]) -> list[tuple[str, bool]]:
    sent = all_orders()
    total = accounts.by_voice()[ALL]
    more = {order: accounts.messages(order) - 1 for order in sent if accounts.messages(order) > 1}
    ends = total["finished"] + total["failures"] + total["given back"]
    return [
        ("every order was told as safe, once", sorted(told) == sorted(sent)),
        ("every order is finished, whatever has happened", accounts.orders("finished") == set(sent)),
        ("only what was sent twice may be there twice", all(more[o] <= repeated.count(o) for o in more)),
        (
            f"messages = orders + replayed + {sum(more.values())} that are there twice",
            total["messages"] == len(sent) + total["replayed"] + sum(more.values()),
        ),
        ("messages = finished + dropped", total["messages"] == total["finished"] + total["dropped"]),
        ("dropped = replayed", total["dropped"] == total["replayed"]),
        (f"handed out = finished + failures + {total['given back']} given back", total["handed out"] == ends),
    ]
