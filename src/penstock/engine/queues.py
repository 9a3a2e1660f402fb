"""The verbs on queues, on waiting, and those that only look."""

from __future__ import annotations

from mypy_extensions import i64

from penstock.engine import looking
from penstock.engine.batches import BatchVerbs
from penstock.engine.queue import Queue
from penstock.engine.rules import acceptable, merged, without
from penstock.model import codes, facts, stages
from penstock.model.contract import Session
from penstock.model.limits import PEEK_MAX, QUEUE_NAME_MAX
from penstock.model.message import LEASED, Message
from penstock.model.policy import POLICY_FIELDS, Policy
from penstock.model.views import Rank


class QueueVerbs(BatchVerbs):
    """Whole queues."""

    # -- queues

    def declare(self, session: Session, token: i64, queue: bytes, policy: Policy, stage: i64) -> None:
        state = self._state
        if queue in state.queues:
            self._out.answer(session, token, stage, codes.QUEUE_EXISTS, None, 0)
        elif len(queue) > QUEUE_NAME_MAX:
            self._refuse(session, token, codes.BAD_NAME)
        elif not acceptable(queue, policy):
            self._refuse(session, token, codes.BAD_POLICY)
        else:
            state.declared(state.next_queue_id, queue, session.dialect, policy)
            self._out.answer(session, token, stage, codes.OK, None, 0)

    def set(
        self, session: Session, token: i64, queue: bytes, policy: Policy, stage: i64, unsaid: tuple[str, ...] = ()
    ) -> None:
        found = self._state.queues.get(queue)
        if found is None:
            self._refuse(session, token, codes.NO_QUEUE)
        elif not acceptable(queue, policy) or any(field not in POLICY_FIELDS for field in unsaid):
            self._refuse(session, token, codes.BAD_POLICY)
        else:
            self._state.policy_set(found, session.dialect, merged([policy, without(found.policy, unsaid)]))
            self._out.answer(session, token, stage, codes.OK, None, 0)

    def remove(self, session: Session, token: i64, queue: bytes, stage: i64) -> None:
        found = self._state.queues.get(queue)
        if found is None:
            self._refuse(session, token, codes.NO_QUEUE)
            return
        self._out.answer(session, token, stage, codes.OK, None, self.remove_live(session, found))

    def remove_live(self, session: Session, queue: Queue) -> int:
        """How many messages went with it."""
        gone = self.messages_of(queue.id)
        for message in gone:
            self._state.deleted(message, queue, session.dialect, facts.QUEUE_REMOVED)
        self._state.removed(queue, session.dialect)
        return len(gone)

    def purge(self, session: Session, token: i64, queue: bytes, stage: i64) -> None:
        found = self._state.queues.get(queue)
        if found is None:
            self._refuse(session, token, codes.NO_QUEUE)
            return
        gone = [message for message in self.messages_of(found.id) if message.place != LEASED]
        for message in gone:
            self._state.deleted(message, found, session.dialect, facts.PURGED)
        self._out.answer(session, token, stage, codes.OK, None, len(gone))

    def pause(self, session: Session, token: i64, queue: bytes, stage: i64) -> None:
        found = self._state.queues.get(queue)
        if found is None:
            self._refuse(session, token, codes.NO_QUEUE)
            return
        if not found.paused:
            self._state.paused(found, session.dialect)
        self._out.answer(session, token, stage, codes.OK, None, 0)

    def resume(self, session: Session, token: i64, queue: bytes, stage: i64) -> None:
        found = self._state.queues.get(queue)
        if found is None:
            self._refuse(session, token, codes.NO_QUEUE)
            return
        if found.paused:
            self._state.resumed(found, session.dialect)
            self._hands.serve(found)
        self._out.answer(session, token, stage, codes.OK, None, 0)

    def _refuse(self, session: Session, token: i64, code: i64) -> None:
        self._out.answer(session, token, stages.READY, code, None, 0)

    def messages_of(self, queue_id: i64) -> list[Message]:
        return [message for message in self._state.messages.values() if message.queue_id == queue_id]

    # -- clients with names

    def meet(self, session: Session, token: i64, number: i64, durable: bool) -> None:
        """Names come out of the messages' numbers, which no crash brings back; the last bit is for durable ones."""
        state = self._state
        if not 0 < number >> 1 < state.next_seq or self._out.is_present(number):
            number = state.draw() << 1 | i64(durable)
        session.client_id = number
        session.durable = durable or number & 1 != 0
        self._out.enter(session)
        self._out.answer(session, token, stages.READY, codes.OK, None, number)

    # -- waiting

    def subscribe(self, session: Session, queue: bytes) -> bool:
        if not self._waiting.subscribe(session, queue):
            return False
        self._watch(queue)
        self._serve_subscriber(session)
        return True

    def unsubscribe(self, session: Session, queue: bytes) -> None:
        self._waiting.unsubscribe(session, queue)

    def credit(self, session: Session, stage: i64) -> bool:
        subscriber = self._waiting.credit(session, stage)
        if subscriber is None:
            return False
        if not subscriber.credits:  # where an older one is left, there is nothing that it could have
            self._hands.serve_subscriber(subscriber)
        return True

    def wait(self, session: Session, token: i64, queue: bytes) -> None:
        self._waiting.sleep(session, token, queue)
        self._watch(queue)
        found = self._state.queues.get(queue)
        if found is not None and found.available():
            self._hands.rouse(self._waiting.lines[queue])

    def listen(self, session: Session, queue: bytes) -> bool:
        if not self._waiting.listen(session, queue):
            return False
        self._watch(queue)
        return True

    def unlisten(self, session: Session, queue: bytes) -> None:
        self._waiting.unlisten(session, queue)

    def cancel(self, session: Session) -> None:
        for waiter in self._waiting.depart(session):
            self._state.agenda.drop(waiter)
        if session.client_id != 0:
            self._out.leave(session)

    def _watch(self, queue: bytes) -> None:
        found = self._state.queues.get(queue)
        if found is not None:
            found.watched = True

    def _serve_subscriber(self, session: Session) -> None:
        subscriber = self._waiting.subscriber(session)
        if subscriber is not None:
            self._hands.serve_subscriber(subscriber)

    # -- looking

    def peek(self, session: Session, token: i64, queue: bytes, limit: int, after: Rank | None = None) -> None:
        found = self._state.queues.get(queue)
        if found is None:
            self._out.answer_with(session, token, stages.READY, codes.NO_QUEUE, [])
            return
        first = looking.first_ready(found, min(limit, PEEK_MAX), after)
        views = [looking.message_view(message, found) for message in first]
        self._out.answer_with(session, token, stages.READY, codes.OK, views)

    def show_message(self, session: Session, token: i64, seq: i64) -> None:
        message = self._state.messages.get(seq)
        if message is None:
            self._out.answer_with(session, token, stages.READY, codes.NO_MESSAGE, None)
            return
        view = looking.message_view(message, self._state.by_id[message.queue_id])
        self._out.answer_with(session, token, stages.READY, codes.OK, view)

    def show_queue(self, session: Session, token: i64, queue: bytes) -> None:
        found = self._state.queues.get(queue)
        if found is None:
            self._out.answer_with(session, token, stages.READY, codes.NO_QUEUE, None)
            return
        view = looking.queue_view(found, self._state, self._waiting)
        view.sources = self._state.book.sources(found.name, found.policy, int(found.dialect))
        self._out.answer_with(session, token, stages.READY, codes.OK, view)

    def list_queues(self, session: Session, token: i64) -> None:
        queues = sorted(self._state.queues.items())
        views = [looking.queue_view(queue, self._state, self._waiting) for _, queue in queues]
        self._out.answer_with(session, token, stages.READY, codes.OK, views)

    def stats(self, session: Session, token: i64) -> None:
        view = looking.stats_view(self._state, self._waiting)
        self._out.answer_with(session, token, stages.READY, codes.OK, view)
