"""A client of `pinpriq`: packets. One either pops or subscribes, for an answer does not say which of them it is to."""

from __future__ import annotations

from struct import pack, unpack_from

from tests.simulation.breaking import Broken, law
from tests.simulation.clients.client import Asked, Client, World
from tests.simulation.judge import Wish
from tests.simulation.laws import Since
from tests.simulation.lives import Life
from tests.simulation.network import Mark

KEYS = (b"k", b"k", b"l", b"")
PRIORITIES = (0, 0, 1, 1, 2, 200)
TTLS_MS = (0, 0, 0, 0, 500, 20_000)


class PinpriqClient(Client):
    dialect = "pinpriq"

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        self.subscribes = self.dice.random() < 0.4
        self._subscribed: dict[bytes, None] = {}
        self._credits: list[Since] = []
        self._pushes: list[Wish] = []

    def greet(self) -> None:
        self._subscribed, self._credits, self._pushes = {}, [], []

    def act(self) -> None:
        choice = self.dice.random()
        queue = self.queue()
        if choice < 0.4:
            priority, ttl_ms = self.dice.choice(PRIORITIES), self.dice.choice(TTLS_MS)
            self.push(queue, self.dice.choice(KEYS), priority, ttl_ms)
        elif not self.subscribes:
            self.pop(queue)
        elif choice < 0.7:
            self._credits.append(self.since())
            self.say(b"\x41")
        elif choice < 0.95:
            self._subscribed[queue] = None
            self.say(pack(">BH", 0x73, len(queue)) + queue)
        else:
            self._subscribed.pop(queue, None)
            self.say(pack(">BH", 0x75, len(queue)) + queue)

    def push(self, queue: bytes, key: bytes, priority: int, ttl_ms: int) -> None:
        wish = Wish(queue, self.body(), ttl_us=ttl_ms * 1_000, key=key, parked=priority == 0)
        wish.priority = 256 - priority if priority else 0
        self.wish(wish)
        head = pack(">BHHBHH", 0x70, len(queue), ttl_ms, priority, len(key), len(wish.body))
        self.say(head + key + wish.body + queue, wish)
        self._pushes.append(wish)

    def pop(self, queue: bytes) -> None:
        self.ask("pop", queue, pack(">BH", 0x50, len(queue)) + queue)

    # -- answers

    def read(self, mark: Mark) -> bool:
        group = self._group()
        if group is None:
            return False
        if not self.subscribes:
            self._popped(self.next_asked("pop"), group, mark)
        elif not group or not self._credits:
            raise self.broken(group)
        else:
            self._given(group, self._credits.pop(0), mark)
        return True

    def _group(self) -> list[tuple[bytes, bytes]] | None:
        """Keys and bodies; None: it is not all there."""
        data, at = self.data, 2
        if len(data) < 2:
            return None
        packets = []
        for _ in range(unpack_from(">H", data)[0]):
            if len(data) < at + 4:
                return None
            key, body = unpack_from(">HH", data, at)
            at += 4 + key + body
            if len(data) < at:
                return None
            packets.append((data[at - body - key : at - body], data[at - body : at]))
        self.data = data[at:]
        return packets

    def _popped(self, asked: Asked, group: list[tuple[bytes, bytes]], mark: Mark) -> None:
        now_us = self.world.now_us()
        if not group:
            self.laws.nothing(asked.queue, asked.since, mark, now_us)
            return
        lives = [self._taken(asked.queue, packet, asked.since, mark) for packet in group]
        self.laws.best(lives[0], asked.since, mark, now_us, newest=True)
        if lives[0].fact.key is not None:
            self.laws.mates([body for _, body in group], lives[0], asked.since, mark, now_us)

    def _given(self, group: list[tuple[bytes, bytes]], since: Since, mark: Mark) -> None:
        """For the oldest credit; of which queue is not said."""
        queue = self.laws.taken_from(self.world.queues, group[0][1], since, mark)
        for packet in group:
            self._taken(queue, packet, since, mark)

    def _taken(self, queue: bytes, packet: tuple[bytes, bytes], since: Since, mark: Mark) -> Life:
        key, body = packet
        life = self.laws.delivered(queue, body, since, mark, self.world.confirm, taken=True, dialect=self.number)
        if key != (life.fact.key or b""):
            raise Broken(3, f"{body!r} has the key {life.fact.key!r}, and is given with {key!r}")
        return life

    # -- when all is quiet

    def waits_for(self) -> list[bytes]:
        return list(self._subscribed) if self._credits and not self._limited() else []

    def owes_answers(self) -> bool:
        """A push is not answered, but it must be in."""
        for wish in self._outside():
            room = not self.world.full and not self._limited()
            law(3, not room, wish, "was pushed, and is not there")
        return not self._limited() and super().owes_answers()  # where room is scarce, it may have come just now

    def stuck(self) -> bool:
        """Behind a push that finds no room, everything waits."""
        return bool(self._outside()) and (self.world.full or self._limited())

    def _outside(self) -> list[Wish]:
        return [wish for wish in self._pushes if (wish.queue, wish.body) not in self.laws.lives.by_body]

    def _limited(self) -> bool:
        return any(self.laws.rule(queue, "max_length") for queue in self.world.queues)
