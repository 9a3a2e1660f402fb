"""The link to a server, through as many connections as it takes: calls out, answers in, by label.

Law: a call is answered once, or fails, within its time; a call whose caller has gone leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from penstock.client.backoff import Backoff
from penstock.client.calls import Call, Reply
from penstock.client.errors import BadRequest, Denied, Disconnected, PenstockError, Timeout
from penstock.client.frames import Answer, Hello, Request, Said
from penstock.client.handshake import Address
from penstock.client.outbound import Outbound
from penstock.client.outside import CONNECT_S, Outside, sleep
from penstock.client.wire import Wire
from penstock.model.limits import FRAME_MAX

GOODBYE_S: Final = 2.0  # for the server to say what it still has to say
# An old id is free once the server has noticed that its connection is gone: so often it is asked for again.
_INSIST: Final = 3
_BACKOFF: Final = Backoff(first=0.05, most=5.0, jitter=0.5)
_LOG: Final = logging.getLogger("penstock.client")


class Link:
    """`id` is who the server takes the client for, kept from one connection to the next wherever it can be."""

    def __init__(self, outside: Outside, address: Address, token: str | None, in_flight: int) -> None:
        self.id = 0
        self._outside = outside
        self._address = address
        self._token = token
        self._labels = itertools.count(1)
        self._calls = Outbound(in_flight)
        self._strays: dict[int, Call] = {}  # calls that are over, and may yet be answered
        self._wire: Wire | None = None
        self._trouble: Exception | None = None  # why there is no connection
        self._failures = 0  # in a row
        self._insisted = 0
        self._tried: asyncio.Event  # there is a connection, or no hope of one
        self._running: asyncio.Task[None] | None = None

    # -- opening and closing

    @property
    def is_open(self) -> bool:
        return self._running is not None

    async def open(self, patience: float) -> None:
        """Returns once there is a connection. Raises Disconnected or Denied."""
        if self._running is not None:
            raise Disconnected("the client is open already")
        self._tried = asyncio.Event()
        self._running = asyncio.create_task(self._run())
        timer = self._outside.later(patience, self._tried.set)
        try:
            await self._tried.wait()
            if self._wire is None:
                raise self._unreachable()
        except BaseException:
            await self.close()
            raise
        finally:
            timer.cancel()

    async def close(self) -> None:
        """Ends every call and the connection, once the server has said what it had to say."""
        running, self._running = self._running, None
        if running is None:
            return
        running.cancel()
        self._calls.fail(Disconnected("the client was closed"))
        wire, self._wire = self._wire, None
        if wire is not None:
            await self._part(wire)
        self._calls.disconnected(Disconnected("the client was closed"))
        with suppress(asyncio.CancelledError):
            await running

    async def renew(self) -> None:
        """Ends what waits at the server: it forgets that with the connection, and the next one comes by itself."""
        if self._wire is not None:
            await self._part(self._wire)

    async def _part(self, wire: Wire) -> None:
        wire.close()
        timer = self._outside.later(GOODBYE_S, partial(wire.cut, Disconnected("closed")))
        try:
            await asyncio.shield(wire.lost)
        finally:
            timer.cancel()
            wire.cut(Disconnected("closed"))

    # -- calls

    async def ask(
        self, request: Request, patience: float, repeat: bool = True, stray: Callable[[Answer], None] | None = None
    ) -> Reply:
        """Raises what the server refuses it with, Timeout or Disconnected."""
        if self._running is None:
            raise Disconnected("the client is not open")
        request.label = next(self._labels)
        call = Call(request, repeat, stray)
        if len(call.payload) > FRAME_MAX:
            raise BadRequest(f"one request has at most {FRAME_MAX:,} bytes, and this has {len(call.payload):,}")
        timer = self._outside.later(patience, partial(self._give_up, call))
        self._calls.add(call)
        try:
            return await call.reply
        except BaseException:
            call.abandoned()
            raise
        finally:
            timer.cancel()
            self._calls.remove(call)
            self._leave_behind(call, patience)

    def _give_up(self, call: Call) -> None:
        call.fail(self._unreachable() if self._wire is None else Timeout("no answer came in time"))

    def _leave_behind(self, call: Call, patience: float) -> None:
        if call.may_hear_more():
            self._strays[call.label] = call
            self._outside.later(patience, partial(self._forget, call.label))

    def _forget(self, label: int) -> None:
        self._strays.pop(label, None)

    def _unreachable(self) -> PenstockError:
        if isinstance(self._trouble, Denied):
            return Denied(*self._trouble.args)
        error = Disconnected(f"no connection to {self._address.authority}: {self._trouble or 'none was made in time'}")
        error.__cause__ = self._trouble
        return error

    # -- connections

    async def _run(self) -> None:
        while True:
            try:
                wire = await self._connect()
            except (OSError, PenstockError) as error:
                self._failed(error)
            else:
                self._connected(wire)
                self._disconnected(await asyncio.shield(wire.lost))
            self._failures += 1
            await sleep(self._outside, _BACKOFF.delay(self._failures - 1))

    async def _connect(self) -> Wire:
        wire = Wire(self._outside, self._address, self._token, self.id, self._hear)
        timer = self._outside.later(CONNECT_S, partial(wire.cut, Disconnected("the server said no hello")))
        try:
            await self._outside.open(lambda: wire)
            self._know(await asyncio.shield(wire.hello))
        except BaseException:
            wire.cut(Disconnected("given up"))
            raise
        finally:
            timer.cancel()
        return wire

    def _know(self, given: int) -> None:
        """Under another id nothing that is held could be finished. Raises Disconnected to try again for the old one."""
        if self.id not in (0, given) and self._insisted < _INSIST:
            self._insisted += 1
            raise Disconnected("the server still takes the last connection for alive")
        self._insisted = 0
        self.id = given

    def _failed(self, error: Exception) -> None:
        self._trouble = error
        if isinstance(error, Denied):
            self._tried.set()
            self._calls.fail(self._unreachable())

    def _connected(self, wire: Wire) -> None:
        self._wire = wire
        self._trouble = None
        self._tried.set()
        self._calls.connected(wire)

    def _disconnected(self, why: Exception) -> None:
        _LOG.info("the connection to %s broke: %s", self._address.authority, why)
        self._wire = None
        self._trouble = why
        self._calls.disconnected(why)

    def _hear(self, said: Said) -> None:
        if isinstance(said, Hello):
            return
        self._failures = 0
        if call := self._calls.get(said.label) or self._strays.get(said.label):
            call.answered(said)
        elif said.label == 0:
            _LOG.warning("the server refused a request: %s", said)
