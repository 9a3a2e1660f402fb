"""One simulated connection: bytes arrive late and in pieces, readers are slow, and it may be cut at any byte."""

from __future__ import annotations

import asyncio
from collections import deque
from random import Random
from typing import Any, NamedTuple, Protocol

from tests.simulation.timeline import Timeline

LATENCIES_US = ((0,), (0, 200), (0, 1_000, 20_000))  # of links that are near, not so near, far
HIGH_BYTES = 1_024  # more unsent than this, and the server is told


class Mark(NamedTuple):
    """How far facts had come when something was said: decided, written, synced. By stages of durability."""

    decided: int
    written: int
    synced: int


class Wire(Protocol):
    """What a connection needs of the server's side."""

    def data_received(self, data: bytes) -> None: ...
    def eof_received(self) -> bool | None: ...
    def connection_made(self, transport: asyncio.BaseTransport) -> None: ...
    def connection_lost(self, exc: Exception | None) -> None: ...
    def pause_writing(self) -> None: ...
    def resume_writing(self) -> None: ...


class Listening(Protocol):
    """What it needs of the client's side, and of whoever watches over the server."""

    def heard(self, data: bytes, mark: Mark) -> None: ...
    def lost(self) -> None: ...


class Server(Protocol):
    def said(self, data: bytes) -> Mark: ...


class Link(asyncio.Transport):
    """The transport of the server's end; `send`, `cut` and `finish` are the client's."""

    def __init__(self, timeline: Timeline, server: Server, wire: Wire, client: Listening, dice: Random) -> None:
        self.received = 0  # bytes the server was given
        self.sent = 0  # bytes the client has sent
        self.slow = False  # the client reads nothing for now
        self.open = True  # as the client knows
        self._timeline = timeline
        self._server = server
        self._wire = wire
        self._client = client
        self._dice = dice
        self._latencies = dice.choice(LATENCIES_US)
        self._whole = dice.random() < 0.6  # bytes come as they were sent
        self._inbound: deque[bytes | None] = deque()  # None: the end
        self._outbound: deque[tuple[bytes, Mark]] = deque()
        self._unsent = 0
        self._reading = True
        self._clogged = False
        self._closing = False
        self._gone = False  # the server was told that it is lost
        wire.connection_made(self)

    # -- the client's end

    def send(self, data: bytes) -> None:
        self.sent += len(data)
        pieces = [data] if self._whole or len(data) < 2 else self._cut(data)
        self._inbound.extend(pieces)
        for _ in pieces:
            self._later(self._arrive)

    def finish(self) -> None:
        """Half closed: no more will be sent, answers are still read."""
        self._inbound.append(None)
        self._later(self._arrive)

    def cut(self) -> None:
        """What is on its way is lost."""
        self._lose_client()
        self._lose_server()

    def read_on(self) -> None:
        if self.slow:
            self.slow = False
            self._later(self._deliver)

    # -- the server's end

    def write(self, data: Any) -> None:
        if self._gone:
            return
        self._outbound.append((bytes(data), self._server.said(data)))
        self._unsent += len(data)
        if self._unsent > HIGH_BYTES and not self._clogged:
            self._clogged = True
            self._wire.pause_writing()
        self._later(self._deliver)

    def write_eof(self) -> None:
        self._closing = True
        self._later(self._deliver)

    def close(self) -> None:
        self.write_eof()

    def is_closing(self) -> bool:
        return self._gone

    def abort(self) -> None:
        if not self._gone:
            self._timeline.later(0, self.cut)

    def get_write_buffer_size(self) -> int:
        return self._unsent

    def pause_reading(self) -> None:
        self._reading = False

    def resume_reading(self) -> None:
        if not self._reading:
            self._reading = True
            for _ in self._inbound:
                self._timeline.later(0, self._arrive)

    # -- between them

    def _later(self, call: Any) -> None:
        self._timeline.later(self._dice.choice(self._latencies), call)

    def _cut(self, data: bytes) -> list[bytes]:
        places = sorted({self._dice.randrange(1, len(data)) for _ in range(self._dice.randint(1, 3))})
        return [data[begin:end] for begin, end in zip([0, *places], [*places, len(data)], strict=True)]

    def _arrive(self) -> None:
        if self._gone or not self._reading or not self._inbound:
            return
        piece = self._inbound.popleft()
        if piece is None:
            if not self._wire.eof_received():
                self.write_eof()
            return
        self.received += len(piece)
        self._wire.data_received(piece)

    def _deliver(self) -> None:
        if not self.open or self.slow:
            return
        while self._outbound:
            data, mark = self._outbound.popleft()
            if not self._whole and len(data) > 1 and self._dice.random() < 0.5:
                at = self._dice.randrange(1, len(data))
                self._outbound.appendleft((data[at:], mark))
                data = data[:at]
            self._unsent -= len(data)
            self._client.heard(data, mark)
            if not self._whole:
                if self._outbound:
                    self._later(self._deliver)
                break
        if self._clogged and self._unsent <= HIGH_BYTES // 4 and not self._gone:
            self._clogged = False
            self._wire.resume_writing()
        if self._closing and not self._outbound:
            self._lose_client()
            self._lose_server()

    def _lose_client(self) -> None:
        if self.open:
            self.open = False
            self._outbound.clear()
            self._client.lost()

    def _lose_server(self) -> None:
        if not self._gone:
            self._gone = True
            self._inbound.clear()
            self._wire.connection_lost(None)
