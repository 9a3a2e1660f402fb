"""Clients of `deferred` that mix all requests, pipelined, and note in a History what they asked and were told."""

from __future__ import annotations

import random
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence, Sized
from typing import Protocol

from torture.history import History, Life

DELAYS_MS = (0, 0, 0, 0, 1, 20, 200, 1_000)
BATCH_MAX = 40
DRAIN_BATCH = 100


class Client:
    """One connection. Answers come in the order of the requests, so each waits in a row for its own."""

    def __init__(self, port: int, history: History, name: str, random: random.Random) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 5)
        self.closed = False
        self.waiting: deque[Callable[[bytes, float], None]] = deque()
        self._history = history
        self._name = name
        self._random = random
        self._number = 0
        self._held: list[Life] = []
        self._data = b""

    def go_on(self) -> None:
        """A random batch of requests, in one segment."""
        lines = [self._request(time.monotonic()) for _ in range(self._random.randint(1, BATCH_MAX))]
        try:
            self.socket.sendall(b"".join(lines))
        except OSError:
            self.closed = True

    def readable(self) -> None:
        try:
            data = self.socket.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            self.closed = True
            return
        now_s = time.monotonic()
        *lines, self._data = (self._data + data).split(b"\n")
        for line in lines:
            self.waiting.popleft()(line, now_s)

    def _request(self, now_s: float) -> bytes:
        choice = self._random.random()
        if choice < 0.40 or (choice >= 0.75 and not self._held):
            return self._publish(now_s)
        if choice < 0.75:
            return self._reserve(now_s)
        life = self._held.pop(self._random.randrange(len(self._held)))
        return self._finish(life) if choice < 0.95 else self._release(life, now_s)

    def _publish(self, now_s: float) -> bytes:
        self._number += 1
        size = self._random.choice((0, 0, 0, 100, 5_000))
        body = b"%s.%d %s" % (self._name.encode(), self._number, b"x" * size)
        delay_ms = self._random.choice(DELAYS_MS)
        life = self._history.publishing(body, delay_ms / 1_000, now_s)

        def told(line: bytes, now_s: float) -> None:
            if not line.startswith(b"TASK "):
                self._history.broken.append(f"ADD answered {line!r}")
            else:
                self._history.published(life, line.split(b" ")[1])

        self.waiting.append(told)
        return b"ADD %d %s\n" % (delay_ms, body)

    def _reserve(self, sent_s: float) -> bytes:
        def told(line: bytes, now_s: float) -> None:
            if line == b"nil":
                return
            _, id, word, body = line.split(b" ", 3)
            life = self._history.delivered(id, body, sent_s, now_s) if word == b"BODY" else None
            if life is not None:
                self._held.append(life)

        self.waiting.append(told)
        return b"RESERVE\n"

    def _finish(self, life: Life) -> bytes:
        self._history.finishing(life)

        def told(line: bytes, now_s: float) -> None:
            if line == b"ok":
                self._history.finished(life)
            else:
                self._history.finish_refused(life, now_s)

        self.waiting.append(told)
        return b"DELETE %s\n" % life.id

    def _release(self, life: Life, now_s: float) -> bytes:
        delay_ms = self._random.choice(DELAYS_MS)
        self._history.releasing(life, delay_ms / 1_000, now_s)
        self.waiting.append(lambda line, now_s: None)
        return b"RETURN %s %d\n" % (life.id, delay_ms)


class Driven(Protocol):
    """A connection as the driver sees it: it goes on when nothing is waited for."""

    socket: socket.socket
    closed: bool

    @property
    def waiting(self) -> Sized: ...
    def go_on(self) -> None: ...
    def readable(self) -> None: ...


def drive(clients: Sequence[Driven]) -> None:
    """Requests and answers until every connection has ended."""
    selector = selectors.DefaultSelector()
    for client in clients:
        selector.register(client.socket, selectors.EVENT_READ, client)
        client.go_on()
    while any(not client.closed for client in clients):
        for key, _ in selector.select(1.0):
            client = key.data
            client.readable()
            if not client.closed and not client.waiting:
                client.go_on()
            if client.closed:
                selector.unregister(client.socket)
                client.socket.close()
    selector.close()


def drain(port: int, history: History, patience_s: float) -> set[bytes]:
    """Reserve and finish whatever is left until nothing waits and nothing is held; the bodies seen."""
    seen: set[bytes] = set()
    deadline_s = time.monotonic() + patience_s
    with socket.create_connection(("127.0.0.1", port), 10) as connection, connection.makefile("rb") as answers:

        def ask(lines: list[bytes]) -> list[bytes]:
            connection.sendall(b"\n".join(lines) + b"\n")
            return [answers.readline().rstrip(b"\n") for _ in lines]

        while time.monotonic() < deadline_s:
            sent_s = time.monotonic()
            found = [line.split(b" ", 3) for line in ask([b"RESERVE"] * DRAIN_BATCH) if line != b"nil"]
            for _, id, _, body in found:
                history.delivered(id, body, sent_s, time.monotonic())
                seen.add(body)
            refused = [line for line in ask([b"DELETE " + row[1] for row in found]) if line != b"ok"] if found else []
            history.broken += [f"could not finish while draining: {line!r}" for line in refused]
            if not found:
                if ask([b"STATS"])[0].startswith(b"TASKS 0 RESERVED 0 "):
                    return seen
                time.sleep(0.02)
    history.broken.append("the queue did not become empty")
    return seen
