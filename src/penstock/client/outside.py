"""What a client needs of the world, in one place: a way to the server, time, threads. Tests put their own there."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from penstock.client.threads import in_thread

ValueT = TypeVar("ValueT")

CONNECT_S: Final = 10.0  # for one try


class Timer(Protocol):
    def cancel(self) -> None: ...


class Outside(Protocol):
    """Seconds are floats here, as callers write them; `now` only ever grows."""

    beat: float  # so often a connection is pinged; it is given up if nothing was heard since the last time

    def now(self) -> float: ...
    def later(self, seconds: float, call: Callable[[], None]) -> Timer: ...
    async def call(self, function: Callable[[], ValueT]) -> ValueT:
        """Runs a function that may block."""

    async def open(self, make: Callable[[], asyncio.Protocol]) -> None:
        """Connects; from then on the protocol is told. Raises OSError."""


class Network(Outside):
    """TCP, or TLS where there is a context for it; the loop's clock; real threads."""

    beat = 10.0

    def __init__(self, host: str, port: int, context: ssl.SSLContext | None) -> None:
        self._host = host
        self._port = port
        self._context = context

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def later(self, seconds: float, call: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, call)

    async def call(self, function: Callable[[], ValueT]) -> ValueT:
        return await in_thread(function)

    async def open(self, make: Callable[[], asyncio.Protocol]) -> None:
        async with asyncio.timeout(CONNECT_S):
            await asyncio.get_running_loop().create_connection(make, self._host, self._port, ssl=self._context)


async def sleep(outside: Outside, seconds: float) -> None:
    over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    timer = outside.later(seconds, lambda: None if over.done() else over.set_result(None))
    try:
        await over
    finally:
        timer.cancel()
