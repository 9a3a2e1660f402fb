"""Several verbs as one: all are admitted or none is, and their facts are one commit."""

from __future__ import annotations

from mypy_extensions import i64

from penstock.engine.admission import admit
from penstock.engine.endings import may_end, may_extend, may_release
from penstock.engine.messages import MessageVerbs
from penstock.model import codes, facts, stages
from penstock.model.contract import DELETE, EXTEND, FINISH, PUBLISH, RELEASE, Call, Session
from penstock.model.message import Message
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
                if call.needed and self._found(call) is None:
                    return codes.NO_MESSAGE
                continue
            length, body_bytes = asked.get(call.queue, (0, 0))
            queue = state.queues.get(call.queue)
            options = call.options or Publishing()
            if options.origin is not None and self.twin(queue, options.origin.dedup_id) != 0:
                continue
            name, body, delay_us = call.queue, call.body, call.delay_us
            code = admit(queue, name, dialect, body, delay_us, options, length, body_bytes, state.book)
            if code != codes.OK:
                return code
            asked[call.queue] = (length + 1, body_bytes + len(call.body))
        return codes.OK

    def _perform(self, session: Session, call: Call) -> tuple[int, int]:
        """The code, and the message's number."""
        if call.verb == PUBLISH:
            return self._perform_publish(session, call)
        message = self._found(call)
        if message is None:
            return int(codes.NO_MESSAGE), call.seq
        queue = self._state.by_id[message.queue_id]
        if call.verb == DELETE:
            self._state.deleted(message, queue, session.dialect, facts.DELETED_ONE)
        elif call.verb == FINISH:
            self._endings.finish(message, queue, session.dialect, call.holder)
        elif call.verb == EXTEND:
            self.extend_live(message, queue, session.dialect, call.delay_us)
        else:
            self._endings.release(message, queue, session.dialect, call.delay_us, call.failed)
        return int(codes.OK), call.seq

    def _found(self, call: Call) -> Message | None:
        """The message that an ending is for, if its rule allows it."""
        message = self.live(call.queue, call.seq)
        return message if message is not None and _allowed(call, message) else None

    def _perform_publish(self, session: Session, call: Call) -> tuple[int, int]:
        state = self._state
        options = call.options or Publishing()
        queue = state.queues.get(call.queue)
        if queue is None:
            queue = state.declared(state.next_queue_id, call.queue, session.dialect, Policy())
        twin = 0 if options.origin is None else self.twin(queue, options.origin.dedup_id)
        if twin != 0:
            return int(codes.DUPLICATE), twin
        message = self.publish_admitted(queue, session.dialect, call.body, call.delay_us, options)
        return int(codes.OK), int(message.order)


def _allowed(call: Call, message: Message) -> bool:
    if call.verb == RELEASE:
        return may_release(message, call.rule, call.holder)
    if call.verb == EXTEND:
        return may_extend(message, call.rule, call.holder)
    return may_end(message, call.rule, call.holder)
