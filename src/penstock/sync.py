"""The blocking client, for programs without a loop: the asynchronous one on a thread of its own, and nothing more.

Any number of threads may use one client at once.
"""

from __future__ import annotations

import functools
import ssl as tls
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from penstock.client.asking import Stage
from penstock.client.client import Client as AsyncClient
from penstock.client.errors import Disconnected
from penstock.client.handshake import DEFAULT_URL
from penstock.client.message import Delivery
from penstock.client.message import Message as AsyncMessage
from penstock.client.portal import Portal

P = ParamSpec("P")
ValueT = TypeVar("ValueT")


def _blocking(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, ValueT]],
) -> Callable[Concatenate[Client, P], ValueT]:
    @functools.wraps(method)
    def call(self: Client, /, *args: P.args, **options: P.kwargs) -> ValueT:
        return self.portal.run(method(self.behind, *args, **options))

    return call


def _blocking_block(
    method: Callable[Concatenate[AsyncClient, P], AbstractAsyncContextManager[ValueT]],
) -> Callable[Concatenate[Client, P], AbstractContextManager[ValueT]]:
    @contextmanager
    @functools.wraps(method)
    def block(self: Client, /, *args: P.args, **options: P.kwargs) -> Iterator[ValueT]:
        inner = method(self.behind, *args, **options)
        value = self.portal.run(_entered(inner))
        try:
            yield value
        except BaseException:
            self.portal.run(_left(inner, *sys.exc_info()))
            raise
        self.portal.run(_left(inner, None, None, None))

    return block


async def _entered(block: AbstractAsyncContextManager[ValueT]) -> ValueT:
    return await block.__aenter__()


async def _left(
    block: AbstractAsyncContextManager[Any],
    kind: type[BaseException] | None,
    error: BaseException | None,
    trace: TracebackType | None,
) -> None:
    await block.__aexit__(kind, error, trace)


def _handing(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, list[AsyncMessage]]],
) -> Callable[Concatenate[Client, P], list[Message]]:
    inner = _blocking(method)

    @functools.wraps(method)
    def call(self: Client, /, *args: P.args, **options: P.kwargs) -> list[Message]:
        return [Message(self, one) for one in inner(self, *args, **options)]

    return call


def _handing_block(
    method: Callable[Concatenate[AsyncClient, P], AbstractAsyncContextManager[AsyncMessage]],
) -> Callable[Concatenate[Client, P], AbstractContextManager[Message]]:
    inner = _blocking_block(method)

    @contextmanager
    @functools.wraps(method)
    def block(self: Client, /, *args: P.args, **options: P.kwargs) -> Iterator[Message]:
        with inner(self, *args, **options) as one:
            yield Message(self, one)

    return block


class Message(Delivery):
    """A delivery that can be ended. Each answers False where the lease had run out: then nothing was changed."""

    def __init__(self, client: Client, delivery: Delivery) -> None:
        super().__init__(delivery.queue, delivery.given, delivery.hold)
        self._client = client

    def finish(self) -> bool:
        """It is done, and gone for ever."""
        return self._client.finish([self])[0]

    def release(self, *, delay: float | None = None, failed: bool = False) -> bool:
        """Back into the queue, after `delay` seconds. Only `failed` counts against its attempts."""
        return self._client.release([self], delay=delay, failed=failed)[0]

    def extend(self, lease: float | None = None) -> bool:
        """The lease runs `lease` seconds from now; as long as at first, where nothing is said."""
        return self._client.extend([self], self.hold.lease if lease is None else lease)[0]


class Client:
    """`with Client(url) as client: …`: every call of `penstock.Client`, with the same options."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        token: str | None = None,
        stage: Stage = "sync",
        timeout: float = 30.0,
        in_flight: int = 1_000,
        ssl: tls.SSLContext | None = None,
    ) -> None:
        self.behind = AsyncClient(url, token=token, stage=stage, timeout=timeout, in_flight=in_flight, ssl=ssl)
        self._portal: Portal | None = None

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self) -> None:
        """Connects. Raises Disconnected where that does not succeed within the time-out, Denied at once."""
        portal = Portal()
        try:
            portal.run(self.behind.open())
        except BaseException:
            portal.close()
            raise
        self._portal = portal

    def close(self) -> None:
        """Says goodbye. Calls under way fail with Disconnected."""
        portal, self._portal = self._portal, None
        if portal is not None:
            portal.run(self.behind.close())
            portal.close()

    @property
    def portal(self) -> Portal:
        if self._portal is None:
            raise Disconnected("the client is not open")
        return self._portal

    @property
    def id(self) -> int:
        """Who the server takes this client for: only under this id it can finish what it holds."""
        return self.behind.id

    # Each with the signature of the call behind it.
    create = _blocking(AsyncClient.create)
    publish = _blocking(AsyncClient.publish)
    publish_many = _blocking(AsyncClient.publish_many)
    finish = _blocking(AsyncClient.finish)
    release = _blocking(AsyncClient.release)
    extend = _blocking(AsyncClient.extend)
    reserve = _handing(AsyncClient.reserve)
    keep = _blocking_block(AsyncClient.keep)
    work = _handing_block(AsyncClient.work)
