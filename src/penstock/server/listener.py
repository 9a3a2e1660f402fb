"""One open port of one dialect: whom it admits, what it counts, and how connections that are done for are ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from mypy_extensions import i64, mypyc_attr

from penstock.model.contract import Session
from penstock.model.limits import DRAIN_S, LINGER_S, SECOND_US
from penstock.server.kinds import Address
from penstock.server.log import Log
from penstock.server.tick import Guest, Heart

# Why connections ended, or were not let in: counted here, shown in the status, logged by the sweep when they grow.
COUNTS: Final = {
    "refused": "too many connections",
    "slow": "did not read its answers",
    "quiet": "said nothing for too long",
    "failed": "an error of the server",
}


@mypyc_attr(allow_interpreted_subclasses=True)
class Seat(Guest):
    """A connection, as its listener knows it."""

    def __init__(self) -> None:
        self.heard_us: i64 = 0
        self.ended_us: i64 = 0  # when it was told that no more will come; 0: it lives

    def stop_reading(self) -> None:
        """What was asked before is still answered."""
        raise NotImplementedError

    def end(self) -> None:
        """What was written still goes out; then the client reads the end."""
        raise NotImplementedError

    def unsent(self) -> int:
        """Bytes that the socket has not taken yet."""
        raise NotImplementedError

    def cut(self) -> None:
        """Ends it at once; what was not sent is lost."""
        raise NotImplementedError

    def watch_clog(self, now_us: i64) -> None:
        """At every beat while it is clogged: does it still read?"""
        raise NotImplementedError

    def beat(self, now_us: i64) -> None:
        """At every beat while input is held back: the session may wait for something other than its client."""
        raise NotImplementedError


class Seats:
    """How many connections the whole server holds."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.taken = 0
        self._gone: asyncio.Future[None] | None = None

    def leave(self) -> None:
        self.taken -= 1
        if self.taken == 0 and self._gone is not None and not self._gone.done():
            self._gone.set_result(None)

    async def empty(self) -> None:
        """Returns once nobody is left."""
        if self.taken:
            self._gone = asyncio.get_running_loop().create_future()
            await self._gone


class Listener:
    """What all its connections share."""

    def __init__(
        self,
        name: str,
        address: Address,
        heart: Heart,
        seats: Seats,
        log: Log,
        make: Callable[[], Session],
        *,
        idle_us: int,
        output_cap_bytes: int,
    ) -> None:
        self.name = name
        self.address = address
        self.heart = heart
        self.make = make
        self.output_cap_bytes = output_cap_bytes
        self.accepted = 0
        self.counts = dict.fromkeys(COUNTS, 0)
        self.connections: set[Seat] = set()
        self.ending: set[Seat] = set()
        self.clogged: set[Seat] = set()  # those with more unsent than their sockets take
        self.holding: set[Seat] = set()  # those that hold back input
        self._seats = seats
        self._log = log
        self._idle_us = idle_us
        self._told = dict(self.counts)

    def admit(self, seat: Seat) -> bool:
        if self._seats.taken >= self._seats.limit:
            self.count("refused")
            return False
        self._seats.taken += 1
        self.accepted += 1
        self.connections.add(seat)
        return True

    def forget(self, seat: Seat) -> None:
        self._seats.leave()
        self.connections.discard(seat)
        self.ending.discard(seat)
        self.clogged.discard(seat)
        self.holding.discard(seat)

    def count(self, why: str) -> None:
        self.counts[why] += 1

    def failed(self, error: Exception) -> None:
        self.count("failed")
        self._log.failure("session failed", error, listener=self.name)

    def sweep(self, now_us: int) -> None:
        """At every beat, so that no connection needs a timer."""
        if self._idle_us:
            self._end_quiet(now_us - self._idle_us)
        self._cut_ended(now_us)
        for seat in list(self.clogged):
            seat.watch_clog(now_us)
        for seat in list(self.holding):
            seat.beat(now_us)
        self._tell()

    def _end_quiet(self, before_us: int) -> None:
        for seat in [seat for seat in self.connections if seat.heard_us < before_us and not seat.ended_us]:
            self.count("quiet")
            seat.end()

    def _cut_ended(self, now_us: int) -> None:
        """One that still has answers to read is given longer."""
        for seat in list(self.ending):
            patience_s = DRAIN_S if seat.unsent() else LINGER_S
            if int(now_us - seat.ended_us) > patience_s * int(SECOND_US):
                seat.cut()

    def _tell(self) -> None:
        for why, number in self.counts.items():
            if number != self._told[why]:
                more = number - self._told[why]
                self._log.info("connections ended", listener=self.name, why=COUNTS[why], connections=more)
        self._told = dict(self.counts)

    def status(self) -> dict[str, object]:
        return {
            "name": self.name,
            "address": str(self.address),
            "connections": len(self.connections),
            "accepted": self.accepted,
            **self.counts,
        }
