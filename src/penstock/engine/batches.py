"""Several verbs as one: all are admitted or none is, and their facts are one commit."""

from __future__ import annotations

from mypy_extensions import i64

from penstock.engine.admission import admit
from penstock.engine.endings import may_end, may_extend, may_release
from penstock.engine.messages import MessageVerbs
from penstock.engine.queue import Queue
from penstock.model import codes, facts, stages
from penstock.model.contract import DECLARE, DELETE, EXTEND, FINISH, MOVE, PUBLISH, RELEASE, Call, Session
from penstock.model.message import Message, Origin
from penstock.model.options import Publishing
from penstock.model.policy import Policy


class BatchVerbs(MessageVerbs):
    """An ending inside a batch that finds no message is an outcome, not a refusal of the rest, unless it is needed."""

    def batch(self, session: Session, token: i64, calls: list[Call], stage: i64) -> None:
        code = self._admit_all(calls, session.dialect)
        if code != codes.OK:
            self._out.answer_with(session, token, stages.READY, code, [])
            return
        outcomes = [self._perform(session, call) for call in calls]
        self._out.answer_with(session, token, stage, codes.OK, outcomes)

    def _admit_all(self, calls: list[Call], dialect: i64) -> i64:
        """Each publish on top of those before it in the same batch; endings as things stand before it."""
        state = self._state
        asked: dict[bytes, tuple[int, int]] = {}
        for call in calls:
            if call.verb != PUBLISH:
                code = self.admit_on_queue(call) if call.verb >= DECLARE else self._admit_on_message(call)
                if code != codes.OK:
                    return code
                continue
            length, body_bytes = asked.get(call.queue, (0, 0))
            queue = state.queues.get(call.queue)
            options = call.options or Publishing()
            if options.origin is not None and self._is_known(queue, options.origin):
                continue
            name, body, delay_us = call.queue, call.body, call.delay_us
            if call.due_us >= 0:
                delay_us = max(call.due_us - int(state.now_us), 0)
            namesake = self.found(call) if call.foreign_id else None
            if namesake is not None:
                if namesake.body != body:
                    return codes.DUPLICATE
                continue
            code = admit(queue, name, dialect, body, delay_us, options, length, body_bytes, state.book)
            if self.full and code == codes.OK:
                return codes.FULL
            if code != codes.OK:
                return code
            asked[call.queue] = (length + 1, body_bytes + len(call.body))
        return codes.OK

    def _is_known(self, queue: Queue | None, origin: Origin) -> bool:
        """It has been published, as far as was known before the batch."""
        return self._state.marks.passed(origin) or self.twin(queue, origin.dedup_id) != 0

    def _admit_on_message(self, call: Call) -> i64:
        return codes.NO_MESSAGE if call.needed and self.found(call) is None else codes.OK

    def admit_on_queue(self, call: Call) -> i64:
        """Of the verbs from DECLARE on."""
        raise NotImplementedError

    def perform_on_queue(self, session: Session, call: Call) -> tuple[int, int]:
        raise NotImplementedError

    def _perform(self, session: Session, call: Call) -> tuple[int, int]:
        """The code, and the message's number."""
        if call.verb == PUBLISH:
            return self._perform_publish(session, call)
        if call.verb >= DECLARE:
            return self.perform_on_queue(session, call)
        message = self.found(call)
        if message is None:
            return int(codes.NO_MESSAGE), call.seq
        queue = self._state.by_id[message.queue_id]
        if call.verb == DELETE:
            self._state.deleted(message, queue, session.dialect, facts.DELETED_ONE)
        elif call.verb == FINISH:
            self._endings.finish(message, queue, session.dialect, call.holder)
            call.seen = message
        elif call.verb == EXTEND:
            self.extend_live(message, queue, session.dialect, call.delay_us)
        elif call.verb == MOVE:
            self._endings.move(message, queue, session.dialect, call.due_us)
        else:
            self._endings.release(message, queue, session.dialect, call.delay_us, call.failed)
        return int(codes.OK), call.seq

    def found(self, call: Call) -> Message | None:
        """The message that a call is for, if its rule allows it."""
        queue = self._state.queues.get(call.queue)
        if queue is None:
            return None
        message = self.live(queue, call.seq)
        if message is None and call.foreign_id:
            message = queue.by_foreign_id.get(call.foreign_id)
        return message if message is not None and _allowed(call, message) else None

    def _perform_publish(self, session: Session, call: Call) -> tuple[int, int]:
        state = self._state
        options = call.options or Publishing()
        if options.origin is not None and state.marks.passed(options.origin):
            return int(codes.ALREADY), int(state.marks.row(options.origin.mark))
        queue = state.queues.get(call.queue)
        if queue is None:
            queue = state.declared(state.next_queue_id, call.queue, session.dialect, Policy())
        twin = 0 if options.origin is None else self.twin(queue, options.origin.dedup_id)
        if twin != 0:
            return int(codes.DUPLICATE), twin
        namesake = self.found(call) if call.foreign_id else None
        if namesake is not None:
            self._endings.move(namesake, queue, session.dialect, call.due_us)
            return int(codes.DUPLICATE), int(namesake.order)
        message = self.publish_admitted(queue, session.dialect, call.body, call.delay_us, options, call.due_us)
        return int(codes.OK), int(message.order)


def _allowed(call: Call, message: Message) -> bool:
    if call.verb == RELEASE:
        return may_release(message, call.rule, call.holder)
    if call.verb in (EXTEND, MOVE, PUBLISH):
        return may_extend(message, call.rule, call.holder)
    return may_end(message, call.rule, call.holder)
