"""One connection of a client, whatever it speaks: what is sent, what is waited for, and what is heard in its order. It
blocks nowhere and judges nothing; that is the History's."""

from __future__ import annotations

import math
import random
import socket
import time
from collections import deque
from collections.abc import Callable, Sized
from typing import Any

from torture.crowd.history import History, Life

BATCH_MAX = 40
ABROAD = ("deferred", "etzel", "rsmq")  # in these, anybody with the id may finish
SENT_ABROAD = 0.2
RELEASE_MARGIN_S = 0.5  # a lease that is nearly over is not given back: the release could hit the next one

Told = Callable[[Any, float], None]

_TEXTS = ("", "", "", "", "x" * 100, "x" * 100, "ü" * 60, "x" * 5_000)
_BYTES = (b"", b"", b"", b"a\nb\r\n", bytes(range(256)), b"\xff" * 300, b"x" * 100, b"x" * 5_000)


class Talk:
    """Answers come in the order of the requests, so each waits in a row for its own."""

    dialect = ""
    batch_max = BATCH_MAX

    def __init__(self, port: int, history: History, name: str, random: random.Random) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 5)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.closed = False
        self.closed_s = math.inf  # when the server's end was seen
        self.row: deque[Told] = deque()
        self.history = history
        self.random = random
        self.held: list[Life] = []
        self.data = b""
        self._name = name
        self._number = 0

    @property
    def waiting(self) -> Sized:
        """For answers."""
        return self.row

    def go_on(self) -> None:
        """A random batch of requests, in one segment."""
        self.send(b"".join([self.request(time.monotonic()) for _ in range(self.random.randint(1, self.batch_max))]))

    def request(self, now_s: float) -> bytes:
        raise NotImplementedError

    def send(self, data: bytes) -> None:
        try:
            self.socket.sendall(data)
        except OSError:
            self.closed = True

    def readable(self) -> None:
        try:
            data = self.socket.recv(1 << 18)
        except OSError:
            data = b""
        if not data:
            self.closed, self.closed_s = True, time.monotonic()
            return
        self.data += data
        self.hear(time.monotonic())

    def hear(self, now_s: float) -> None:
        """All that is whole in `data`."""
        raise NotImplementedError

    # -- what all of them do with messages

    def text_body(self) -> bytes:
        """A body like no other."""
        self._number += 1
        return f"{self._name}.{self._number} {self.random.choice(_TEXTS)}".encode()

    def any_body(self) -> bytes:
        """The same, and not always a text."""
        self._number += 1
        return b"%s.%d %s" % (self._name.encode(), self._number, self.random.choice(_BYTES))

    def publishing(self, body: bytes, now_s: float, delay_s: float = 0.0) -> Life:
        life = self.history.publishing(body, delay_s, now_s)
        life.dialect = self.dialect
        return life

    def published(self, life: Life, shown: bytes = b"") -> None:
        self.history.published(life, self.id(shown) if shown else b"")

    def id(self, shown: bytes) -> bytes:
        return self.dialect.encode() + b" " + shown

    def delivered(self, shown: bytes, body: bytes, sent_s: float, now_s: float) -> Life | None:
        """Held from now on, by this client or by one that will finish it in another dialect."""
        life = self.history.delivered(self.id(shown), body, sent_s, now_s)
        if life is None:
            return None
        places = [dialect for dialect in ABROAD if dialect in life.ids and dialect != self.dialect]
        if places and self.random.random() < SENT_ABROAD:
            self.history.abroad.setdefault(self.random.choice(places), []).append(life)
        else:
            self.held.append(life)
        return life

    def done(self) -> Life | None:
        """One to be finished here, whoever holds it."""
        abroad = self.history.abroad.get(self.dialect)
        if abroad:
            return abroad.pop()
        return self.held.pop(self.random.randrange(len(self.held))) if self.held else None

    def returned(self, now_s: float) -> Life | None:
        """One to be given back: what this client surely holds."""
        sure = [life for life in self.held if now_s < life.held_until_s - RELEASE_MARGIN_S]
        if not sure:
            return None
        life = self.random.choice(sure)
        self.held.remove(life)
        self.history.releasing(life)
        return life

    def finished(self, life: Life) -> None:
        self.history.finished(life)
        self.history.counts["finished", self.dialect] += 1
