"""A connection in memory: the client's protocol on one side, the server's session on the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from penstock.model.contract import NO_WIRE, Session, Wire


class Ground(Protocol):
    """Where sessions live: everything that is asked of one is asked within a tick."""

    def tick(self, call: Callable[[], None]) -> None: ...
    def wake(self, pipe: Pipe) -> None: ...
    def forget(self, pipe: Pipe) -> None: ...


class Transport(asyncio.Transport):
    """The client's end. Bytes arrive in the next turn of the loop, as on a socket."""

    def __init__(self, pipe: Pipe) -> None:
        super().__init__()
        self._pipe = pipe

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._pipe.later(self._pipe.to_session, bytes(data))

    def is_closing(self) -> bool:
        return self._pipe.ended

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        self._pipe.cut()


class Pipe(Wire):
    """The server's end."""

    def __init__(self, ground: Ground, session: Session, protocol: asyncio.Protocol) -> None:
        self.ended = False
        self._ground = ground
        self._session = session
        self._protocol = protocol
        self._woken = False
        self._broken = False
        session.wire = self
        self.later(protocol.connection_made, Transport(self))

    def later(self, call: Callable[..., object], *args: object) -> None:
        asyncio.get_running_loop().call_soon(call, *args)

    def to_session(self, data: bytes) -> None:
        if not self.ended:
            self._ground.tick(lambda: self._session.received(data))

    def wake(self) -> None:
        if not self._woken:
            self._woken = True
            self._ground.wake(self)

    def fail(self, error: Exception) -> None:
        raise error

    def flush(self) -> None:
        """After the tick: what the session says goes out; input it held back is taken up."""
        self._woken = False
        if self.ended:
            return
        if output := self._session.output():
            self.later(self._to_client, output)
        if self._session.wants_close():
            self.end()
        elif self._session.held and not self._session.enough():
            self._ground.tick(self._session.resume)

    def _to_client(self, data: bytes) -> None:
        if not self._broken:
            self._protocol.data_received(data)

    def cut(self) -> None:
        """What is on its way is lost."""
        self._broken = True
        self.end()

    def end(self) -> None:
        """Both sides are told."""
        if not self.ended:
            self.ended = True
            self._ground.forget(self)
            self.later(self._protocol.connection_lost, None)
            self._ground.tick(self._lose)

    def _lose(self) -> None:
        self._session.wire = NO_WIRE
        self._session.lost()
