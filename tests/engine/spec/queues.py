"""The model's whole queues: their policies, and everything that only looks."""

from __future__ import annotations

from typing import Any

from penstock.model import codes, stages
from penstock.model.limits import PEEK_MAX, QUEUE_NAME_MAX
from penstock.model.policy import INTEGER_FIELDS, POLICY_FIELDS, Policy
from penstock.model.views import Rank
from tests.engine.clients import Client, plain_policy
from tests.engine.spec.lives import Lives
from tests.engine.spec.truth import Queue, view_of


class WholeQueues(Lives):
    def declare(self, client: Client, token: int, name: bytes, policy: Policy, stage: int) -> None:
        if name in self.truth.queues:
            self.answer(client, token, stage, codes.QUEUE_EXISTS, None, 0)
        elif len(name) > QUEUE_NAME_MAX:
            self.answer(client, token, stages.READY, codes.BAD_NAME, None, 0)
        elif not _acceptable(name, policy):
            self.answer(client, token, stages.READY, codes.BAD_POLICY, None, 0)
        else:
            self.make_queue(name, client.dialect, policy)
            self.answer(client, token, stage, codes.OK, None, 0)

    def _found(self, client: Client, token: int, name: bytes) -> Queue | None:
        queue = self.truth.queues.get(name)
        if queue is None:
            self.answer(client, token, stages.READY, codes.NO_QUEUE, None, 0)
        return queue

    def set(
        self, client: Client, token: int, name: bytes, policy: Policy, stage: int, unsaid: tuple[str, ...] = ()
    ) -> None:
        queue = self._found(client, token, name)
        if queue is None:
            return
        if not _acceptable(name, policy) or not set(unsaid) <= set(POLICY_FIELDS):
            self.answer(client, token, stages.READY, codes.BAD_POLICY, None, 0)
            return
        window_us = self.rule(queue, "dedup_us")  # what is forgotten under the old window stays forgotten
        queue.known = [known for known in queue.known if known[2] + window_us > self.now_us]
        kept = {field: value for field, value in plain_policy(queue.policy).items() if field not in unsaid}
        queue.policy = Policy(**{**kept, **plain_policy(policy)})
        queue.modified_us = self.now_us
        self.answer(client, token, stage, codes.OK, None, 0)

    def remove(self, client: Client, token: int, name: bytes, stage: int) -> None:
        if self._found(client, token, name) is None:
            return
        gone = [message for message in self.truth.messages if message.queue == name]
        self.truth.messages = [message for message in self.truth.messages if message.queue != name]
        del self.truth.queues[name]
        self.answer(client, token, stage, codes.OK, None, len(gone))

    def purge(self, client: Client, token: int, name: bytes, stage: int) -> None:
        if self._found(client, token, name) is None:
            return
        gone = [message for message in self.truth.messages if message.queue == name and message.waits]
        for message in gone:
            self.end(message, "deleted")
        self.answer(client, token, stage, codes.OK, None, len(gone))

    def pause(self, client: Client, token: int, name: bytes, stage: int) -> None:
        self._set_paused(client, token, name, stage, True)

    def resume(self, client: Client, token: int, name: bytes, stage: int) -> None:
        self._set_paused(client, token, name, stage, False)

    def _set_paused(self, client: Client, token: int, name: bytes, stage: int, paused: bool) -> None:
        queue = self._found(client, token, name)
        if queue is None:
            return
        if queue.paused != paused:
            queue.paused = paused
            queue.modified_us = self.now_us
            self.settle()
        self.answer(client, token, stage, codes.OK, None, 0)

    # -- looking

    def peek(self, client: Client, token: int, name: bytes, limit: int, after: Rank | None = None) -> None:
        if name not in self.truth.queues:
            self.answer_with(client, token, stages.READY, codes.NO_QUEUE, ())
            return
        found = self.ranked(name)
        if after is not None:
            place = (-after.priority, after.ready_us, after.seq)
            found = [message for message in found if (-message.priority, message.ready_us, message.order) > place]
        views = tuple(map(view_of, found[: min(limit, PEEK_MAX)]))
        self.answer_with(client, token, stages.READY, codes.OK, views)

    def show_message(self, client: Client, token: int, number: int) -> None:
        found = [message for message in self.truth.messages if message.order == number]
        code, value = (codes.OK, view_of(found[0])) if found else (codes.NO_MESSAGE, None)
        self.answer_with(client, token, stages.READY, code, value)

    def show_queue(self, client: Client, token: int, name: bytes) -> None:
        queue = self.truth.queues.get(name)
        if queue is None:
            self.answer_with(client, token, stages.READY, codes.NO_QUEUE, None)
            return
        view = self.queue_view(name) | {"sources": self.sources(name, queue.policy, queue.dialect)}
        self.answer_with(client, token, stages.READY, codes.OK, view)

    def list_queues(self, client: Client, token: int) -> None:
        views = tuple(self.queue_view(name) for name in sorted(self.truth.queues))
        self.answer_with(client, token, stages.READY, codes.OK, views)

    def stats(self, client: Client, token: int) -> None:
        names = list(self.truth.queues)
        value = {
            "counts": self.counts(names),
            "now_us": self.now_us,
            "queues": len(names),
            "waiting": self._waiting(),
        }
        self.answer_with(client, token, stages.READY, codes.OK, value)

    def queue_view(self, name: bytes) -> dict[str, Any]:
        queue = self.truth.queues[name]
        ranked = self.ranked(name)
        return {
            "counts": self.counts([name]),
            "created_us": queue.created_us,
            "dialect": queue.dialect,
            "effective": self.effective(name, queue.policy, queue.dialect),
            "modified_us": queue.modified_us,
            "name": name,
            "oldest_ready_us": ranked[0].ready_us if ranked else 0,
            "paused": queue.paused,
            "policy": plain_policy(queue.policy),
            "sources": {},
            "waiting": self._waiting(name),
        }

    def _waiting(self, name: bytes | None = None) -> int:
        """Clients that wait for a message of this queue, or of any: one with credit, once for each subscription."""
        places = [waiter.queue for waiter in self.waiters if waiter.options is not None]
        for client in {waiter.client for waiter in self.waiters if waiter.options is None}:
            places += self.subscriptions.get(client, [])
        return len(places) if name is None else places.count(name)


def _acceptable(name: bytes, policy: Policy) -> bool:
    said = plain_policy(policy)
    ranges = {field: (smallest, largest) for field, (_, smallest, largest) in INTEGER_FIELDS.items()}
    numbers = [(said[field], *ranges[field]) for field in said if field in ranges]
    numbers += [(step, *ranges["delay_us"]) for step in policy.backoff_us or ()]
    dead = policy.dead_letter or b""
    if dead and (dead == name or len(dead) > QUEUE_NAME_MAX):
        return False
    return all(low <= value <= high for value, low, high in numbers)
