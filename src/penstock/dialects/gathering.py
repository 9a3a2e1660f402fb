"""Sessions whose requests are pieces of a stream: what has come is gathered until a request is all there.

A dialect adds `request`, which reads one. Nothing is looked at again before it can be longer than it was.
"""

from __future__ import annotations

from mypy_extensions import i64, mypyc_attr

from penstock.dialects.context import Context
from penstock.dialects.ordered import OrderedSession


@mypyc_attr(allow_interpreted_subclasses=True)
class GatheringSession(OrderedSession):
    """`needed` is the dialect's to say: so long is the request that is not all there, at least."""

    def __init__(self, dialect: i64, context: Context) -> None:
        super().__init__(dialect, context)
        self.needed: i64 = 0
        self._input: bytearray = bytearray()  # not read yet

    def request(self, data: bytes, at: i64) -> i64:
        """Reads the request at this place, as far as it is there; gives the bytes it is done with. 0: it wants more."""
        raise NotImplementedError

    def received(self, data: bytes) -> None:
        if self.ended:
            return
        if self._input or self.held:
            self._input += data
            if self.held or len(self._input) < self.needed:
                return
            data = self._unread()
        self._go(data)

    def resume(self) -> None:
        self.held = False
        self._go(self._unread())
        if self.ended:
            self.rouse()  # there may be nothing left to answer

    def lost(self) -> None:
        super().lost()
        self._input.clear()

    def close(self) -> None:
        """What stands behind is not read; what was asked is still answered."""
        self._input.clear()
        self.end()

    def _unread(self) -> bytes:
        data = bytes(self._input)
        self._input.clear()
        return data

    def _go(self, data: bytes) -> None:
        """One request after the other, as far as they are all there."""
        at: i64 = 0
        while at < len(data):
            if self.enough():
                self.held = True
                self.rouse()
                break
            used = self.request(data, at)
            if used == 0:
                break
            at += used
        if at < len(data):
            self._input += data[at:]
