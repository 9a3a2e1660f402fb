"""Handing out: who gets which message, at once or later. Order is the queue's, turns are the line's; the rule here is
that nobody waits beside a message they could have."""

from __future__ import annotations

from mypy_extensions import i64

from penstock.engine.queue import Queue
from penstock.engine.ranked import older
from penstock.engine.state import State
from penstock.engine.waiting import Line, Subscriber, Waiter, Waiting
from penstock.model import codes, facts, stages
from penstock.model.contract import Out
from penstock.model.limits import NEVER_US, TAKE_BYTES_MAX, TAKE_MESSAGES_MAX
from penstock.model.message import Lease, Message, Origin
from penstock.model.options import Reserving, Taking


class Hands:
    """Leases and takes, for callers and for those who wait."""

    def __init__(self, state: State, waiting: Waiting, out: Out) -> None:
        self._state: State = state
        self._waiting: Waiting = waiting
        self._out: Out = out

    def lease(self, message: Message, queue: Queue, dialect: i64, options: Reserving) -> None:
        """Call over message over queue: whoever says the length first."""
        lease_us = options.lease_us
        if lease_us < 0:
            lease_us = message.lease_us
            if lease_us < 0:
                lease_us = queue.rules.lease_us
                if lease_us < 0:
                    lease_us = options.unsaid_us
        until_us = NEVER_US if lease_us >= NEVER_US else self._state.now_us + lease_us
        self._state.leased(message, queue, dialect, options.holder, until_us, options.old_place)
        if message.origin is not None:
            self.tell(message, stages.ASSIGN)

    def take(self, message: Message, queue: Queue, dialect: i64) -> None:
        self._state.finished(message, queue, dialect, facts.TAKEN, 0)
        if message.origin is not None:
            self.tell(message, stages.FINISH)

    def take_with_mates(self, chosen: Message, queue: Queue, dialect: i64) -> list[Message]:
        """The chosen one, then its key mates, newest first, as many as one answer holds."""
        taken = [chosen]
        self.take(chosen, queue, dialect)
        key = chosen.key
        if key is None:
            return taken
        room = TAKE_BYTES_MAX - len(key) - len(chosen.body)
        mate = self._mate(key, queue)
        while mate is not None and len(taken) < TAKE_MESSAGES_MAX:
            room -= len(key) + len(mate.body)
            if room < 0:
                break
            taken.append(mate)
            self.take(mate, queue, dialect)
            mate = self._mate(key, queue)
        return taken

    def _mate(self, key: bytes, queue: Queue) -> Message | None:
        """The newest that has not expired: where time jumped, its own turn in the agenda may be yet to come."""
        mate = queue.mate(key)
        while mate is not None and mate.expires_us <= self._state.now_us:
            self._state.expired(mate, queue)
            mate = queue.mate(key)
        return mate

    def tell(self, message: Message, stage: i64) -> None:
        """A notice, if the poster asked for it."""
        origin = message.origin
        if origin is not None and origin.notify >> stage & 1:
            self._out.notice(origin.poster, stage, origin.label, stage if stage <= stages.SYNC else last_asked(origin))

    def serve(self, queue: Queue) -> None:
        """Something may have become ready: the oldest waiters first, then the wake-up of all who sleep."""
        if not queue.watched or queue.paused:
            return
        line = self._waiting.lines.get(queue.name)
        if line is None:
            queue.watched = False
            return
        while queue.available():
            one = self._next_served(line, queue)
            if one is None:
                break
            self._hand(one, queue)
        if queue.available():
            self.rouse(line)

    def announce(self, queue: Queue) -> None:
        """One more was published: whoever listens hears of it."""
        line = self._waiting.lines.get(queue.name)
        if line is None:
            queue.watched = False
            return
        for session in line.listeners:
            self._out.announce(session, queue.name, queue.length())

    def rouse(self, line: Line) -> None:
        for session, token in self._waiting.rouse(line):
            self._out.wake(session, token)

    def serve_subscriber(self, subscriber: Subscriber) -> None:
        """A credit came: the best priority over all its queues, then the newest."""
        while subscriber.turn:
            best: Message | None = None
            source: Queue | None = None
            for name in subscriber.lines:
                queue = self._state.queues.get(name)
                message = None if queue is None or queue.paused else queue.newest()
                if message is not None and (best is None or _better(message, best)):
                    best, source = message, queue
            if best is None or source is None:
                return
            self._push(subscriber, best, source)

    def _next_served(self, line: Line, queue: Queue) -> Waiter | Subscriber | None:
        if queue.ready.count != 0:
            return line.first()
        for one in line.in_order():  # only wide ones are ready: not everyone can have them
            if not _needs_narrow(one):
                return one
        return None

    def _hand(self, one: Waiter | Subscriber, queue: Queue) -> None:
        if isinstance(one, Subscriber):
            message = queue.newest()
            assert message is not None
            self._push(one, message, queue)
            return
        self._state.agenda.drop(one)
        self._waiting.leave(one)
        if one.reserving is not None:
            self._hand_lease(one, queue, one.reserving)
        elif one.taking is not None:
            self._hand_take(one, queue, one.taking)

    def _hand_lease(self, waiter: Waiter, queue: Queue, options: Reserving) -> None:
        message = queue.oldest()
        assert message is not None
        self.lease(message, queue, waiter.session.dialect, options)
        if options.max > 0:
            self._out.answer_with(waiter.session, waiter.token, waiter.stage, codes.OK, [Lease(message)])
        else:
            self._out.answer(waiter.session, waiter.token, waiter.stage, codes.OK, message, i64(message.deliveries))

    def _hand_take(self, waiter: Waiter, queue: Queue, options: Taking) -> None:
        message = queue.newest() if options.newest else queue.oldest()
        assert message is not None
        session = waiter.session
        if options.mates:
            group = self.take_with_mates(message, queue, session.dialect)
            self._out.answer_with(session, waiter.token, waiter.stage, codes.OK, group)
        else:
            self.take(message, queue, session.dialect)
            self._out.answer(session, waiter.token, waiter.stage, codes.OK, message, i64(message.deliveries))

    def _push(self, subscriber: Subscriber, message: Message, queue: Queue) -> None:
        subscriber.spend()
        self._waiting.rejoin(subscriber)
        group = self.take_with_mates(message, queue, subscriber.session.dialect)
        self._out.push(subscriber.session, subscriber.stage, queue.name, group)


def last_asked(origin: Origin) -> i64:
    """The last stage of durability that the poster hears of: the turns of a life come after it."""
    if origin.notify >> stages.SYNC & 1:
        return stages.SYNC
    return stages.WRITE if origin.notify >> stages.WRITE & 1 else stages.READY


def _better(one: Message, other: Message) -> bool:
    """Across queues: the better priority, then the newest."""
    if one.priority != other.priority:
        return one.priority > other.priority
    return older(other, one)


def _needs_narrow(one: Waiter | Subscriber) -> bool:
    return isinstance(one, Subscriber) or (one.taking is not None and one.taking.newest)
