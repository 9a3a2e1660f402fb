"""One TCP connection: bytes from the socket to its session, and the session's bytes to the socket once per tick.

It knows nothing of any dialect. Nothing here logs: what happens to connections is counted.
"""

from __future__ import annotations

import asyncio
from typing import cast

from mypy_extensions import i64

from penstock.model.contract import Session
from penstock.model.limits import STALLED_READER_US
from penstock.server.listener import Listener, Seat
from penstock.server.tick import Heart


class Connection(Seat):
    """A protocol of the loop's. It ends in one of three ways: the client closes, the session wants it, or it is cut."""

    def __init__(self, listener: Listener) -> None:
        super().__init__()
        self._listener: Listener = listener
        self._heart: Heart = listener.heart
        self._session: Session | None = None
        self._transport: asyncio.Transport | None = None
        self._heard_tick: i64 = 0  # when it last said something
        self._woken: bool = False
        self._clogged: bool = False  # it has more unsent than the socket takes
        self._clogged_us: i64 = 0  # when it last read something since
        self._clogged_bytes: int = 0
        self._stalled: bool = False  # it reads no more
        self._peer_done: bool = False

    # -- the socket's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if not self._heart.begin() or not self._listener.admit(self):
            self._transport.abort()
            return
        self.heard_us = self._heart.now_us
        self._session = self._listener.make()
        self._session.wire = self

    def data_received(self, data: bytes) -> None:
        heart = self._heart
        session = self._session
        if session is None or not heart.begin():
            return
        self.heard_us = heart.now_us
        self._heard_tick = heart.heard(self._heard_tick)
        if self.ended_us:
            return  # read, so that closing does not destroy what is still on its way to the client
        try:
            session.received(data)
        except Exception as error:
            self.fail(error)
            return
        if session.held:
            self._hold_back()

    def eof_received(self) -> bool:
        """True keeps the connection half open: what was asked is still answered."""
        if self._session is None or self.ended_us or not self._heart.begin():
            return False
        self._peer_done = True
        try:
            self._session.eof()
        except Exception as error:
            self.fail(error)
            return False
        self.wake()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        session = self._session
        self._transport = None
        self._session = None  # breaks the circle: no garbage collector is needed
        if session is not None:
            self._listener.forget(self)
            if self._heart.begin():
                session.lost()

    def pause_writing(self) -> None:
        self._clogged = True
        self._clogged_us = self._heart.now_us
        self._clogged_bytes = self.unsent()
        self._listener.clogged.add(self)

    def resume_writing(self) -> None:
        self._clogged = self._stalled = False
        self._listener.clogged.discard(self)
        if self._session is not None:
            self._go_on(self._session)

    # -- the session's and the heart's side

    def wake(self) -> None:
        if not self._woken:
            self._woken = True
            self._heart.wake(self)

    def flush(self) -> None:
        self._woken = False
        session = self._session
        transport = self._transport
        if session is None or transport is None or self.ended_us:
            return
        try:
            self._flush(session, transport)
        except Exception as error:
            self.fail(error)

    def _flush(self, session: Session, transport: asyncio.Transport) -> None:
        output = session.output()
        if output:
            if self._clogged and transport.get_write_buffer_size() > self._listener.output_cap_bytes:
                self._listener.count("slow")
                self.cut()
                return
            self.heard_us = self._heart.now_us
            transport.write(output)
        if session.wants_close():
            self.end()
        elif session.held:
            self._hold_back()
            self._go_on(session)

    def _hold_back(self) -> None:
        """Nothing more is read while the session has input it does not take."""
        if self._transport is not None:
            self._transport.pause_reading()
            self._listener.holding.add(self)

    def _go_on(self, session: Session) -> None:
        """Held-back input waits until the answers under way are few and the client has read the others.

        A client that has stopped reading is not waited for: its answers grow to the cap, and it is cut.
        """
        if session.held and not session.enough() and (self._stalled or not self._clogged):
            self._heart.hold(self)

    def beat(self, now_us: i64) -> None:
        if self._session is not None and self._heart.begin():
            try:
                self._session.beat(now_us)
            except Exception as error:
                self.fail(error)

    def watch_clog(self, now_us: i64) -> None:
        unsent = self.unsent()
        if unsent < self._clogged_bytes:
            self._clogged_us = now_us
        elif now_us - self._clogged_us > STALLED_READER_US and not self._stalled:
            self._stalled = True
            if self._session is not None:
                self._go_on(self._session)
        self._clogged_bytes = unsent

    def resume(self) -> None:
        session = self._session
        if session is None or not session.held or self.ended_us:
            return
        try:
            session.resume()
        except Exception as error:
            self.fail(error)
            return
        self._read_on(session)

    def _read_on(self, session: Session) -> None:
        if not session.held and self._transport is not None:
            self._listener.holding.discard(self)
            self._transport.resume_reading()

    def end(self) -> None:
        transport = self._transport
        if transport is None or transport.is_closing() or self.ended_us:
            return
        self.ended_us = self._heart.now_us
        self._listener.ending.add(self)
        parting = self._session.parting() if self._session is not None else b""
        if parting:
            transport.write(parting)
        if self._peer_done:
            transport.close()
        else:
            transport.write_eof()
            transport.resume_reading()

    def stop_reading(self) -> None:
        if self._transport is not None:
            self._transport.pause_reading()

    def unsent(self) -> int:
        return self._transport.get_write_buffer_size() if self._transport is not None else 0

    def cut(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def fail(self, error: Exception) -> None:
        self._listener.failed(error)
        self.cut()


def connect(listener: Listener) -> asyncio.Protocol:
    """A compiled class has one base, so this is none by descent: the loop asks a protocol only for its methods."""
    return cast(asyncio.Protocol, Connection(listener))
