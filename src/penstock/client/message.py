"""A message in somebody's hands, as a reserve gave it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Protocol, TypeVar, overload

import msgspec

from penstock.client.frames import Given, Place

ValueT = TypeVar("ValueT")


class Hold:
    """How a message is held. `until` is by the client's clock: the lease runs at least so long."""

    __slots__ = ("ended", "holder", "lease", "lost", "until")

    def __init__(self, holder: int, lease: float, until: float) -> None:
        self.holder: Final = holder  # the id of the client it was given to
        self.lease: Final = lease  # its length, in seconds
        self.until = until
        self.ended = False  # finished or released by the client itself
        self.lost = False  # the server said so: the lease had run out

    def ended_or_lost(self, ended: bool) -> None:
        self.ended = self.ended or ended
        self.lost = not self.ended

    def extended(self, held: bool, until: float) -> None:
        if held:
            self.until = until
        else:
            self.lost = not self.ended


class Delivery:
    """One delivery of a message: what is in it, and what is known of it."""

    def __init__(self, queue: str, given: Given, hold: Hold) -> None:
        self.queue: Final = queue
        self.given: Final = given
        self.hold: Final = hold

    @property
    def id(self) -> str:
        return f"{self.given.shard}/{self.given.sequence}"

    @property
    def place(self) -> Place:
        return self.given.shard, self.given.sequence

    @property
    def body(self) -> bytes:
        return self.given.body64 or self.given.body.encode()

    @property
    def text(self) -> str:
        """Raises UnicodeDecodeError where the body is no text."""
        return self.body.decode()

    @overload
    def json(self) -> Any: ...
    @overload
    def json(self, type: type[ValueT]) -> ValueT: ...
    def json(self, type: Any = Any) -> Any:
        """The body read as JSON, of a type if one is named. Raises msgspec.DecodeError."""
        return msgspec.json.decode(self.body, type=type)

    @property
    def key(self) -> bytes | None:
        given = self.given
        return given.key.encode() if given.key is not None else given.key64

    @property
    def priority(self) -> int:
        return self.given.priority

    @property
    def deliveries(self) -> int:
        """How often it was handed out, this time included."""
        return self.given.deliveries

    @property
    def failures(self) -> int:
        """How often it failed before."""
        return self.given.failures

    @property
    def published_us(self) -> int:
        """When it was published, in microseconds since 1970."""
        return self.given.published_us

    @property
    def lost(self) -> bool:
        """The lease has run out, and the server has said so: somebody else may have the message now."""
        return self.hold.lost

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} of {self.queue!r}, delivery {self.deliveries}>"


class Desk(Protocol):
    """Where messages are finished, released and extended: a client."""

    async def finish(self, messages: Iterable[Delivery]) -> list[bool]: ...
    async def release(
        self, messages: Iterable[Delivery], *, delay: float | None = None, failed: bool = False
    ) -> list[bool]: ...
    async def extend(self, messages: Iterable[Delivery], lease: float) -> list[bool]: ...


class Message(Delivery):
    """A delivery that can be ended. Each answers False where the lease had run out: then nothing was changed."""

    def __init__(self, desk: Desk, queue: str, given: Given, hold: Hold) -> None:
        super().__init__(queue, given, hold)
        self._desk = desk

    async def finish(self) -> bool:
        """It is done, and gone for ever."""
        return (await self._desk.finish([self]))[0]

    async def release(self, *, delay: float | None = None, failed: bool = False) -> bool:
        """Back into the queue, after `delay` seconds. Only `failed` counts against its attempts."""
        return (await self._desk.release([self], delay=delay, failed=failed))[0]

    async def extend(self, lease: float | None = None) -> bool:
        """The lease runs `lease` seconds from now; as long as at first, where nothing is said."""
        return (await self._desk.extend([self], self.hold.lease if lease is None else lease))[0]
