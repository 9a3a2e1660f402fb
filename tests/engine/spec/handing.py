"""The model's handing out: reserve and take, and those who wait. Nobody waits beside a message they could have."""

from __future__ import annotations

from penstock.model import codes, stages
from penstock.model.limits import CREDITS_MAX, NEVER_US, SUBSCRIPTIONS_MAX, TAKE_BYTES_MAX, TAKE_MESSAGES_MAX
from penstock.model.message import LEASED, PARKED, READY
from penstock.model.options import Reserving, Taking
from tests.engine.clients import Client, Event
from tests.engine.spec.ground import Ground
from tests.engine.spec.truth import Message, Waiter


class HandingOut(Ground):
    def reserve(self, client: Client, token: int, name: bytes, options: Reserving, stage: int) -> None:
        if name not in self.truth.queues:
            self.say_none(client, token, codes.NO_QUEUE, options)
            return
        ready = self.ready(name)
        if not ready:
            self._wait_or_say_none(client, token, stage, name, options, options.wait_us)
            return
        chosen = [
            message
            for at, message in enumerate(ready[: max(options.max, 1)])
            if at == 0 or sum(len(one.body) for one in ready[: at + 1]) <= TAKE_BYTES_MAX
        ]
        for message in chosen:
            self.lease(message, client, options)
        self._say_leased(client, token, stage, chosen, options)

    def lease(self, message: Message, client: Client, options: Reserving) -> None:
        """Call over message over queue: whoever says the length first. A queue's 0 means that it does not end."""
        queue = self.truth.queues[message.queue]
        effective = self.effective(queue.name, queue.policy, queue.dialect)
        lease_us = effective.get("lease_us", options.unsaid_us) or NEVER_US
        for said_us in (message.lease_us, options.lease_us):
            lease_us = said_us if said_us >= 0 else lease_us
        message.place = LEASED
        message.until_us = NEVER_US if lease_us >= NEVER_US else self.now_us + lease_us
        message.leased_us = self.now_us
        message.first_leased_us = message.first_leased_us or self.now_us
        message.holder = options.holder
        message.old_place = options.old_place
        message.deliveries += 1
        queue.tally["delivered"] += 1
        self.tell(message, stages.ASSIGN)

    def _say_leased(self, client: Client, token: int, stage: int, leased: list[Message], options: Reserving) -> None:
        if options.max > 0:
            told = tuple((*message.gist, message.deliveries, message.failures, message.until_us) for message in leased)
            self.answer_with(client, token, stage, codes.OK, told)
        else:
            self.answer(client, token, stage, codes.OK, leased[0].gist, leased[0].deliveries)

    def take(self, client: Client, token: int, name: bytes, options: Taking, stage: int) -> None:
        if name not in self.truth.queues:
            self.say_none(client, token, codes.NO_QUEUE, options)
        elif not self.ready(name, options.newest):
            self._wait_or_say_none(client, token, stage, name, options, options.wait_us)
        else:
            self._take(client, token, name, options, stage)

    def _take(self, client: Client, token: int, name: bytes, options: Taking, stage: int) -> None:
        ready = self.ready(name, options.newest)
        chosen = self.newest(ready) if options.newest else ready[0]
        if options.mates:
            self.answer_with(client, token, stage, codes.OK, self.take_group(chosen))
        else:
            self._take_one(chosen)
            self.answer(client, token, stage, codes.OK, chosen.gist, chosen.deliveries)

    def take_group(self, chosen: Message) -> tuple[Event, ...]:
        """The chosen one, then its narrow mates, ready or parked, newest first, as many as one answer holds."""
        group = [chosen]
        mates = [
            message
            for message in self.truth.messages
            if message.queue == chosen.queue and message.place in (READY, PARKED) and message.narrow
            and message is not chosen and message.key is not None and message.key == chosen.key
        ]  # fmt: skip
        for mate in sorted(mates, key=lambda message: (message.ready_us, message.order), reverse=True):
            size = sum(len(message.body) + len(message.key or b"") for message in [*group, mate])
            if len(group) == TAKE_MESSAGES_MAX or size > TAKE_BYTES_MAX:
                break
            group.append(mate)
        for message in group:
            self._take_one(message)
        return tuple(message.gist for message in group)

    def _take_one(self, message: Message) -> None:
        message.deliveries += 1
        self.truth.queues[message.queue].tally["delivered"] += 1
        self.end(message, "finished")
        self.tell(message, stages.FINISH)

    # -- waiting

    def _wait_or_say_none(
        self, client: Client, token: int, stage: int, name: bytes, options: Reserving | Taking, wait_us: int
    ) -> None:
        if wait_us <= 0:
            self.say_none(client, token, codes.EMPTY, options)
            return
        until_us = self.now_us + wait_us if wait_us < NEVER_US else NEVER_US
        self.waiters.append(Waiter(self._turn(), client, token, stage, name, options, until_us))

    def _turn(self) -> int:
        self.turns += 1
        return self.turns

    def settle(self) -> None:
        """Nobody waits beside a message they could have: the oldest wait is served first, then sleepers are woken."""
        while served := self._who_can_be_served():
            waiter, name = served
            self.waiters.remove(waiter)
            self._serve(waiter, name)
        for (name, client), token in list(self.sleepers.items()):
            if self.ready(name):
                del self.sleepers[name, client]
                self.said.append((0, ("wake", client.name, token, 0, None)))

    def _who_can_be_served(self) -> tuple[Waiter, bytes] | None:
        for waiter in self.waiters:  # in the order of their turns
            names = [waiter.queue] if waiter.options is not None else self.subscriptions.get(waiter.client, [])
            offers = [self.newest(ready) for name in names if (ready := self.ready(name, waiter.needs_narrow))]
            if offers:
                best = max(offers, key=lambda message: (message.priority, message.ready_us, message.order))
                return waiter, best.queue
        return None

    def _serve(self, waiter: Waiter, name: bytes) -> None:
        if waiter.options is None:
            group = self.take_group(self.newest(self.ready(name, narrow=True)))
            self.said.append((waiter.stage, ("push", waiter.client.name, 0, 0, (name, group))))
        elif isinstance(waiter.options, Taking):
            self._take(waiter.client, waiter.token, name, waiter.options, waiter.stage)
        else:
            message = self.ready(name)[0]
            self.lease(message, waiter.client, waiter.options)
            self._say_leased(waiter.client, waiter.token, waiter.stage, [message], waiter.options)

    def subscribe(self, client: Client, name: bytes) -> bool:
        names = self.subscriptions.setdefault(client, [])
        if name not in names:
            if len(names) >= SUBSCRIPTIONS_MAX:
                return False
            names.append(name)
        self.settle()
        return True

    def unsubscribe(self, client: Client, name: bytes) -> None:
        if name in self.subscriptions.get(client, []):
            self.subscriptions[client].remove(name)

    def credit(self, client: Client, stage: int) -> bool:
        mine = [waiter for waiter in self.waiters if waiter.client is client and waiter.options is None]
        if len(mine) >= CREDITS_MAX:
            return False
        self.waiters.append(Waiter(self._turn(), client, 0, stage, b"", None))
        for waiter in mine:
            waiter.stage = stage
        self.settle()
        return True

    def wait(self, client: Client, token: int, name: bytes) -> None:
        self.sleepers.setdefault((name, client), token)
        self.settle()

    def cancel(self, client: Client) -> None:
        self.waiters = [waiter for waiter in self.waiters if waiter.client is not client]
        self.subscriptions.pop(client, None)
        self.sleepers = {key: token for key, token in self.sleepers.items() if key[1] is not client}
