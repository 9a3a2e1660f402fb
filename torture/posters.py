"""Posters of `glovebox`, into the queue that the clients of `deferred` work on. They ask to be told `write` and `sync`,
and note in a History what they were told."""

from __future__ import annotations

import json
import random
import socket
import time

from tests.dialects.gloves import opening, request
from tests.dialects.websocket_model import WELCOME
from torture.history import History, Life

QUEUE = "default"
BATCH_MAX = 40
STAGES = ["write", "sync"]


class Poster:
    """One connection. A post is answered when both stages of it are told, in this order."""

    def __init__(self, port: int, history: History, name: str, random: random.Random) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 5)
        self.closed = False
        self.waiting: dict[int, list[str]] = {0: []}  # by label: the stages told so far; 0: the hello
        self._history = history
        self._name = name
        self._random = random
        self._lives: dict[int, Life] = {}
        self._data = b""

    def go_on(self) -> None:
        """The way in at first, then a random batch of posts, in one segment."""
        if 0 in self.waiting:
            self._send(opening() + request("create", queue=QUEUE))
        else:
            self._send(b"".join([self._post() for _ in range(self._random.randint(1, BATCH_MAX))]))

    def _send(self, data: bytes) -> None:
        try:
            self.socket.sendall(data)
        except OSError:
            self.closed = True

    def _post(self) -> bytes:
        label = len(self._lives) + 1
        body = f"{self._name}.{label} {'x' * self._random.choice((0, 0, 0, 100, 5_000))}"
        self._lives[label] = self._history.publishing(body.encode(), 0.0, time.monotonic())
        self.waiting[label] = []
        return request("post", queue=QUEUE, message=body, label=label, notify=STAGES)

    def readable(self) -> None:
        try:
            data = self.socket.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            self.closed = True
        self._data = (self._data + data).removeprefix(WELCOME)
        while not WELCOME.startswith(self._data) and (frame := self._frame()) is not None:
            self._hear(json.loads(frame))

    def _frame(self) -> bytes | None:
        """Notices are short: their length is one byte."""
        length = self._data[1] if len(self._data) > 1 else 0
        if len(self._data) < 2 + length or length == 0:
            return None
        frame, self._data = self._data[2 : 2 + length], self._data[2 + length :]
        return frame

    def _hear(self, said: dict[str, object]) -> None:
        label = said.get("label", 0)
        assert isinstance(label, int)
        if label == 0:
            if said["type"] != "hello":  # it is open, and the queue is there
                self.waiting.pop(0, None)
            return
        told = self.waiting[label]
        told.append(str(said.get("notice")))
        if told != STAGES[: len(told)]:
            self._history.broken.append(f"a post was told {told} instead of {STAGES}: {said}")
        self._history.posted(self._lives[label])
        if len(told) == len(STAGES):
            del self.waiting[label]
