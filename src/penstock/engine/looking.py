"""Views of what is true, for people. Reads only, and hands out copies."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.engine.queue import Queue
from penstock.engine.rules import merged
from penstock.engine.state import State
from penstock.engine.waiting import Waiting
from penstock.model.message import Message
from penstock.model.views import Counts, MessageView, QueueView, Rank, StatsView


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
