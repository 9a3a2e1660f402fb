"""The crowd of one server's life: clients of every dialect at once, on the same messages, noting what they are told."""

from __future__ import annotations

import random
from collections.abc import Mapping

from torture.clients import Client, Driven
from torture.history import History
from torture.posters import Poster

SPEAKS = ("deferred", "glovebox")
CONNECTIONS = 6
POSTERS = 2


def crowd(ports: Mapping[str, int], history: History, chance: random.Random, name: str) -> list[Driven]:
    """For `drive`; `name` is told apart from every other crowd's on the same messages."""
    names = [f"{name}.{number}" for number in range(CONNECTIONS + POSTERS)]
    clients = [Client(ports["deferred"], history, name, chance) for name in names[:CONNECTIONS]]
    posters = [Poster(ports["glovebox"], history, name, chance) for name in names[CONNECTIONS:]]
    return [*clients, *posters]
