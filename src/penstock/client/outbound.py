"""Calls on their way out: which are under way, which wait for their turn. Bounded: so many, and what a wire takes."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.client.calls import Call
from penstock.client.errors import PenstockError
from penstock.client.wire import Wire


class Outbound:
    """In the order of the calling. `in_flight`: how many may be sent and unanswered, beside those that only wait."""

    def __init__(self, in_flight: int) -> None:
        self._in_flight = in_flight
        self._wire: Wire | None = None
        self._sent: dict[int, Call] = {}
        self._waiting: dict[int, Call] = {}
        self._counted = 0  # of those sent

    def add(self, call: Call) -> None:
        if call.idles and self._wire is not None and self._wire.has_room():
            self._send(self._wire, call)
        else:
            self._waiting[call.label] = call
            self.pump()

    def get(self, label: int) -> Call | None:
        return self._sent.get(label)

    def remove(self, call: Call) -> None:
        self._waiting.pop(call.label, None)
        if self._sent.pop(call.label, None) is not None:
            self._counted -= not call.idles
            self.pump()

    def pump(self) -> None:
        """Sends what may be sent."""
        wire = self._wire
        while wire is not None and self._waiting and self._counted < self._in_flight and wire.has_room():
            self._send(wire, self._waiting.pop(next(iter(self._waiting))))

    def connected(self, wire: Wire) -> None:
        """What was sent before and not answered is sent again, before anything new."""
        self._wire = wire
        wire.on_room = self.pump
        for call in self._sent.values():
            if not call.reply.done():
                self._put(wire, call)
        self.pump()

    def disconnected(self, why: Exception) -> None:
        self._wire = None
        for call in self:
            call.interrupted(why)

    def fail(self, error: PenstockError) -> None:
        for call in self:
            call.fail(error)

    def __iter__(self) -> Iterator[Call]:
        return iter([*self._sent.values(), *self._waiting.values()])

    def _send(self, wire: Wire, call: Call) -> None:
        self._sent[call.label] = call
        self._counted += not call.idles
        self._put(wire, call)

    def _put(self, wire: Wire, call: Call) -> None:
        call.sent += 1
        wire.send(call.payload)
