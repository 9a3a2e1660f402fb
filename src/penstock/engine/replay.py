"""Facts back into State: the way a restart goes. It looks up what a fact speaks of, checks it against the lifecycle
table, and calls the same methods as live traffic. Recording is off meanwhile."""

from __future__ import annotations

from mypy_extensions import i64, u8

from penstock.codecs.facts import BadFact, Fact, FactBatch, decode_origin
from penstock.codecs.policies import decode_policy
from penstock.engine.lifecycle import BEFORE
from penstock.engine.queue import Queue
from penstock.engine.state import State
from penstock.model import facts
from penstock.model.message import PLACE_NAMES, Message


class Silence(FactBatch):
    """Where facts go that are on record already."""

    def published(self, message: Message) -> None:
        pass

    def moved(
        self,
        kind: i64,
        message: Message,
        dialect: i64,
        reason: i64,
        flags: i64,
        due_us: i64,
        lease_us: i64,
        holder: i64,
    ) -> None:
        pass

    def queue_changed(self, kind: i64, queue_id: i64, dialect: i64, name: bytes, policy: bytes) -> None:
        pass

    def server_changed(self, kind: i64, next_seq: i64, note: bytes) -> None:
        pass


def apply(state: State, fact: Fact) -> None:
    """Raises BadFact where the fact cannot follow on what went before."""
    if fact.at_us < state.now_us:
        raise BadFact(f"fact {fact.seq} is older than the one before it")
    state.now_us = fact.at_us
    kind = fact.kind
    if kind == facts.PUBLISHED:
        state.published(*_published(state, fact))
    elif facts.LEASED <= kind <= facts.DELETED:
        _moved(state, fact)
    elif facts.DECLARED <= kind <= facts.RESUMED:
        _queue_changed(state, fact)
    elif kind == facts.STARTED:
        if fact.message < state.next_seq:
            raise BadFact(f"fact {fact.seq} goes back to message {fact.message}, which may have been given out")
        state.started(fact.message, fact.body)
    elif kind == facts.WOKEN:
        state.woken()
    else:
        raise BadFact(f"fact {fact.seq} is of the unknown kind {kind}")


def _published(state: State, fact: Fact) -> tuple[Message, Queue]:
    queue = _queue(state, fact)
    if fact.message < state.next_seq:
        raise BadFact(f"fact {fact.seq} publishes message {fact.message} again")
    message = Message(fact.message, fact.queue_id, fact.body, fact.at_us, fact.due_us)
    message.key = fact.key
    message.priority = fact.number
    message.parked = fact.flags & facts.PARKED_FLAG != 0
    message.dialect = u8(fact.dialect)
    message.expires_us = fact.expires_us
    message.lease_us = fact.lease_us
    message.origin = decode_origin(fact.extra)
    return message, queue


def _moved(state: State, fact: Fact) -> None:
    queue = _queue(state, fact)
    message = state.messages.get(fact.message)
    if message is None or message.queue_id != fact.queue_id:
        raise BadFact(f"fact {fact.seq} speaks of message {fact.message}, which is not live in its queue")
    allowed = BEFORE.get((int(fact.kind), int(fact.reason)))
    if allowed is None or message.place not in allowed:
        place = PLACE_NAMES[message.place]
        raise BadFact(f"fact {fact.seq} ({facts.FACT_NAMES[fact.kind]}) cannot follow on a message that is {place}")
    kind = fact.kind
    if kind == facts.LEASED:
        old_place = fact.flags & facts.OLD_PLACE_FLAG != 0
        state.leased(message, queue, fact.dialect, fact.holder, fact.due_us, old_place)
    elif kind == facts.FINISHED:
        state.finished(message, queue, fact.dialect, fact.reason, fact.holder)
    elif kind == facts.RELEASED:
        failure = fact.flags & facts.FAILURE_FLAG != 0
        state.released(message, queue, fact.dialect, fact.reason, fact.due_us, failure)
    elif kind == facts.EXTENDED:
        state.extended(message, queue, fact.dialect, fact.due_us)
    elif kind == facts.DROPPED:
        state.dropped(message, queue, fact.dialect, fact.reason)
    elif kind == facts.EXPIRED:
        state.expired(message, queue)
    else:
        state.deleted(message, queue, fact.dialect, fact.reason)


def _queue_changed(state: State, fact: Fact) -> None:
    kind = fact.kind
    if kind == facts.DECLARED:
        name = fact.key or b""
        if name in state.queues or fact.queue_id < state.next_queue_id:
            raise BadFact(f"fact {fact.seq} declares a queue that is there")
        state.declared(fact.queue_id, name, fact.dialect, decode_policy(fact.body))
        return
    queue = _queue(state, fact)
    if kind == facts.SET:
        state.policy_set(queue, fact.dialect, decode_policy(fact.body))
    elif kind == facts.REMOVED:
        if queue.length() != 0:
            raise BadFact(f"fact {fact.seq} removes queue {fact.queue_id}, which still holds messages")
        state.removed(queue, fact.dialect)
    elif kind == facts.PAUSED:
        state.paused(queue, fact.dialect)
    else:
        state.resumed(queue, fact.dialect)


def _queue(state: State, fact: Fact) -> Queue:
    queue = state.by_id.get(fact.queue_id)
    if queue is None:
        raise BadFact(f"fact {fact.seq} speaks of queue {fact.queue_id}, which is not there")
    return queue
