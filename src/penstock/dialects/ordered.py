"""Sessions whose dialect has no labels: answers stand in the order of the requests, however the broker gives them.

It numbers requests by turn, keeps early answers until theirs comes, and says when enough is under way.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64, mypyc_attr

from penstock.dialects.context import Context
from penstock.model.contract import Session
from penstock.model.limits import IN_FLIGHT_MAX, OWED_BYTES_MAX

TURN_BITS: Final = 29
TURN_MASK: Final[i64] = (1 << TURN_BITS) - 1


@mypyc_attr(allow_interpreted_subclasses=True)
class OrderedSession(Session):
    """What a dialect adds: `received`, `resume`, and the words."""

    def __init__(self, dialect: i64, context: Context) -> None:
        super().__init__(dialect)
        self.context: Context = context
        self.ended: bool = False  # no more input is taken: none will come, or framing is lost
        self._asked: i64 = 0  # turn of the next request
        self._answered: i64 = 0  # turn of the next answer
        self._early: dict[int, bytes] = {}
        self._output: list[bytes] = []

    # -- the connection's side

    def eof(self) -> None:
        self.end()

    def lost(self) -> None:
        self.end()
        self.context.broker.cancel(self)

    def output(self) -> bytes:
        output = b"".join(self._output)
        self._output = []
        return output

    def wants_close(self) -> bool:
        return self.ended and not self.held and self._asked == self._answered

    # -- the dialect's side

    def end(self) -> None:
        """Take no more input; what was asked is still answered."""
        self.ended = True
        self.wire.wake()

    def next_turn(self) -> i64:
        turn = self._asked
        self._asked = (turn + 1) & TURN_MASK
        return turn

    def enough(self) -> bool:
        return self.owed > OWED_BYTES_MAX or (self._asked - self._answered) & TURN_MASK >= IN_FLIGHT_MAX

    def say(self, turn: i64, words: bytes) -> None:
        """The answer to the request of that turn; no words where the dialect has none for it."""
        if turn != self._answered:
            self._early[turn] = words
            return
        output = self._output
        if not output:
            self.wire.wake()
        output.append(words)
        turn = (turn + 1) & TURN_MASK
        early = self._early
        while early and turn in early:
            output.append(early.pop(turn))
            turn = (turn + 1) & TURN_MASK
        self._answered = turn

    def add_output(self, words: bytes) -> None:
        """Something that answers no request."""
        if not self._output:
            self.wire.wake()
        self._output.append(words)
