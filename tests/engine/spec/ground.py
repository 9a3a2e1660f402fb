"""The ground of the model: what is true, which rules hold, who waits, and what has been said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from penstock.model import codes, stages
from penstock.model.limits import (
    BODY_MAX,
    DEDUP_ID_MAX,
    DELAY_MAX_US,
    DELIVERIES_MAX,
    EXTRA_MAX,
    KEY_MAX,
    LEASE_MAX_US,
    MARK_MAX,
    NEVER_US,
    PRIORITY_MAX,
    PRIORITY_MIN,
    QUEUE_NAME_MAX,
    TTL_MAX_US,
)
from penstock.model.message import DELAYED, PARKED, PLACE_NAMES, READY, Origin
from penstock.model.options import Publishing, Reserving, Taking
from penstock.model.policy import Policy
from penstock.model.views import DEFAULT, MATCHED, SAID
from tests.engine.clients import Client, Event, notice, plain_policy
from tests.engine.spec.truth import TALLIES, Message, Queue, Truth, Waiter


class Ground:
    def __init__(self, patterns: Sequence[tuple[bytes, Policy]], defaults: dict[int, Policy]) -> None:
        self.patterns = list(patterns)
        self.defaults = defaults
        self.truth = Truth()
        self.said: list[tuple[int, Event]] = []  # each with the stage it waits for
        self.forget_clients()

    def forget_clients(self) -> None:
        self.waiters: list[Waiter] = []
        self.subscriptions: dict[Client, list[bytes]] = {}
        self.sleepers: dict[tuple[bytes, Client], int] = {}
        self.turns = 0

    @property
    def now_us(self) -> int:
        return self.truth.now_us

    # -- what is there

    def ready(self, name: bytes, narrow: bool = False) -> list[Message]:
        """What could be handed out, in rank."""
        queue = self.truth.queues.get(name)
        if queue is None or queue.paused:
            return []
        return [message for message in self.ranked(name) if message.narrow or not narrow]

    def ranked(self, name: bytes) -> list[Message]:
        found = [message for message in self.truth.messages if message.queue == name and message.place == READY]
        return sorted(found, key=lambda message: (-message.priority, message.ready_us, message.order))

    def newest(self, ready: list[Message]) -> Message:
        best = [message for message in ready if message.priority == ready[0].priority]
        return best[-1]

    def queue(self, name: bytes, dialect: int) -> Queue:
        if name not in self.truth.queues:
            self.make_queue(name, dialect, Policy())
        return self.truth.queues[name]

    def make_queue(self, name: bytes, dialect: int, policy: Policy) -> None:
        truth = self.truth
        truth.queues[name] = Queue(truth.next_queue_id, name, dialect, policy, self.now_us, self.now_us)
        truth.next_queue_id += 1

    def enter(self, message: Message, queue: Queue) -> None:
        message.order = self.truth.next_seq
        self.truth.next_seq += 1
        self.truth.messages.append(message)
        queue.tally["published"] += 1
        self.lay(message)

    def lay(self, message: Message) -> None:
        """Delayed, ready or parked: time tells."""
        message.place = DELAYED
        if message.ready_us <= self.now_us:
            message.place = PARKED if message.parked else READY

    def end(self, message: Message, how: str) -> None:
        self.truth.messages.remove(message)
        self.truth.queues[message.queue].tally[how] += 1

    def counts(self, names: list[bytes]) -> dict[str, int]:
        """The ledger, counted anew each time."""
        live = [message for message in self.truth.messages if message.queue in names]
        places = Counter(message.place for message in live)
        found = {tally: sum(self.truth.queues[name].tally[tally] for name in names) for tally in TALLIES}
        found |= {name: places[place] for place, name in PLACE_NAMES.items() if name != "ended"}
        return found | {"body_bytes": sum(len(message.body) for message in live)}

    # -- rules

    def rule(self, queue: Queue, name: str) -> int:
        return int(self.effective(queue.name, queue.policy, queue.dialect).get(name, 0))

    def effective(self, name: bytes, said: Policy, dialect: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for _, layer in self._weakest_first(name, said, dialect):
            found.update(plain_policy(layer))
        return found

    def sources(self, name: bytes, said: Policy, dialect: int) -> dict[str, tuple[int, bytes]]:
        found: dict[str, tuple[int, bytes]] = {}
        for source, layer in self._weakest_first(name, said, dialect):
            found.update(dict.fromkeys(plain_policy(layer), source))
        return found

    def _weakest_first(self, name: bytes, said: Policy, dialect: int) -> list[tuple[tuple[int, bytes], Policy]]:
        """Queue over exact pattern over longer prefix over shorter prefix over the dialect's default."""
        layers = [((DEFAULT, b""), self.defaults[dialect])] if dialect in self.defaults else []
        prefixes = [row for row in self.patterns if row[0].endswith(b"*") and name.startswith(row[0][:-1])]
        layers += [((MATCHED, match), policy) for match, policy in sorted(prefixes, key=lambda row: len(row[0]))]
        exact = [row for row in self.patterns if row[0] == name and not name.endswith(b"*")]
        layers += [((MATCHED, match), policy) for match, policy in exact]
        return [*layers, ((SAID, b""), said)]

    def twin(self, name: bytes, options: Publishing) -> int:
        queue = self.truth.queues.get(name)
        if queue is None or options.origin is None or not options.origin.dedup_id:
            return 0
        window_us = self.rule(queue, "dedup_us")
        for dedup_id, number, at_us in reversed(queue.known):
            if dedup_id == options.origin.dedup_id and at_us + window_us > self.now_us:
                return number
        return 0

    def come_to(self, options: Publishing) -> int:
        """Where the mark has come to, if it has passed this row; else 0."""
        origin = options.origin or Origin()
        come = self.truth.marks.get(origin.mark, 0)
        return come if 0 < origin.row <= come else 0

    def refusal(
        self, name: bytes, dialect: int, body: bytes, delay_us: int, options: Publishing, ahead: list[bytes]
    ) -> int:
        """`ahead`: bodies that the same batch puts into this queue before this one."""
        queue = self.truth.queues.get(name)
        if queue is None and not options.create:
            return codes.NO_QUEUE
        if len(name) > QUEUE_NAME_MAX:
            return codes.BAD_NAME
        rules = self.effective(name, Policy(), dialect)
        if queue is not None:
            rules = self.effective(name, queue.policy, queue.dialect)
        bodies = [message.body for message in self.truth.messages if message.queue == name] + ahead
        length, size = len(bodies) + 1, sum(map(len, bodies)) + len(body)
        origin = options.origin or Origin()
        named = origin.mark + origin.dedup_id + origin.foreign_id + origin.trace + origin.principal
        for refused, code in (
            (len(body) > min(rules.get("max_body") or BODY_MAX, BODY_MAX), codes.TOO_LARGE),
            (rules.get("max_length") and length > rules["max_length"], codes.FULL),
            (rules.get("max_bytes") and size > rules["max_bytes"], codes.FULL),
            (delay_us > DELAY_MAX_US, codes.BAD_OPTION),
            (options.ttl_us > TTL_MAX_US, codes.BAD_OPTION),
            (options.lease_us > LEASE_MAX_US, codes.BAD_OPTION),
            (not PRIORITY_MIN <= options.priority <= PRIORITY_MAX, codes.BAD_OPTION),
            (len(options.key or b"") > KEY_MAX, codes.TOO_LARGE),
            (not 0 <= origin.deliveries <= DELIVERIES_MAX, codes.BAD_OPTION),
            (not 0 <= origin.first_leased_us < NEVER_US, codes.BAD_OPTION),
            (bool(origin.mark) != bool(origin.row) or not 0 <= origin.row < NEVER_US, codes.BAD_OPTION),
            (len(origin.dedup_id) > DEDUP_ID_MAX, codes.TOO_LARGE),
            (len(origin.mark) > MARK_MAX, codes.TOO_LARGE),
            (len(named) + 96 > EXTRA_MAX, codes.TOO_LARGE),
        ):
            if refused:
                return code
        return codes.OK

    # -- saying

    def answer(self, client: Client, token: int, stage: int, code: int, message: Event | None, number: int) -> None:
        self.said.append((stage, ("answer", client.name, token, code, (message, number))))

    def answer_with(self, client: Client, token: int, stage: int, code: int, value: object) -> None:
        self.said.append((stage, ("list", client.name, token, code, value)))

    def say_none(self, client: Client, token: int, code: int, options: Reserving | Taking | None) -> None:
        if (isinstance(options, Reserving) and options.max > 0) or (isinstance(options, Taking) and options.mates):
            self.answer_with(client, token, stages.READY, code, ())
        else:
            self.answer(client, token, stages.READY, code, None, 0)

    def tell(self, message: Message, stage: int) -> None:
        if asked(message, stage):
            assert message.origin is not None
            origin = message.origin
            self.said.append((self._after(message, stage), notice(origin.poster, stage, origin.label)))

    def _after(self, message: Message, stage: int) -> int:
        """Turns of a life are told after every stage of durability that was asked for, too."""
        durable = [one for one in (stages.READY, stages.WRITE, stages.SYNC) if asked(message, one)]
        return stage if stage <= stages.SYNC else int(max(durable, default=stages.READY))


def asked(message: Message, stage: int) -> bool:
    return message.origin is not None and bool(message.origin.notify & 1 << stage)
