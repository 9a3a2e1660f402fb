"""Clients of `deferred` that mix all requests, pipelined, and note in a History what they asked and were told; and what
drives clients of any dialect."""

from __future__ import annotations

import base64
import selectors
import socket
import time
from collections.abc import Sequence, Sized
from typing import Protocol

from torture.crowd.history import LOST, History, Life
from torture.crowd.talk import Talk

DELAYS_MS = (0, 0, 0, 0, 1, 20, 200, 1_000)
DRAIN_BATCH = 100


class Client(Talk):
    dialect = "deferred"

    def hear(self, now_s: float) -> None:
        *lines, self.data = self.data.split(b"\n")
        for line in lines:
            self.row.popleft()(line, now_s)

    def request(self, now_s: float) -> bytes:
        choice = self.random.random()
        if choice < 0.30:
            return self._publish(now_s)
        if choice < 0.65:
            return self._reserve(now_s)
        if choice < 0.95:
            life = self.done()
            return self._reserve(now_s) if life is None else self._finish(life)
        life = self.returned(now_s)
        return self._publish(now_s) if life is None else self._release(life, now_s)

    def _publish(self, now_s: float) -> bytes:
        body = self.text_body()
        delay_ms = self.random.choice(DELAYS_MS)
        life = self.publishing(body, now_s, delay_ms / 1_000)

        def told(line: bytes, now_s: float) -> None:
            if not line.startswith(b"TASK "):
                self.history.breaks("answer", f"ADD answered {line!r}")
            else:
                self.published(life, line.split(b" ")[1])

        self.row.append(told)
        return b"ADD %d %s\n" % (delay_ms, body)

    def _reserve(self, sent_s: float) -> bytes:
        def told(line: bytes, now_s: float) -> None:
            if line != b"nil":
                self.delivered(*task(line), sent_s, now_s)

        self.row.append(told)
        return b"RESERVE\n"

    def _finish(self, life: Life) -> bytes:
        self.history.finishing(life)

        def told(line: bytes, now_s: float) -> None:
            if line == b"ok":
                self.finished(life)
            else:
                self.history.finish_refused(life, now_s)

        self.row.append(told)
        return b"DELETE %s\n" % life.ids[self.dialect]

    def _release(self, life: Life, sent_s: float) -> bytes:
        delay_ms = self.random.choice(DELAYS_MS)

        def told(line: bytes, now_s: float) -> None:
            if line == b"ok":
                self.history.released(life, sent_s + delay_ms / 1_000)
            else:
                self.history.release_refused(life)

        self.row.append(told)
        return b"RETURN %s %d\n" % (life.ids[self.dialect], delay_ms)


def task(line: bytes) -> tuple[bytes, bytes]:
    """Id and body of an answer to RESERVE."""
    _, shown, word, body = line.split(b" ", 3)
    return shown, base64.b64decode(body) if word == b"BODY64" else body


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
    """Reserve and finish whatever is left until nothing waits and nothing is held; the bodies seen. In `deferred`."""
    seen: set[bytes] = set()
    deadline_s = time.monotonic() + patience_s
    with socket.create_connection(("127.0.0.1", port), 10) as connection, connection.makefile("rb") as answers:

        def ask(lines: list[bytes]) -> list[bytes]:
            connection.sendall(b"\n".join(lines) + b"\n")
            return [answers.readline().rstrip(b"\n") for _ in lines]

        while time.monotonic() < deadline_s:
            sent_s = time.monotonic()
            found = [task(line) for line in ask([b"RESERVE"] * DRAIN_BATCH) if line != b"nil"]
            lives = [history.delivered(b"deferred " + shown, body, sent_s, time.monotonic()) for shown, body in found]
            for known in filter(None, lives):
                seen.add(known.body)
                history.finishing(known)
            told = ask([b"DELETE " + shown for shown, _ in found]) if found else []
            for life, line in zip(lives, told, strict=True):
                if line != b"ok":
                    history.breaks(LOST, f"could not be finished while draining: {line!r}")
                elif life is not None:
                    history.finished(life)
            if not found:
                if ask([b"STATS"])[0].startswith(b"TASKS 0 RESERVED 0 "):
                    return seen
                time.sleep(0.02)
    history.broken.append("the queue did not become empty")
    return seen
