"""Somebody else at the same broker, for transcripts: `B:` lines become verbs, outcomes become `A:` lines."""

from __future__ import annotations

from penstock.codecs.ids import Ids
from penstock.model.codes import CODES
from penstock.model.options import Publishing, Reserving
from penstock.model.policy import Policy
from penstock.model.views import Counts, QueueView
from tests.broker.client import Client, Outcome
from tests.broker.desks import Desk
from tests.fields import fields

MILLISECOND_US = 1_000
LEDGER = fields(Counts)


class Other:
    """Names ending in `_ms` are durations; `id` is an id as the dialect shows it."""

    def __init__(self, desk: Desk, ids: Ids) -> None:
        self._desk = desk
        self._ids = ids
        self._client = Client(desk)

    def perform(self, line: bytes) -> bytes:
        head, _, body = line.partition(b" body=")
        verb, queue, *named = head.split(b" ")
        arguments = dict(word.decode().split("=", 1) for word in named)
        method = getattr(self, "_" + verb.decode())
        answer: bytes = method(queue, body, arguments)
        return answer

    def ledger(self) -> dict[bytes, dict[str, int]]:
        """Every queue's counts."""
        views = self._client.ask(self._desk.broker.list_queues).value
        assert isinstance(views, list)
        return {view.name: _counts(view) for view in views}

    # -- verbs

    def _publish(self, queue: bytes, body: bytes, said: dict[str, str]) -> bytes:
        key = said["key"].encode() if "key" in said else None
        options = Publishing(
            ttl_us=_us(said, "ttl_ms"),
            lease_us=_us(said, "lease_ms"),
            priority=int(said.get("priority", 0)),
            parked="parked" in said,
            key=key,
        )
        outcome = self._client.publish(queue, body, _us(said, "delay_ms"), options)
        return self._words(outcome, outcome.number)

    def _reserve(self, queue: bytes, body: bytes, said: dict[str, str]) -> bytes:
        return self._message(self._client.reserve(queue, Reserving(lease_us=_us(said, "lease_ms"))))

    def _take(self, queue: bytes, body: bytes, said: dict[str, str]) -> bytes:
        return self._message(self._client.take(queue))

    def _finish(self, queue: bytes, body: bytes, said: dict[str, str]) -> bytes:
        return self._words(self._client.finish(queue, self._seq(said)))

    def _extend(self, queue: bytes, body: bytes, said: dict[str, str]) -> bytes:
        return self._words(self._client.extend(queue, self._seq(said), _us(said, "lease_ms")))

    def _declare(self, queue: bytes, body: bytes, said: dict[str, str]) -> bytes:
        return self._words(self._client.declare(queue, _policy(said)))

    def _set(self, queue: bytes, body: bytes, said: dict[str, str]) -> bytes:
        return self._words(self._client.set_policy(queue, _policy(said)))

    def _pause(self, queue: bytes, body: bytes, said: dict[str, str]) -> bytes:
        return self._words(self._client.on_queue(self._desk.broker.pause, queue))

    def _resume(self, queue: bytes, body: bytes, said: dict[str, str]) -> bytes:
        return self._words(self._client.on_queue(self._desk.broker.resume, queue))

    def _show(self, queue: bytes, body: bytes, said: dict[str, str]) -> bytes:
        """The queue's counts, as far as they are not 0."""
        outcome = self._client.ask(self._desk.broker.show_queue, queue)
        if not isinstance(outcome.value, QueueView):
            return self._words(outcome)
        counts = _counts(outcome.value)
        return " ".join(["ok", *(f"{name}={count}" for name, count in sorted(counts.items()) if count)]).encode()

    # -- words

    def _message(self, outcome: Outcome) -> bytes:
        if outcome.message is None:
            return self._words(outcome)
        return self._words(outcome, int(outcome.message.order)) + b" " + outcome.message.body

    def _words(self, outcome: Outcome, seq: int = 0) -> bytes:
        name = CODES[outcome.code][0].encode()
        return name + b" " + self._ids.show(seq) if seq else name

    def _seq(self, said: dict[str, str]) -> int:
        return int(self._ids.seq(said["id"].encode()))


def _us(said: dict[str, str], name: str) -> int:
    return int(said[name]) * MILLISECOND_US if name in said else -1


def _policy(said: dict[str, str]) -> Policy:
    policy = Policy()
    for name, value in said.items():
        if name == "dead_letter":
            policy.dead_letter = value.encode()
        elif name.endswith("_ms"):
            setattr(policy, name.removesuffix("ms") + "us", int(value) * MILLISECOND_US)
        else:
            setattr(policy, name, int(value))
    return policy


def _counts(view: QueueView) -> dict[str, int]:
    return {name: getattr(view.counts, name) for name in LEDGER}
