"""Views of what is true, for people. Reads only, and hands out copies."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest

from mypy_extensions import i64

from penstock.engine.queue import Queue
from penstock.engine.ranked import Ranked
from penstock.engine.rules import merged
from penstock.engine.state import State
from penstock.engine.waiting import Waiting
from penstock.model.limits import NEVER_US
from penstock.model.message import LEASED, PARKED, Message
from penstock.model.policy import Past
from penstock.model.views import Counts, Glance, MessageView, QueueView, Rank, StatsView


def message_view(message: Message, queue: Queue) -> MessageView:
    view = MessageView(int(message.order), queue.name, int(message.place), message.body, message.key)
    view.priority = int(message.priority)
    view.dialect = int(message.dialect)
    view.published_us = int(message.published_us)
    view.ready_us = int(message.ready_us)
    view.expires_us = int(message.expires_us)
    view.lease_us = int(message.lease_us)
    view.leased_us = int(message.leased_us)
    view.first_leased_us = int(message.first_leased_us)
    view.until_us = int(message.until_us)
    view.holder = int(message.holder)
    view.deliveries = int(message.deliveries)
    view.failures = int(message.failures)
    view.origin = message.origin
    return view


def counts(queues: Iterable[Queue]) -> Counts:
    total = Counts()
    for queue in queues:
        total.published += queue.published
        total.delayed += queue.delayed
        total.ready += queue.ready.count + queue.wide.count
        total.parked += queue.parked
        total.leased += queue.leased
        total.finished += queue.finished
        total.dropped += queue.dropped
        total.expired += queue.expired
        total.deleted += queue.deleted
        total.delivered += queue.delivered
        total.failed += queue.failed
        total.body_bytes += queue.body_bytes
    return total


def queue_view(queue: Queue, state: State, waiting: Waiting) -> QueueView:
    effective = state.book.effective(queue.name, queue.policy, queue.dialect)
    view = QueueView(queue.name, counts((queue,)), merged([queue.policy]), effective)
    view.dialect = int(queue.dialect)
    view.paused = queue.paused
    view.created_us = int(queue.created_us)
    view.modified_us = int(queue.modified_us)
    oldest = queue.oldest()
    view.oldest_ready_us = 0 if oldest is None else int(oldest.ready_us)
    line = waiting.lines.get(queue.name)
    view.waiting = 0 if line is None else line.waiting()
    return view


def glance(queue: Queue | None, now_us: i64) -> Glance:
    seen = Glance(now_us)
    if queue is None:
        return seen
    rules = queue.rules
    seen.there = True
    seen.lease_us = rules.lease_us
    seen.delay_us = rules.delay_us
    seen.max_body = rules.said_body
    seen.published = queue.published
    seen.delivered = queue.delivered
    seen.length = queue.length()
    seen.created_us = queue.created_us
    seen.modified_us = queue.modified_us
    seen.changes = queue.changes
    if queue.policy.past is not None:
        _look_back(seen, queue.policy.past)
    return seen


def _look_back(seen: Glance, past: Past) -> None:
    """A queue that came from elsewhere is as old as it was there, and has all that behind it."""
    if seen.modified_us == seen.created_us:
        seen.modified_us = past.modified_us
    seen.created_us = past.created_us
    seen.published += past.published
    seen.delivered += past.delivered


def seen_from_us(message: Message) -> i64:
    """When it can be seen, or could for the first time: the end of its lease, or when it is due; parked: never."""
    if message.place == LEASED:
        return message.until_us
    return NEVER_US if message.place == PARKED else message.ready_us


def count_seen(queue: Queue, messages: Iterable[Message], from_us: i64, until_us: i64, now_us: i64) -> int:
    """How many of a queue's messages can be seen from one time to another. Whatever is hidden can be seen later than
    now, so that what all clients ask for, everything from about now on, is counted without looking at each."""
    if from_us <= now_us and until_us >= NEVER_US:
        hidden = queue.length() - queue.ready.count - queue.wide.count
        return int(hidden) + _ready_from(queue.ready, from_us) + _ready_from(queue.wide, from_us)
    return sum(1 for message in messages if from_us <= seen_from_us(message) <= until_us)


def _ready_from(ready: Ranked, from_us: i64) -> int:
    first, last = ready.first(), ready.last()
    if first is None or last is None:
        return 0
    if first.priority == last.priority:
        return ready.count_after(_standing(Rank(int(first.priority), int(from_us), 0)))
    return sum(1 for message in ready if message.ready_us >= from_us)


def list_seen(messages: Iterable[Message], from_us: i64, until_us: i64, limit: int) -> list[Message]:
    """The first that can be seen within that time, in the order of when and then of their numbers."""
    found = [
        (int(seen_from_us(message)), int(message.order), message)
        for message in messages
        if from_us <= seen_from_us(message) <= until_us
    ]
    return [message for _, _, message in nsmallest(limit, found)]


def stats_view(state: State, waiting: Waiting) -> StatsView:
    return StatsView(counts(state.queues.values()), len(state.queues), waiting.count(), int(state.now_us))


def first_ready(queue: Queue, limit: int, after: Rank | None = None) -> list[Message]:
    """What could be taken, in rank, from the first or after a rank."""
    narrow = iter(queue.ready) if after is None else queue.ready.after(_standing(after))
    wide = iter(queue.wide) if after is None else queue.wide.after(_standing(after))
    one, other = next(narrow, None), next(wide, None)
    found: list[Message] = []
    while len(found) < limit and (one is not None or other is not None):
        if other is None or (one is not None and queue.ready.before(one, other)):
            assert one is not None
            found.append(one)
            one = next(narrow, None)
        else:
            found.append(other)
            other = next(wide, None)
    return found


def _standing(rank: Rank) -> Message:
    """Something that stands there, to compare with."""
    message = Message(rank.seq, 0, b"", 0, rank.ready_us)
    message.priority = rank.priority
    return message
