"""The crowd of one server's life: clients of every dialect at once, on the same messages, noting what they are told."""

from __future__ import annotations

import random
from collections.abc import Mapping

from torture.crowd.askers import Asker
from torture.crowd.clients import Client, Driven
from torture.crowd.fetchers import Fetcher
from torture.crowd.gloves import Bincode, Json
from torture.crowd.history import History
from torture.crowd.posters import Poster, Worker
from torture.crowd.pushers import Pusher, Subscriber

SPEAKS = ("deferred", "glovebox", "pinpriq", "etzel", "rsmq")
EACH = 2  # clients of each kind


def crowd(ports: Mapping[str, int], history: History, chance: random.Random, name: str) -> list[Driven]:
    """For `drive`; `name` is told apart from every other crowd's on the same messages."""
    clients: list[Driven] = []
    for number in range(EACH):
        known = f"{name}.{number}"
        clients += [
            Client(ports["deferred"], history, f"{known}d", chance),
            Poster(ports["glovebox"], history, f"{known}p", chance, Json()),
            Worker(ports["glovebox"], history, f"{known}j", chance, Json()),
            Worker(ports["glovebox"], history, f"{known}b", chance, Bincode()),
            Pusher(ports["pinpriq"], history, f"{known}q", chance),
            Fetcher(ports["etzel"], history, f"{known}e", chance),
            Asker(ports["rsmq"], history, f"{known}r", chance),
        ]
    if history.finals:
        clients.append(Subscriber(ports["pinpriq"], history, f"{name}.s", chance))
    return clients
