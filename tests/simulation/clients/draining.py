"""Those who come last and take everything that is left."""

from __future__ import annotations

from tests.simulation.clients.client import World
from tests.simulation.clients.glovebox import GloveboxClient
from tests.simulation.clients.pinpriq import PinpriqClient


class Taker(GloveboxClient):
    """Pops whatever can be chosen."""

    def take_all(self) -> None:
        self.meet()
        for queue, lives in self.laws.lives.live.items():
            for _ in lives:
                self.pop(queue, 0)


class Mate(PinpriqClient):
    """Comes for those that are parked, with a packet of the same key: it takes them along."""

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        self.subscribes = False

    def come(self) -> None:
        self.meet()
        for queue, lives in self.laws.lives.live.items():
            for key in dict.fromkeys([life.fact.key or b"" for life in lives.values()]):
                self.push(queue, key, 1, 0)

    def take_all(self) -> None:
        self.meet()
        for queue, lives in self.laws.lives.live.items():
            for _ in lives:
                self.pop(queue)
