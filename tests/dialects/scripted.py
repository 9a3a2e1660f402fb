"""A broker that notes what it is asked and answers when, and as, a test says."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.codecs.clients import ClientIds
from penstock.codecs.ids import Ids
from penstock.dialects.context import Context
from penstock.model import codes
from penstock.model.contract import Broker, Call, Session, Wire
from penstock.model.message import Message
from penstock.model.options import Publishing, Reserving, Taking
from penstock.model.policy import Policy
from penstock.model.stages import SYNC


@dataclass(frozen=True)
class Asked:
    """One call: the verb, and its arguments between the token and the stage."""

    session: Session
    token: int
    verb: str
    arguments: tuple[object, ...]
    stage: int = -1
    options: Publishing | Reserving | Taking | None = None

    def answer(self, code: int = codes.OK, message: Message | None = None, number: int = 0) -> None:
        self.session.answered(self.token, code, message, number)

    def answer_with(self, value: object) -> None:
        self.session.answered_with(self.token, codes.OK, value)


class Scripted(Broker):
    """Knows the verbs that the dialects need. `welcomes`: how many subscriptions and credits it accepts."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.cancelled: list[Session] = []
        self.waited: list[tuple[str, bytes]] = []  # subscribed, unsubscribed, credited
        self.welcomes = 1 << 30
        self.calls: list[list[Call]] = []  # of its batches

    def meet(self, session: Session, token: int, number: int, durable: bool) -> None:
        session.client_id = number or 8
        session.durable = durable
        self.asked.append(Asked(session, int(token), "meet", (number, durable)))

    def declare(self, session: Session, token: int, queue: bytes, policy: Policy, stage: int) -> None:
        self.asked.append(Asked(session, int(token), "declare", (queue, policy.attempts), int(stage)))

    def batch(self, session: Session, token: int, calls: list[Call], stage: int) -> None:
        self.calls.append(calls)
        told = [(call.verb, call.queue, call.seq, call.delay_us, call.rule, call.holder) for call in calls]
        self.asked.append(Asked(session, int(token), "batch", tuple(told), int(stage)))

    def publish(
        self, session: Session, token: int, queue: bytes, body: bytes, delay_us: int, options: Publishing, stage: int
    ) -> None:
        self.asked.append(Asked(session, int(token), "publish", (queue, body, delay_us), int(stage), options))

    def reserve(self, session: Session, token: int, queue: bytes, options: Reserving, stage: int) -> None:
        arguments = (queue, options.lease_us, options.wait_us)
        self.asked.append(Asked(session, int(token), "reserve", arguments, int(stage), options))

    def take(self, session: Session, token: int, queue: bytes, options: Taking, stage: int) -> None:
        self.asked.append(Asked(session, int(token), "take", (queue,), int(stage), options))

    def subscribe(self, session: Session, queue: bytes) -> bool:
        self.waited.append(("subscribe", queue))
        return len(self.waited) <= self.welcomes

    def unsubscribe(self, session: Session, queue: bytes) -> None:
        self.waited.append(("unsubscribe", queue))

    def credit(self, session: Session, stage: int) -> bool:
        self.waited.append(("credit", b""))
        return len(self.waited) <= self.welcomes

    def finish(self, session: Session, token: int, queue: bytes, seq: int, rule: int, holder: int, stage: int) -> None:
        self.asked.append(Asked(session, int(token), "finish", (queue, seq, rule, holder), int(stage)))

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
        arguments = (queue, seq, delay_us, failed, rule, holder)
        self.asked.append(Asked(session, int(token), "release", arguments, int(stage)))

    def show_queue(self, session: Session, token: int, queue: bytes) -> None:
        self.asked.append(Asked(session, int(token), "show_queue", (queue,)))

    def wait(self, session: Session, token: int, queue: bytes) -> None:
        self.asked.append(Asked(session, int(token), "wait", (queue,)))

    def cancel(self, session: Session) -> None:
        self.cancelled.append(session)


class PlainContext(Context):
    """Ids and numbers that a test can foretell; every answer waits for the sync."""

    def __init__(self, broker: Broker, options: dict[str, object]) -> None:
        super().__init__(broker, Ids(b"scripted"), ClientIds(b"scripted"), SYNC, options)

    def connections(self) -> int:
        return 3

    def resident_bytes(self) -> int:
        return 1_572_864


class CountingWire(Wire):
    def __init__(self) -> None:
        self.wakes = 0

    def wake(self) -> None:
        self.wakes += 1
