"""A broker that answers late: it passes every verb on at once and keeps what comes back for some ticks, out of order.

A broker promises to answer each call once, not in which order; sessions that pass on this one do not lean on more.
What is no answer (notices, pushes, wake-ups) is late too, but keeps its order within a session.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

from penstock.model.contract import Broker, Call, Session
from penstock.model.message import Message
from penstock.model.options import Publishing, Reserving, Taking
from penstock.model.policy import Policy
from penstock.model.views import Rank

TICKS_MAX = 4


class Relay(Session):
    """Stands in for a session before the broker behind."""

    def __init__(self, session: Session, late: LateBroker) -> None:
        super().__init__(session.dialect)
        self.session = session
        self.events_until = 0  # the tick of the last event under way
        self._late = late

    def pass_on_debt(self) -> None:
        """What the broker behind says is owed, the session owes."""
        self.session.owed += self.owed
        self.owed = 0

    def answered(self, token: int, code: int, message: Message | None, number: int) -> None:
        self.pass_on_debt()
        self._late.keep(partial(self.session.answered, token, code, message, number))

    def answered_with(self, token: int, code: int, value: object) -> None:
        self.pass_on_debt()
        self._late.keep(partial(self.session.answered_with, token, code, value))

    def told(self, stage: int, label: int) -> None:
        self._late.keep_event(self, partial(self.session.told, stage, label))

    def inherit(self, old: Session) -> None:
        assert isinstance(old, Relay)
        self.session.inherit(old.session)

    def pushed(self, queue: bytes, messages: list[Message]) -> None:
        self.pass_on_debt()
        self._late.keep_event(self, partial(self.session.pushed, queue, messages))

    def woken(self, token: int) -> None:
        self._late.keep_event(self, partial(self.session.woken, token))

    def heard(self, queue: bytes, length: int) -> None:
        self._late.keep_event(self, partial(self.session.heard, queue, length))


class LateBroker(Broker):
    """Whoever drives it calls `tick`; nothing is said otherwise."""

    def __init__(self, behind: Broker, seed: int) -> None:
        self._behind = behind
        self._chance = Random(seed)
        self._relays: dict[Session, Relay] = {}
        self._now = 0
        self._kept: list[tuple[int, float, Callable[[], None]]] = []  # due tick, place within it, what to say

    # -- being late

    def pending(self) -> bool:
        return bool(self._kept)

    def tick(self) -> None:
        self._now += 1
        due = [entry for entry in self._kept if entry[0] <= self._now]
        self._kept = [entry for entry in self._kept if entry[0] > self._now]
        for _, _, say in sorted(due, key=lambda entry: entry[:2]):
            say()

    def keep(self, say: Callable[[], None]) -> None:
        self._kept.append((self._now + self._chance.randint(1, TICKS_MAX), self._chance.random(), say))

    def keep_event(self, relay: Relay, say: Callable[[], None]) -> None:
        """All events of a tick come at its end, as they were told."""
        relay.events_until = max(relay.events_until, self._now + self._chance.randint(1, TICKS_MAX))
        self._kept.append((relay.events_until, 1.0, say))

    def _relay(self, session: Session) -> Relay:
        relay = self._relays.get(session)
        if relay is None:
            relay = self._relays[session] = Relay(session, self)
        relay.client_id = session.client_id
        relay.durable = session.durable
        return relay

    # -- clients with names

    def meet(self, session: Session, token: int, number: int, durable: bool) -> None:
        relay = self._relay(session)
        self._behind.meet(relay, token, number, durable)
        session.client_id, session.durable = relay.client_id, relay.durable

    # -- messages

    def publish(
        self, session: Session, token: int, queue: bytes, body: bytes, delay_us: int, options: Publishing, stage: int
    ) -> None:
        self._behind.publish(self._relay(session), token, queue, body, delay_us, options, stage)

    def reserve(self, session: Session, token: int, queue: bytes, options: Reserving, stage: int) -> None:
        relay = self._relay(session)
        self._behind.reserve(relay, token, queue, options, stage)
        relay.pass_on_debt()

    def take(self, session: Session, token: int, queue: bytes, options: Taking, stage: int) -> None:
        relay = self._relay(session)
        self._behind.take(relay, token, queue, options, stage)
        relay.pass_on_debt()

    def finish(self, session: Session, token: int, queue: bytes, seq: int, rule: int, holder: int, stage: int) -> None:
        self._behind.finish(self._relay(session), token, queue, seq, rule, holder, stage)

    def release(
        self,
        session: Session,
        token: int,
        queue: bytes,
        seq: int,
        delay_us: int,
        failed: bool,
        rule: int,
        holder: int,
        stage: int,
    ) -> None:
        self._behind.release(self._relay(session), token, queue, seq, delay_us, failed, rule, holder, stage)

    def extend(
        self, session: Session, token: int, queue: bytes, seq: int, lease_us: int, rule: int, holder: int, stage: int
    ) -> None:
        self._behind.extend(self._relay(session), token, queue, seq, lease_us, rule, holder, stage)

    def delete(self, session: Session, token: int, queue: bytes, seq: int, stage: int) -> None:
        self._behind.delete(self._relay(session), token, queue, seq, stage)

    def batch(self, session: Session, token: int, calls: list[Call], stage: int) -> None:
        self._behind.batch(self._relay(session), token, calls, stage)

    # -- waiting

    def subscribe(self, session: Session, queue: bytes) -> bool:
        relay = self._relay(session)
        subscribed = self._behind.subscribe(relay, queue)
        relay.pass_on_debt()
        return subscribed

    def unsubscribe(self, session: Session, queue: bytes) -> None:
        self._behind.unsubscribe(self._relay(session), queue)

    def credit(self, session: Session, stage: int) -> bool:
        relay = self._relay(session)
        credited = self._behind.credit(relay, stage)
        relay.pass_on_debt()
        return credited

    def wait(self, session: Session, token: int, queue: bytes) -> None:
        self._behind.wait(self._relay(session), token, queue)

    def listen(self, session: Session, queue: bytes) -> bool:
        return self._behind.listen(self._relay(session), queue)

    def unlisten(self, session: Session, queue: bytes) -> None:
        self._behind.unlisten(self._relay(session), queue)

    def cancel(self, session: Session) -> None:
        self._behind.cancel(self._relay(session))
        del self._relays[session]

    # -- queues

    def declare(self, session: Session, token: int, queue: bytes, policy: Policy, stage: int) -> None:
        self._behind.declare(self._relay(session), token, queue, policy, stage)

    def set(
        self, session: Session, token: int, queue: bytes, policy: Policy, stage: int, unsaid: tuple[str, ...] = ()
    ) -> None:
        self._behind.set(self._relay(session), token, queue, policy, stage, unsaid)

    def remove(self, session: Session, token: int, queue: bytes, stage: int) -> None:
        self._behind.remove(self._relay(session), token, queue, stage)

    def purge(self, session: Session, token: int, queue: bytes, stage: int) -> None:
        self._behind.purge(self._relay(session), token, queue, stage)

    def pause(self, session: Session, token: int, queue: bytes, stage: int) -> None:
        self._behind.pause(self._relay(session), token, queue, stage)

    def resume(self, session: Session, token: int, queue: bytes, stage: int) -> None:
        self._behind.resume(self._relay(session), token, queue, stage)

    # -- looking

    def peek(self, session: Session, token: int, queue: bytes, limit: int, after: Rank | None = None) -> None:
        self._behind.peek(self._relay(session), token, queue, limit, after)

    def show_message(self, session: Session, token: int, seq: int) -> None:
        self._behind.show_message(self._relay(session), token, seq)

    def show_queue(self, session: Session, token: int, queue: bytes) -> None:
        self._behind.show_queue(self._relay(session), token, queue)

    def list_queues(self, session: Session, token: int) -> None:
        self._behind.list_queues(self._relay(session), token)

    def stats(self, session: Session, token: int) -> None:
        self._behind.stats(self._relay(session), token)
