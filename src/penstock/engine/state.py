"""What is true and durable: queues, messages, the agenda. One method per kind of fact; live traffic and replay both go
through it. It decides nothing: it does what a fact says and records the fact."""

from __future__ import annotations

from mypy_extensions import i64

from penstock.codecs.facts import FactBatch
from penstock.codecs.policies import encode_policy
from penstock.codecs.snapshots import MESSAGE_ROW_BYTES
from penstock.engine.agenda import Agenda
from penstock.engine.dedup import Dedup
from penstock.engine.ledger import Ledger
from penstock.engine.marks import Marks
from penstock.engine.queue import Queue
from penstock.engine.rules import PolicyBook
from penstock.model import facts
from penstock.model.limits import GRACE_US, NEVER_US, START_JUMP
from penstock.model.message import (
    DELAY_OVER,
    DELAYED,
    ENDED,
    EXPIRY,
    LEASE_OVER,
    LEASED,
    PARKED,
    READY,
    Message,
    Origin,
)
from penstock.model.policy import Policy


class State:
    """Law: after the same facts, the same state, whoever applied them."""

    def __init__(self, book: PolicyBook, record: FactBatch) -> None:
        self.now_us: i64 = 0
        self.next_seq: i64 = 1
        self.next_queue_id: i64 = 1
        self.queues: dict[bytes, Queue] = {}
        self.by_id: dict[int, Queue] = {}
        self.messages: Ledger = Ledger()
        self.body_bytes: i64 = 0  # of all of them
        self.agenda: Agenda = Agenda()
        self.marks: Marks = Marks()
        self.book: PolicyBook = book
        self.record: FactBatch = record

    # -- the server

    def started(self, next_seq: i64, note: bytes) -> None:
        self.next_seq = next_seq
        self.record.server_changed(facts.STARTED, next_seq, note)
        self._grant_grace()

    def woken(self) -> None:
        self.record.server_changed(facts.WOKEN, self.next_seq, b"")
        self._grant_grace()

    def first_seq_after_start(self) -> i64:
        return self.next_seq + START_JUMP

    def draw(self) -> i64:
        """A number for something else than a message. No fact: each start jumps over those that were drawn."""
        number = self.next_seq
        self.next_seq = number + 1
        return number

    # -- queues

    def declared(self, id: i64, name: bytes, dialect: i64, policy: Policy) -> Queue:
        rules = self.book.rules(name, policy, dialect)
        queue = Queue(id, name, dialect, policy, rules, self.now_us)
        self.queues[name] = queue
        self.by_id[id] = queue
        self.next_queue_id = id + 1
        self.record.queue_changed(facts.DECLARED, id, dialect, name, encode_policy(policy))
        return queue

    def policy_set(self, queue: Queue, dialect: i64, policy: Policy) -> None:
        self.forget(queue)  # a longer window must not bring back what was over
        queue.policy = policy
        queue.rules = self.book.rules(queue.name, policy, queue.dialect)
        queue.modified_us = self.now_us
        queue.changes += 1
        self.record.queue_changed(facts.SET, queue.id, dialect, queue.name, encode_policy(policy))

    def removed(self, queue: Queue, dialect: i64) -> None:
        del self.queues[queue.name]
        del self.by_id[queue.id]
        self.record.queue_changed(facts.REMOVED, queue.id, dialect, queue.name, b"")

    def paused(self, queue: Queue, dialect: i64) -> None:
        queue.paused = True
        queue.modified_us = self.now_us
        queue.changes += 1
        self.record.queue_changed(facts.PAUSED, queue.id, dialect, queue.name, b"")

    def resumed(self, queue: Queue, dialect: i64) -> None:
        queue.paused = False
        queue.modified_us = self.now_us
        queue.changes += 1
        self.record.queue_changed(facts.RESUMED, queue.id, dialect, queue.name, b"")

    def rebook(self, book: PolicyBook) -> None:
        """Another config: not a fact, for it is said again at each start."""
        self.book = book
        for queue in self.queues.values():
            queue.rules = book.rules(queue.name, queue.policy, queue.dialect)

    # -- messages

    def published(self, message: Message, queue: Queue) -> None:
        seq = message.order
        self.messages.add(message)
        if seq >= self.next_seq:
            self.next_seq = seq + 1
        queue.published += 1
        queue.changes += 1
        queue.body_bytes += len(message.body)
        self.body_bytes += len(message.body)
        if message.origin is not None:
            self._inherit(message, message.origin, queue)
        self._settle(message, queue)
        self.record.published(message)

    def leased(self, message: Message, queue: Queue, dialect: i64, holder: i64, until_us: i64, old_place: bool) -> None:
        self._withdraw(message, queue)
        message.place = LEASED
        message.deliveries += 1
        message.holder = holder
        message.until_us = until_us
        message.leased_us = self.now_us
        if message.first_leased_us == 0:
            message.first_leased_us = self.now_us
        message.old_place = old_place
        queue.leased += 1
        queue.delivered += 1
        if until_us < NEVER_US or message.slot != 0:
            self.agenda.file(message, until_us, LEASE_OVER)
        flags = facts.OLD_PLACE_FLAG if old_place else 0
        self.record.moved(facts.LEASED, message, dialect, 0, flags, until_us, until_us - self.now_us, holder)

    def finished(self, message: Message, queue: Queue, dialect: i64, reason: i64, holder: i64) -> None:
        if reason == facts.TAKEN:
            message.deliveries += 1
            queue.delivered += 1
        self._end(message, queue)
        queue.finished += 1
        self.record.moved(facts.FINISHED, message, dialect, reason, 0, 0, 0, holder)

    def released(self, message: Message, queue: Queue, dialect: i64, reason: i64, ready_us: i64, failure: bool) -> None:
        self._withdraw(message, queue)
        flags: i64 = 0
        if failure:
            flags = facts.FAILURE_FLAG
            message.failures += 1
            queue.failed += 1
        message.holder = 0
        message.until_us = 0
        message.ready_us = ready_us
        self._settle(message, queue)
        self.record.moved(facts.RELEASED, message, dialect, reason, flags, ready_us, 0, 0)

    def extended(self, message: Message, queue: Queue, dialect: i64, due_us: i64) -> None:
        lease_us: i64 = 0
        if message.place == LEASED:
            message.until_us = due_us
            queue.changes += 1
            lease_us = due_us - self.now_us
            self.agenda.file(message, due_us, LEASE_OVER)
        else:
            self._withdraw(message, queue)
            message.ready_us = due_us
            self._settle(message, queue)
        self.record.moved(facts.EXTENDED, message, dialect, 0, 0, due_us, lease_us, 0)

    def dropped(self, message: Message, queue: Queue, dialect: i64, reason: i64) -> None:
        message.failures += 1
        queue.failed += 1
        self._end(message, queue)
        queue.dropped += 1
        self.record.moved(facts.DROPPED, message, dialect, reason, facts.FAILURE_FLAG, 0, 0, 0)

    def expired(self, message: Message, queue: Queue) -> None:
        self._end(message, queue)
        queue.expired += 1
        self.record.moved(facts.EXPIRED, message, 0, 0, 0, 0, 0, 0)

    def deleted(self, message: Message, queue: Queue, dialect: i64, reason: i64) -> None:
        self._end(message, queue)
        queue.deleted += 1
        self.record.moved(facts.DELETED, message, dialect, reason, 0, 0, 0, 0)

    def live_bytes(self) -> i64:
        """What the messages that live would take in a snapshot: their rows and bodies."""
        return self.messages.count * MESSAGE_ROW_BYTES + self.body_bytes

    def became_due(self, message: Message, queue: Queue) -> None:
        """Delayed no longer. No fact: it follows from time."""
        queue.delayed -= 1
        self._ready(message, queue)

    def restored(self, message: Message, queue: Queue) -> None:
        """Out of a snapshot, whose counters know of it: where it stands follows from its fields and from time."""
        self.messages.add(message)
        queue.body_bytes += len(message.body)
        self.body_bytes += len(message.body)
        if message.place != LEASED:
            self._settle(message, queue)
            return
        queue.leased += 1
        if message.until_us < NEVER_US:
            self.agenda.file(message, message.until_us, LEASE_OVER)

    # -- places

    def _settle(self, message: Message, queue: Queue) -> None:
        """Waiting: delayed, ready or parked, by time alone."""
        if message.ready_us <= self.now_us:
            self._ready(message, queue)
            return
        message.place = DELAYED
        queue.delayed += 1
        if message.expires_us <= message.ready_us:
            self.agenda.file(message, message.expires_us, EXPIRY)
        else:
            self.agenda.file(message, message.ready_us, DELAY_OVER)

    def _ready(self, message: Message, queue: Queue) -> None:
        if message.parked:
            message.place = PARKED
            queue.parked += 1
        else:
            message.place = READY
        queue.put_in(message)
        if message.expires_us < NEVER_US or message.slot != 0:
            self.agenda.file(message, message.expires_us, EXPIRY)

    def _withdraw(self, message: Message, queue: Queue) -> None:
        queue.changes += 1
        place = message.place
        if place == READY:
            queue.take_out(message)
        elif place == LEASED:
            queue.leased -= 1
        elif place == DELAYED:
            queue.delayed -= 1
        else:
            queue.parked -= 1
            queue.take_out(message)

    def _end(self, message: Message, queue: Queue) -> None:
        self._withdraw(message, queue)
        message.place = ENDED
        queue.body_bytes -= len(message.body)
        self.body_bytes -= len(message.body)
        if message.slot != 0:
            self.agenda.drop(message)
        self.messages.remove(message)
        if message.origin is not None:
            self.unname(message, queue, message.origin)

    def unname(self, message: Message, queue: Queue, origin: Origin) -> None:
        """Its foreign id leads to it no more."""
        if origin.foreign_id and queue.by_foreign_id.get(origin.foreign_id) is message:
            del queue.by_foreign_id[origin.foreign_id]

    def _inherit(self, message: Message, origin: Origin, queue: Queue) -> None:
        """What a message brings along. Deliveries elsewhere are none of this queue's."""
        message.deliveries = origin.deliveries
        message.first_leased_us = origin.first_leased_us
        if origin.foreign_id:
            queue.by_foreign_id[origin.foreign_id] = message
        if origin.dedup_id:
            self._remember(queue, origin.dedup_id, message)
        if origin.mark:
            self.marks.move(origin.mark, origin.row)

    def _remember(self, queue: Queue, dedup_id: bytes, message: Message) -> None:
        window_us = queue.rules.dedup_us
        if window_us == 0:
            return
        if queue.dedup is None:
            queue.dedup = Dedup()
        queue.dedup.remember(dedup_id, message.order, message.published_us)
        self.forget(queue)

    def forget(self, queue: Queue) -> None:
        """Dedup ids whose window is over."""
        if queue.dedup is not None:
            queue.dedup.forget(self.now_us - queue.rules.dedup_us)

    def _grant_grace(self) -> None:
        """Downtime never fails a message: every lease gets at least its own length, up to ten seconds, from now."""
        now_us = self.now_us
        for message in self.messages.values():
            if message.place == LEASED and message.until_us < NEVER_US:
                length_us = message.until_us - message.leased_us
                until_us = now_us + min(length_us, GRACE_US)
                if message.until_us < until_us:
                    message.until_us = until_us
                    self.agenda.file(message, until_us, LEASE_OVER)
