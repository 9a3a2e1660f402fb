"""The engine: every verb of a broker, on State. It is told the time, says when it next wants to be asked, puts its
answers into an Out and its facts into a record. It must not know clocks, files, sockets or threads."""

from __future__ import annotations

from mypy_extensions import i64

from penstock.codecs.facts import Fact
from penstock.engine.calls import QueueCalls
from penstock.engine.replay import apply
from penstock.engine.rules import PolicyBook
from penstock.engine.snapshots import restore
from penstock.engine.waiting import Waiter
from penstock.model import codes
from penstock.model.message import LEASE_OVER, WAIT_OVER, Message


class Engine(QueueCalls):
    """The verbs, and what happens without being asked: history before the start, and time."""

    def restore(self, kind: int, rows: int, payload: bytes) -> None:
        """Before all else: a block of a snapshot."""
        restore(self._state, kind, rows, payload)

    def replay(self, fact: Fact) -> None:
        """Before `start`: a fact of the past."""
        apply(self._state, fact)

    def start(self, now_us: i64, note: bytes) -> None:
        """From here on facts are recorded, the first of them that the server started."""
        state = self._state
        state.now_us = max(now_us, state.now_us)
        state.record = self.record
        state.started(state.first_seq_after_start(), note)

    def advance(self, now_us: i64) -> None:
        """Time moves, never backwards; what is due happens, in order, before any request of this instant."""
        state = self._state
        state.now_us = max(now_us, state.now_us)
        item = state.agenda.pop(state.now_us)
        while item is not None:
            if item.due_kind == WAIT_OVER:
                assert isinstance(item, Waiter)
                self._wait_over(item)
            else:
                assert isinstance(item, Message)
                self._due(item)
            item = state.agenda.pop(state.now_us)

    def woken(self, now_us: i64) -> None:
        """The process had been paused until now: nobody fails for that. To be called before `advance`."""
        self._state.now_us = max(now_us, self._state.now_us)
        self._state.woken()

    def next_due(self) -> i64:
        return self._state.agenda.next_due()

    def now_us(self) -> i64:
        return self._state.now_us

    def rebook(self, book: PolicyBook) -> None:
        self._state.rebook(book)

    def _due(self, message: Message) -> None:
        queue = self._state.by_id[message.queue_id]
        if message.due_kind == LEASE_OVER:
            self._endings.lease_over(message, queue)
        elif message.expires_us <= self._state.now_us:  # also where time jumped over both delay and expiry
            self._state.expired(message, queue)
        else:
            self._state.became_due(message, queue)
            self._hands.serve(queue)

    def _wait_over(self, waiter: Waiter) -> None:
        self._waiting.leave(waiter)
        self.answer_none(waiter.session, waiter.token, codes.EMPTY, waiter.wants_list())
