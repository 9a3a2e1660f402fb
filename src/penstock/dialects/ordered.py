"""Sessions whose dialect has no labels: answers stand in the order of the requests, however the broker gives them.

It numbers requests by turn, keeps early answers until theirs comes, and says when enough is under way.
"""

from __future__ import annotations

from typing import Final

from librt.strings import BytesWriter
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
        self.prompt = True
        self.context: Context = context
        self.ended: bool = False  # no more input is taken: none will come, or framing is lost
        self._asked: i64 = 0  # turn of the next request
        self._answered: i64 = 0  # turn of the next answer
        self._early: dict[int, BytesWriter] = {}
        self._output: BytesWriter = BytesWriter()
        self._roused: bool = False  # the wire has been told since it last asked

    # -- the connection's side

    def eof(self) -> None:
        self.end()

    def lost(self) -> None:
        self.end()

    def output(self) -> bytes:
        self._catch_up()
        self._roused = False
        output = self._output.getvalue()
        self._output.truncate(0)
        return output

    def wants_close(self) -> bool:
        self._catch_up()
        return self.ended and not self.held and not self.asking() and self.owed == 0

    def enough(self) -> bool:
        self._catch_up()
        if self.owed + len(self._output) > OWED_BYTES_MAX:
            return True
        return (self._asked - self._answered) & TURN_MASK >= IN_FLIGHT_MAX

    # -- the dialect's side

    def end(self) -> None:
        """Take no more input; what was asked is still answered. Whoever sends no more may be gone: it waits no more."""
        if not self.ended:
            self.ended = True
            self.context.broker.cancel(self)
        self.rouse()

    def rouse(self) -> None:
        """There is something to send, or to decide: have the wire ask at the end of the tick."""
        if not self._roused:
            self._roused = True
            self.wire.wake()

    def asking(self) -> bool:
        """Something that was asked is not answered yet."""
        return self._asked != self._answered

    def next_turn(self) -> i64:
        turn = self._asked
        self._asked = (turn + 1) & TURN_MASK
        return turn

    def say(self, turn: i64, words: bytes) -> None:
        """The answer to the request of that turn; empty where the dialect has no words for it."""
        self.answer(turn).write(words)

    def answer(self, turn: i64) -> BytesWriter:
        """Where to write the answer to the request of that turn, at once."""
        if self._early:
            self._catch_up()
        if turn != self._answered:
            early = self._early[turn] = BytesWriter()
            return early
        self._answered = (turn + 1) & TURN_MASK
        if not self._roused:
            self.rouse()
        return self._output

    def behind(self, turn: i64) -> BytesWriter:
        """Where to write, at once, what must not stand before the answer to that turn, which has been given."""
        self._catch_up()
        early = self._early.get(turn)
        if early is not None:
            return early
        self.rouse()
        return self._output

    def put(self, words: bytes) -> None:
        """Words that answer no request, behind those that are there."""
        self._catch_up()
        self.rouse()
        self._output.write(words)

    def _catch_up(self) -> None:
        """Answers that came early and whose turn it is."""
        early = self._early
        while early and self._answered in early:
            self._output.write(early.pop(self._answered).getvalue())
            self._answered = (self._answered + 1) & TURN_MASK
