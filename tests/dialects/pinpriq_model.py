"""The dialect `pinpriq` as its page says it, in the plainest way: sessions are compared with it, and share no code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NAMED = {b"P": "pop", b"s": "subscribe", b"u": "unsubscribe"}


@dataclass
class Packet:
    number: int
    queue: bytes
    key: bytes
    payload: bytes
    priority: int
    expires_ms: int | None

    def wire(self) -> bytes:
        return number(len(self.key)) + number(len(self.payload)) + self.key + self.payload


class Model:
    """One connection to an empty server. Pops are answered in order, and so are pushes; between them there is none."""

    def __init__(self) -> None:
        self.now_ms = 0
        self.closed = False
        self.popped: list[bytes] = []
        self.pushed: list[bytes] = []
        self._packets: list[Packet] = []
        self._subscribed: set[bytes] = set()
        self._credits = 0
        self._count = 0
        self._data = b""

    def state(self) -> object:
        return [(one.queue, one.key, one.payload, one.priority, one.expires_ms) for one in self._packets]

    def agrees(self, heard: bytes) -> bool:
        return interleaved(heard, self.popped, self.pushed)

    def pass_time(self, ms: int) -> None:
        self.now_ms += ms
        self._packets = [one for one in self._packets if one.expires_ms is None or one.expires_ms > self.now_ms]

    def receive(self, data: bytes) -> None:
        self._data += data
        while not self.closed and self._data and self._one():
            while self._credits and self._serve():
                self._credits -= 1

    def _one(self) -> bool:
        """One request; False: it is not all there."""
        opcode = self._data[:1]
        if opcode == b"A":
            self._data = self._data[1:]
            self._credits += 1
            return True
        if opcode == b"p":
            return self._push()
        if opcode in NAMED:
            return self._named(NAMED[opcode])
        self.closed = True
        return False

    def _push(self) -> bool:
        head = self._data[1:10]
        sizes = [value(head[7:9]), value(head[5:7]), value(head[0:2])]  # payload, key, name
        if len(head) < 9 or len(self._data) < 10 + sum(sizes):
            return False
        rest, self._data = self._data[10 : 10 + sum(sizes)], self._data[10 + sum(sizes) :]
        key, payload, name = rest[: sizes[1]], rest[sizes[1] :][: sizes[0]], rest[sizes[0] + sizes[1] :]
        ttl_ms = value(head[2:4])
        self._count += 1
        self._packets.append(Packet(self._count, name, key, payload, head[4], self.now_ms + ttl_ms if ttl_ms else None))
        return True

    def _named(self, verb: str) -> bool:
        size = value(self._data[1:3])
        if len(self._data) < 3 + size:
            return False
        name, self._data = self._data[3 : 3 + size], self._data[3 + size :]
        if verb == "pop":
            self.popped.append(self._taken([name]) or number(0))
        elif verb == "subscribe":
            self._subscribed.add(name)
        else:
            self._subscribed.discard(name)
        return True

    def _serve(self) -> bool:
        sent = self._taken(self._subscribed)
        if sent:
            self.pushed.append(sent)
        return bool(sent)

    def _taken(self, names: Sequence[bytes] | set[bytes]) -> bytes:
        eligible = [one for one in self._packets if one.queue in names and one.priority]
        if not eligible:
            return b""
        chosen = min(eligible, key=lambda one: (one.priority, -one.number))
        group = [one for one in self._packets if (one.queue, one.key) == (chosen.queue, chosen.key)]
        self._packets = [one for one in self._packets if one not in group]
        group.remove(chosen)
        return number(1 + len(group)) + b"".join([one.wire() for one in (chosen, *reversed(group))])


def number(value: int) -> bytes:
    return value.to_bytes(2, "big")


def value(data: bytes) -> int:
    return int.from_bytes(data, "big")


def interleaved(whole: bytes, ones: Sequence[bytes], others: Sequence[bytes]) -> bool:
    """It is made of both, each in its own order."""
    if len(whole) != sum(map(len, ones)) + sum(map(len, others)):
        return False
    reached = {(0, 0): 0}  # how many of each -> how far they go
    for _ in range(len(ones) + len(others)):
        further = {}
        for (one, other), at in reached.items():
            if one < len(ones) and whole.startswith(ones[one], at):
                further[one + 1, other] = at + len(ones[one])
            if other < len(others) and whole.startswith(others[other], at):
                further[one, other + 1] = at + len(others[other])
        reached = further
    return bool(reached)
