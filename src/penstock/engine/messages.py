"""The verbs on messages: publish, reserve, take, finish, release, extend, delete."""

from __future__ import annotations

from mypy_extensions import i64, u8

from penstock.engine.admission import admit
from penstock.engine.core import Core
from penstock.engine.endings import may_end, may_extend, may_release
from penstock.engine.hands import last_asked
from penstock.engine.queue import Queue
from penstock.engine.waiting import Waiter
from penstock.model import codes, facts, stages
from penstock.model.contract import Session
from penstock.model.limits import NEVER_US, TAKE_BYTES_MAX
from penstock.model.message import ENDED, LEASED, READY, WAIT_OVER, Lease, Message, Origin
from penstock.model.options import ANY_LIVE, Publishing, Reserving, Taking
from penstock.model.policy import Policy


class MessageVerbs(Core):
    """Each verb either changes something and says so at its stage, or changes nothing and says so at once.

    What a caller may build on is told at its stage too, for it rests on a fact that may be as young: a duplicate, a
    queue that is there already, and that a message is gone which anybody might have finished.
    """

    def publish(
        self, session: Session, token: i64, queue: bytes, body: bytes, delay_us: i64, options: Publishing, stage: i64
    ) -> None:
        state = self._state
        if options.origin is not None and state.marks.passed(options.origin):
            self._out.answer(session, token, stage, codes.ALREADY, None, state.marks.row(options.origin.mark))
            return
        found = state.queues.get(queue)
        twin = 0 if options.origin is None else self.twin(found, options.origin.dedup_id)
        if twin != 0:
            self._out.answer(session, token, stage, codes.DUPLICATE, None, twin)
            return
        code = admit(found, queue, session.dialect, body, delay_us, options, 0, 0, state.book)
        if self.full and code == codes.OK:
            code = codes.FULL
        if code != codes.OK:
            self._out.answer(session, token, stages.READY, code, None, 0)
            return
        if found is None:
            found = state.declared(state.next_queue_id, queue, session.dialect, Policy())
        message = self.publish_admitted(found, session.dialect, body, delay_us, options)
        self._out.answer(session, token, stage, codes.OK, None, message.order)

    def publish_admitted(
        self, queue: Queue, dialect: i64, body: bytes, delay_us: i64, options: Publishing, due_us: i64 = -1
    ) -> Message:
        """Make it, hand it over at once if somebody waits, tell its poster. A due time that is said beats the delay."""
        state = self._state
        rules = queue.rules
        now_us = state.now_us
        if delay_us < 0:
            delay_us = rules.delay_us
        message = Message(state.next_seq, queue.id, body, now_us, now_us + delay_us if due_us < 0 else due_us)
        message.dialect = u8(dialect)
        message.key = options.key
        message.priority = options.priority
        message.parked = options.parked
        message.lease_us = options.lease_us
        message.origin = options.origin
        ttl_us = options.ttl_us
        if ttl_us < 0:
            ttl_us = rules.ttl_us
        if ttl_us != 0:
            message.expires_us = now_us + ttl_us
        state.published(message, queue)
        if queue.watched:
            self._hands.announce(queue)
        if message.origin is not None:
            self._serve_and_tell(message, queue, message.origin)
        elif queue.watched and message.place == READY:
            self._hands.serve(queue)
        return message

    def _serve_and_tell(self, message: Message, queue: Queue, origin: Origin) -> None:
        """Whoever is waiting is served first, but the poster hears of the publishing before the handing out.

        Served before it was ever stored: whoever asked for `ready` hears `finish` instead, once.
        """
        hands = self._hands
        message.origin = None  # nothing is told meanwhile
        if queue.watched and message.place == READY:
            hands.serve(queue)
        message.origin = origin
        if message.place != ENDED:
            hands.tell(message, stages.READY)
            hands.tell(message, stages.WRITE)
            hands.tell(message, stages.SYNC)
            if message.place == LEASED:
                hands.tell(message, stages.ASSIGN)
            return
        self._state.unname(message, queue, origin)
        if origin.notify >> stages.READY & 1 or origin.notify >> stages.FINISH & 1:
            self._out.notice(origin.poster, stages.FINISH, origin.label, last_asked(origin))

    def twin(self, queue: Queue | None, dedup_id: bytes) -> int:
        """The number of the message that has this dedup id within the window; 0: none."""
        if queue is None or queue.dedup is None or not dedup_id:
            return 0
        self._state.forget(queue)
        return queue.dedup.number(dedup_id)

    def reserve(self, session: Session, token: i64, queue: bytes, options: Reserving, stage: i64) -> None:
        found = self._state.queues.get(queue)
        if found is None:
            self.answer_none(session, token, codes.NO_QUEUE, options.max > 0)
            return
        message = None if found.paused else found.oldest()
        if message is None:
            if options.wait_us > 0:
                self._join(session, token, stage, found, options.wait_us).reserving = options
            else:
                self.answer_none(session, token, codes.EMPTY, options.max > 0)
            return
        if options.max > 0:
            self._out.answer_with(session, token, stage, codes.OK, self._reserve_many(session, found, options))
            return
        self._hands.lease(message, found, session.dialect, options)
        self._out.answer(session, token, stage, codes.OK, message, i64(message.deliveries))

    def _reserve_many(self, session: Session, queue: Queue, options: Reserving) -> list[Lease]:
        """As many as one answer holds, and one in any case."""
        leased: list[Lease] = []
        room: i64 = TAKE_BYTES_MAX
        message = queue.oldest()
        while message is not None and len(leased) < options.max:
            room -= len(message.body)
            if room < 0 and leased:
                break
            self._hands.lease(message, queue, session.dialect, options)
            leased.append(Lease(message))
            message = queue.oldest()
        return leased

    def take(self, session: Session, token: i64, queue: bytes, options: Taking, stage: i64) -> None:
        found = self._state.queues.get(queue)
        if found is None:
            self.answer_none(session, token, codes.NO_QUEUE, options.mates)
            return
        message: Message | None = None
        if not found.paused:
            message = found.newest() if options.newest else found.oldest()
        if message is None:
            if options.wait_us > 0:
                self._join(session, token, stage, found, options.wait_us).taking = options
            else:
                self.answer_none(session, token, codes.EMPTY, options.mates)
        elif options.mates:
            group = self._hands.take_with_mates(message, found, session.dialect)
            self._out.answer_with(session, token, stage, codes.OK, group)
        else:
            self._hands.take(message, found, session.dialect)
            self._out.answer(session, token, stage, codes.OK, message, i64(message.deliveries))

    def answer_none(self, session: Session, token: i64, code: i64, as_list: bool) -> None:
        if as_list:
            self._out.answer_with(session, token, stages.READY, code, [])
        else:
            self._out.answer(session, token, stages.READY, code, None, 0)

    def _join(self, session: Session, token: i64, stage: i64, queue: Queue, wait_us: i64) -> Waiter:
        waiter = self._waiting.enqueue(session, token, stage, queue.name)
        queue.watched = True
        if wait_us < NEVER_US:
            self._state.agenda.file(waiter, self._state.now_us + wait_us, WAIT_OVER)
        return waiter

    def finish(self, session: Session, token: i64, queue: bytes, seq: i64, rule: i64, holder: i64, stage: i64) -> None:
        found = self._state.queues.get(queue)
        message = None if found is None else self.live(found, seq)
        if found is None or message is None or not may_end(message, rule, holder):
            number = 0 if found is None else seq
            gone = rule == ANY_LIVE  # as good as finished by this call
            self._out.answer(session, token, stage if gone else stages.READY, codes.NO_MESSAGE, None, number)
            return
        self._endings.finish(message, found, session.dialect, holder)
        self._out.answer(session, token, stage, codes.OK, None, seq)

    def release(
        self,
        session: Session,
        token: i64,
        queue: bytes,
        seq: i64,
        delay_us: i64,
        failed: bool,
        rule: i64,
        holder: i64,
        stage: i64,
    ) -> None:
        found = self._state.queues.get(queue)
        message = None if found is None else self.live(found, seq)
        if found is None or message is None or not may_release(message, rule, holder):
            self._out.answer(session, token, stages.READY, codes.NO_MESSAGE, None, seq)
            return
        self._endings.release(message, found, session.dialect, delay_us, failed)
        self._out.answer(session, token, stage, codes.OK, None, seq)

    def extend(
        self, session: Session, token: i64, queue: bytes, seq: i64, lease_us: i64, rule: i64, holder: i64, stage: i64
    ) -> None:
        found = self._state.queues.get(queue)
        message = None if found is None else self.live(found, seq)
        if found is None or message is None or not may_extend(message, rule, holder):
            self._out.answer(session, token, stages.READY, codes.NO_MESSAGE, None, seq)
            return
        due_us = self.extend_live(message, found, session.dialect, lease_us)
        self._out.answer(session, token, stage, codes.OK, None, due_us)

    def extend_live(self, message: Message, queue: Queue, dialect: i64, lease_us: i64) -> i64:
        due_us = NEVER_US if lease_us >= NEVER_US else self._state.now_us + max(lease_us, 0)
        self._state.extended(message, queue, dialect, due_us)
        self._hands.serve(queue)
        return due_us

    def delete(self, session: Session, token: i64, queue: bytes, seq: i64, stage: i64) -> None:
        found = self._state.queues.get(queue)
        message = None if found is None else self.live(found, seq)
        if found is None or message is None:
            self._out.answer(session, token, stages.READY, codes.NO_MESSAGE, None, seq)
            return
        self._state.deleted(message, found, session.dialect, facts.DELETED_ONE)
        self._out.answer(session, token, stage, codes.OK, None, seq)
