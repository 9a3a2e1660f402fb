"""The calls of a batch that speak of whole queues, or only look. What they find is a copy, made at their turn."""

from __future__ import annotations

from collections.abc import Iterable

from mypy_extensions import i64

from penstock.engine import looking
from penstock.engine.queue import Queue
from penstock.engine.queues import QueueVerbs
from penstock.engine.rules import acceptable, merged
from penstock.model import codes, facts
from penstock.model.contract import (
    CLEAR,
    COUNT,
    DECLARE,
    FIND,
    GLANCE,
    LIST,
    NAMES,
    REMOVE,
    SET,
    UNCHANGED,
    Call,
    Session,
)
from penstock.model.limits import LISTED_MAX, QUEUE_NAME_MAX
from penstock.model.message import Message
from penstock.model.policy import Policy


class QueueCalls(QueueVerbs):
    """A call for a queue that is not there, or to declare one that is, is an outcome and refuses nothing."""

    def admit_on_queue(self, call: Call) -> i64:
        if call.verb == UNCHANGED:
            found = self._state.queues.get(call.queue)
            return codes.OK if call.seq == (0 if found is None else found.changes) else codes.CHANGED
        if call.policy is not None and not acceptable(call.queue, call.policy):
            return codes.BAD_POLICY
        return codes.BAD_NAME if call.verb == DECLARE and len(call.queue) > QUEUE_NAME_MAX else codes.OK

    def perform_on_queue(self, session: Session, call: Call) -> tuple[int, int]:
        state = self._state
        verb = call.verb
        found = state.queues.get(call.queue)
        if verb == GLANCE:
            call.seen = looking.glance(found, state.now_us)
        elif verb == NAMES:
            call.seen = [(name, int(queue.length())) for name, queue in sorted(state.queues.items())]
        elif verb == DECLARE:
            return self._perform_declare(session, call, found)
        elif verb != UNCHANGED:
            return self._perform_on_found(session, call, found)
        return int(codes.OK), 0

    def _perform_declare(self, session: Session, call: Call, found: Queue | None) -> tuple[int, int]:
        if found is not None:
            return int(codes.QUEUE_EXISTS), 0
        self._state.declared(self._state.next_queue_id, call.queue, session.dialect, call.policy or Policy())
        return int(codes.OK), 0

    def _perform_on_found(self, session: Session, call: Call, found: Queue | None) -> tuple[int, int]:
        """The number: how many messages it was about."""
        if found is None:
            return int(codes.NO_QUEUE), 0
        number = 0
        if call.verb == FIND:
            message = self.found(call)
            call.seen = None if message is None else looking.message_view(message, found)
        elif call.verb == COUNT:
            messages = self._each_of(found)
            number = looking.count_seen(found, messages, call.due_us, call.until_us, self._state.now_us)
        elif call.verb == LIST:
            first = looking.list_seen(self._each_of(found), call.due_us, call.until_us, min(call.limit, LISTED_MAX))
            call.seen = [looking.message_view(message, found) for message in first]
        elif call.verb == SET:
            self._state.policy_set(found, session.dialect, merged([call.policy or Policy(), found.policy]))
        elif call.verb == CLEAR:
            number = self._clear(session, found)
        elif call.verb == REMOVE:
            number = self.remove_live(session, found)
        return int(codes.OK), number

    def _clear(self, session: Session, queue: Queue) -> int:
        gone = self.messages_of(queue.id)
        for message in gone:
            self._state.deleted(message, queue, session.dialect, facts.DELETED_ONE)
        return len(gone)

    def _each_of(self, queue: Queue) -> Iterable[Message]:
        return (message for message in self._state.messages.values() if message.queue_id == queue.id)
