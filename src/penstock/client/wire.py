"""One connection: the handshake, then frames. It tells what it hears, and notices silence; it never reconnects."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import cast

import msgspec

from penstock.client import frames, handshake
from penstock.client.errors import Disconnected
from penstock.client.frames import Hello, Said
from penstock.client.handshake import Address
from penstock.client.outside import Outside, Timer
from penstock.codecs import websocket
from penstock.codecs.websocket import FrameReader, client_frame, close_payload
from penstock.model.limits import ANSWER_MAX


class Wire(asyncio.Protocol):
    """Two futures tell its life: `hello`, the client's id once the server has said it, and `lost`, with the reason."""

    def __init__(
        self, outside: Outside, address: Address, token: str | None, reconnect_as: int, hear: Callable[[Said], None]
    ) -> None:
        loop = asyncio.get_running_loop()
        self.hello: asyncio.Future[int] = loop.create_future()
        self.lost: asyncio.Future[Exception] = loop.create_future()
        self._loop = loop
        self._outside = outside
        self._hear = hear
        self._key = handshake.new_key()
        self._request = handshake.request(address, self._key, token, reconnect_as)
        self._head: bytes | None = b""  # of the server's answer; None once it is read
        self._reader = FrameReader(ANSWER_MAX, False)
        self._transport: asyncio.Transport | None = None
        self._beat: Timer | None = None
        self._heard = False  # since the last beat
        self._unsent: list[bytes] = []
        self._clogged = False  # the transport has more than it can send
        self._parting = False  # the server hears no more
        self.on_room: Callable[[], None] | None = None  # called when that is over

    # -- the transport's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._request)
        self._beat = self._outside.later(self._outside.beat, self._on_beat)

    def data_received(self, data: bytes) -> None:
        self._heard = True
        try:
            self._receive(data)
        except Exception as error:
            self.cut(error)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(exc or Disconnected("the server closed the connection"))

    def pause_writing(self) -> None:
        self._clogged = True

    def resume_writing(self) -> None:
        self._clogged = False
        if self.on_room is not None:
            self.on_room()

    # -- the link's side

    def send(self, payload: bytes) -> None:
        """One text frame; all of one turn of the loop leave in one write."""
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent.append(client_frame(websocket.TEXT, payload, os.urandom(4)))

    def has_room(self) -> bool:
        return not self._clogged and not self._parting and self._transport is not None

    def close(self) -> None:
        """Says goodbye: the server answers what was asked, then closes."""
        self._flush()
        self._parting = True
        self._put(websocket.CLOSE, close_payload(websocket.NORMAL))

    def cut(self, error: Exception) -> None:
        if self._transport is not None:
            self._transport.abort()
        self._end(error)

    # -- inside

    def _flush(self) -> None:
        unsent, self._unsent = self._unsent, []
        if self._transport is not None and unsent:
            self._transport.write(b"".join(unsent))

    def _put(self, opcode: int, payload: bytes) -> None:
        if self._transport is not None:
            self._transport.write(client_frame(opcode, payload, os.urandom(4)))

    def _receive(self, data: bytes) -> None:
        if self._head is not None:
            self._head += data
            length = handshake.response_length(self._head)
            if length == 0:
                return
            handshake.check_response(self._head[:length], self._key)
            data, self._head = self._head[length:], None
        self._reader.feed(data)
        while not self.lost.done() and self._take():
            pass

    def _take(self) -> bool:
        """False: no more is there."""
        kind = self._reader.take()
        if kind == websocket.TEXT:
            self._say(frames.decode(self._reader.payload))
        elif kind == websocket.PING:
            self._put(websocket.PONG, self._reader.payload)
        elif kind in (websocket.CLOSE, websocket.BROKEN):
            raise Disconnected(f"the server closed the connection, with code {self._reader.close_code}")
        return kind != websocket.MORE

    def _say(self, said: Said) -> None:
        if not isinstance(said, Hello):
            self._hear(said)
        elif not self.hello.done():
            self.hello.set_result(said.id)

    def _on_beat(self) -> None:
        if not self._heard:
            self.cut(Disconnected("the server has fallen silent"))
            return
        self._heard = False
        self._put(websocket.PING, b"")
        self._beat = self._outside.later(self._outside.beat, self._on_beat)

    def _end(self, error: Exception) -> None:
        self._transport = None
        if self._beat is not None:
            self._beat.cancel()
        if isinstance(error, msgspec.DecodeError):
            error = Disconnected(f"the server said something unknown: {error}")
        if not self.lost.done():
            self.lost.set_result(error)
        if not self.hello.done():
            self.hello.set_exception(error)
            self.hello.exception()  # `lost` tells it too, so nobody need ask for it here
