"""How leases and lives end: finish, release, failure, drop with its dead letter, expiry. Decides; State does."""

from __future__ import annotations

from mypy_extensions import i64

from penstock.engine.hands import Hands
from penstock.engine.queue import Queue
from penstock.engine.state import State
from penstock.model import facts, stages
from penstock.model.limits import EXTRA_MAX, ORIGIN_FIXED
from penstock.model.message import LEASED, PARKED, Message, Origin
from penstock.model.options import HOLDER_ONLY, LEASED_ONLY, WAITING_ONLY
from penstock.model.policy import Policy


class Endings:
    """Each method takes a live message and leaves it somewhere else."""

    def __init__(self, state: State, hands: Hands) -> None:
        self._state: State = state
        self._hands: Hands = hands

    def finish(self, message: Message, queue: Queue, dialect: i64, holder: i64) -> None:
        self._state.finished(message, queue, dialect, facts.ACKNOWLEDGED, holder)
        if message.origin is not None:
            self._hands.tell(message, stages.FINISH)

    def release(self, message: Message, queue: Queue, dialect: i64, delay_us: i64, failed: bool) -> None:
        if failed:
            self._fail(message, queue, dialect, facts.FAILED, delay_us)
        else:
            self._return(message, queue, dialect, self._state.now_us + max(delay_us, 0))

    def move(self, message: Message, queue: Queue, dialect: i64, due_us: i64) -> None:
        """When it can be seen; one that is leased and can be seen already is given back."""
        if message.place == LEASED and due_us <= self._state.now_us:
            self._return(message, queue, dialect, due_us)
        else:
            self._state.extended(message, queue, dialect, due_us)
            self._hands.serve(queue)

    def _return(self, message: Message, queue: Queue, dialect: i64, ready_us: i64) -> None:
        if message.expires_us <= self._state.now_us:
            self._state.expired(message, queue)
        else:
            self._state.released(message, queue, dialect, facts.RETURNED, ready_us, False)
            self._hands.tell(message, stages.RETRY)
            self._hands.serve(queue)

    def lease_over(self, message: Message, queue: Queue) -> None:
        self._fail(message, queue, 0, facts.TIMED_OUT, -1)

    def _fail(self, message: Message, queue: Queue, dialect: i64, reason: i64, delay_us: i64) -> None:
        """Expiry beats drop, drop beats another try."""
        failures: i64 = i64(message.failures) + 1
        limit = queue.rules.attempts
        if message.expires_us <= self._state.now_us:
            self._state.expired(message, queue)
        elif limit != 0 and failures >= limit:
            self._drop(message, queue, dialect, reason)
        else:
            ready_us = self._retry_at(message, queue, failures, reason, delay_us)
            self._state.released(message, queue, dialect, reason, ready_us, True)
            self._hands.tell(message, stages.RETRY)
            self._hands.serve(queue)

    def _retry_at(self, message: Message, queue: Queue, failures: i64, reason: i64, delay_us: i64) -> i64:
        """After the delay that was said, else the back-off, else at once: at the tail or, timed out, where it stood."""
        if delay_us < 0:
            delay_us = queue.rules.backoff_after(int(failures))
            if delay_us == 0 and message.old_place and reason == facts.TIMED_OUT:
                return message.ready_us
        return self._state.now_us + delay_us

    def _drop(self, message: Message, queue: Queue, dialect: i64, reason: i64) -> None:
        self._state.dropped(message, queue, dialect, reason)
        self._hands.tell(message, stages.DROP)
        if queue.rules.dead_letter and queue.rules.dead_letter != queue.name:
            self._publish_dead(message, queue)

    def _publish_dead(self, message: Message, queue: Queue) -> None:
        """A copy without ttl and notices, linked to the old one. Limits do not count: it must not be lost."""
        state = self._state
        name = queue.rules.dead_letter
        dead = state.queues.get(name)
        if dead is None:
            dead = state.declared(state.next_queue_id, name, queue.dialect, Policy())
        copy = Message(state.next_seq, dead.id, message.body, state.now_us, state.now_us)
        copy.key = message.key
        copy.priority = message.priority
        copy.lease_us = message.lease_us
        copy.dialect = message.dialect
        copy.origin = _origin_of_dead(message, queue.name)
        state.published(copy, dead)
        self._hands.announce(dead)
        self._hands.serve(dead)


def _origin_of_dead(message: Message, queue: bytes) -> Origin:
    origin = Origin()
    origin.dead_of = int(message.order)
    if message.origin is not None:
        origin.principal = message.origin.principal
        origin.trace = message.origin.trace
    if len(queue) + len(origin.principal) + len(origin.trace) + ORIGIN_FIXED <= EXTRA_MAX:
        origin.dead_from = queue
    return origin


def may_end(message: Message, rule: i64, holder: i64) -> bool:
    """The dialect's rule: any live message, only a leased one, only the holder's, only one that waits."""
    if rule == LEASED_ONLY:
        return message.place == LEASED
    if rule == HOLDER_ONLY:
        return message.place == LEASED and message.holder == holder
    return rule != WAITING_ONLY or message.place != LEASED


def may_release(message: Message, rule: i64, holder: i64) -> bool:
    return message.place == LEASED and may_end(message, rule, holder)


def may_extend(message: Message, rule: i64, holder: i64) -> bool:
    return message.place != PARKED and may_end(message, rule, holder)
