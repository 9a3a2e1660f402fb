"""The specification once more, written from the documents and not from the engine: lists, full scans, no agenda.

Slow, and meant to be obviously right. It has the verbs of a Broker, and says at once what an engine should say.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator

from penstock.model import codes
from penstock.model.limits import GRACE_US, NEVER_US
from penstock.model.message import DELAY_OVER, DELAYED, LEASE_OVER, LEASED, PARKED, READY, WAIT_OVER
from tests.engine.spec.queues import WholeQueues
from tests.engine.spec.truth import Waiter


class Model(WholeQueues):
    def snapshot(self) -> bytes:
        return pickle.dumps(self.truth)

    def restart(self, snapshot: bytes, now_us: int, next_seq: int) -> None:
        """A crash left this much; nobody waits any more, numbers go on elsewhere, leases get their grace."""
        self.truth = pickle.loads(snapshot)
        self.forget_clients()
        self.truth.now_us = max(now_us, self.truth.now_us)
        self.truth.next_seq = next_seq
        self._grace()

    def woken(self, now_us: int) -> None:
        self.truth.now_us = max(now_us, self.truth.now_us)
        self._grace()

    def _grace(self) -> None:
        """Downtime never fails a message: ten seconds more, or as much as the lease is long."""
        for message in self.truth.messages:
            if message.place == LEASED and message.until_us < NEVER_US:
                length_us = message.until_us - message.leased_us
                message.until_us = max(message.until_us, self.now_us + min(length_us, GRACE_US))

    # -- time

    def advance(self, now_us: int) -> None:
        """What has expired goes first; then everything that is due, by its time: leases, delays, waits."""
        self.truth.now_us = max(now_us, self.truth.now_us)
        for message in list(self.truth.messages):
            if message.waits and message.expires_us <= self.now_us:
                self.end(message, "expired")
        while due := sorted(one for one in self._agenda() if one[0] <= self.now_us):
            _, kind, number = due[0]
            if kind == WAIT_OVER:
                self._wait_over(next(waiter for waiter in self.waiters if waiter.turn == number))
                continue
            message = next(message for message in self.truth.messages if message.order == number)
            if kind == LEASE_OVER:
                self.fail(message, -1, timed_out=True)
            else:
                message.place = PARKED if message.parked else READY
            self.settle()

    def next_due(self) -> int:
        """When something will happen by itself."""
        expiries = [message.expires_us for message in self.truth.messages if message.waits]
        return min([NEVER_US, *expiries, *(one[0] for one in self._agenda())])

    def _agenda(self) -> Iterator[tuple[int, int, int]]:
        for message in self.truth.messages:
            if message.place == LEASED:
                yield message.until_us, LEASE_OVER, message.order
            elif message.place == DELAYED:
                yield message.ready_us, DELAY_OVER, message.order
        for waiter in self.waiters:
            yield waiter.until_us, WAIT_OVER, waiter.turn

    def _wait_over(self, waiter: Waiter) -> None:
        self.waiters.remove(waiter)
        self.say_none(waiter.client, waiter.token, codes.EMPTY, waiter.options)
