"""Clients of `pinpriq`: pushers that pop, and subscribers that are sent what comes. Taking is finishing here."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

from tests.dialects.fuzz_pinpriq import READY, pop, push, subscribe
from torture.crowd.history import BODY, History, Life
from torture.crowd.talk import Talk

QUEUE = b"default"
NOWHERE = b"nowhere"  # a pop of it takes nothing, and tells when it is answered
PRIORITIES = (1, 1, 2, 255)
PARKED = 0
TTLS_MS = (0, 0, 0, 200, 1_000)
PARKED_TTL_MS = 1_000  # what is parked leaves with its key, or in time
PUSHES_MAX = 8
POPS_MAX = 4  # of each that is not answered nobody knows what it had
CREDITS_MAX = 3

Packet = tuple[bytes, bytes]  # key, payload


class Taker(Talk):
    """Reads answers: packets, the chosen one and those of the same key."""

    dialect = "pinpriq"

    def hear(self, now_s: float) -> None:
        while (packets := self._answer()) is not None:
            self.row.popleft()(packets, now_s)

    def _answer(self) -> list[Packet] | None:
        """None: it is not all there."""
        data, packets, at = self.data, [], 2
        if len(data) < at:
            return None
        for _ in range(int.from_bytes(data[:2], "big")):
            key, end = at + 4, at + 4 + int.from_bytes(data[at : at + 2], "big")
            last = end + int.from_bytes(data[at + 2 : at + 4], "big")
            if len(data) < max(last, key):
                return None
            packets.append((data[key:end], data[end:last]))
            at = last
        self.data = data[at:]
        return packets

    def take(self, sent_s: float) -> None:
        """One is asked for."""
        self.history.taking(self.dialect)

        def told(packets: Sequence[Packet], now_s: float) -> None:
            self.history.take_answered(self.dialect)
            for key, payload in packets:
                self.history.taken(self.id(b""), payload, sent_s, now_s)
                self._judge_key(key, payload)

        self.row.append(told)

    def _judge_key(self, key: bytes, payload: bytes) -> None:
        life = self.history.lives.get(payload)
        if life is not None and key != (life.key or b""):
            self.history.breaks(BODY, f"the key of {payload[:60]!r} was {life.key!r}, is {key!r}")


class Pusher(Taker):
    """A push has no answer, but that of the pop behind it waits for all that was pushed before."""

    def __init__(self, port: int, history: History, name: str, random: random.Random) -> None:
        super().__init__(port, history, name, random)
        self._keys = (b"", *[f"{name} {number}".encode() for number in range(3)])
        self._pushed: list[Life] = []

    def go_on(self) -> None:
        now_s = time.monotonic()
        pushes = [self._push(now_s) for _ in range(self.random.randint(1, PUSHES_MAX))]
        self.row.append(self._all_there)
        pops = self.random.randint(0, POPS_MAX) if self.history.finals else 0
        for _ in range(pops):
            self.take(now_s)
        self.send(b"".join([*pushes, pop(NOWHERE), *[pop(QUEUE)] * pops]))

    def _push(self, now_s: float) -> bytes:
        body = self.any_body()
        key = self.random.choice(self._keys) if self.random.random() < 0.4 else body[:100]
        parked = self.history.finals and self.random.random() < 0.1
        ttl_ms = self._ttl_ms(parked)
        life = self.publishing(body, now_s)
        life.key = key
        if ttl_ms:
            life.ttl_s = ttl_ms / 1_000
            life.may_expire_s = now_s + life.ttl_s
        self._pushed.append(life)
        return push(QUEUE, ttl_ms, PARKED if parked else self.random.choice(PRIORITIES), key, body)

    def _ttl_ms(self, parked: bool) -> int:
        if not self.history.finals:
            return 0
        return PARKED_TTL_MS if parked else self.random.choice(TTLS_MS)

    def _all_there(self, packets: Sequence[Packet], now_s: float) -> None:
        for life in self._pushed:
            self.published(life)
        self._pushed.clear()


class Subscriber(Taker):
    """Is sent what comes, as much of it as it says it is ready for."""

    def __init__(self, port: int, history: History, name: str, random: random.Random) -> None:
        super().__init__(port, history, name, random)
        self.send(subscribe(QUEUE))

    def go_on(self) -> None:
        credits = self.random.randint(1, CREDITS_MAX)
        for _ in range(credits):
            self.take(time.monotonic())
        self.send(READY * credits)
