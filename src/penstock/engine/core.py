"""What all verbs stand on: State, those who wait, and where answers go. It answers nothing itself."""

from __future__ import annotations

from mypy_extensions import i64

from penstock.codecs.facts import FactBatch
from penstock.engine.endings import Endings
from penstock.engine.hands import Hands
from penstock.engine.queue import Queue
from penstock.engine.replay import Silence
from penstock.engine.rules import PolicyBook
from penstock.engine.state import State
from penstock.engine.waiting import Waiting
from penstock.model.contract import Broker, Out
from penstock.model.message import Message


class Core(Broker):
    """The parts of an engine, wired."""

    def __init__(self, book: PolicyBook, out: Out) -> None:
        self.record: FactBatch = FactBatch()
        self.full: bool = False  # the server has no room for more: publishing is refused, all else goes on
        self._state: State = State(book, Silence())
        self._waiting: Waiting = Waiting()
        self._out: Out = out
        self._hands: Hands = Hands(self._state, self._waiting, out)
        self._endings: Endings = Endings(self._state, self._hands)

    def state(self) -> State:
        """For those who fold or compare whole states (snapshots, tests); not for dialects."""
        return self._state

    def live(self, queue: Queue, seq: i64) -> Message | None:
        """A live message of this queue: a number of another queue's message is as unknown as any."""
        message = self._state.messages.get(seq)
        return message if message is not None and message.queue_id == queue.id else None
