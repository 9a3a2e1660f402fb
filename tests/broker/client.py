"""A client without a dialect: it calls a broker's verbs, keeps what it is told, and fails where it is told twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.model.contract import Session, owed_for
from penstock.model.message import Lease, Message
from penstock.model.options import ANY_LIVE, Publishing, Reserving, Taking
from penstock.model.policy import Policy
from tests.broker.desks import Desk

DIALECT = 77


@dataclass(frozen=True)
class Outcome:
    """What a call came to: `message` and `number` of a plain answer, or `value` of one with a list or view."""

    code: int
    message: Message | None = None
    number: int = 0
    value: object = None

    def bodies(self) -> list[bytes]:
        if self.message is not None:
            return [self.message.body]
        assert isinstance(self.value, list)
        return [(one.message if isinstance(one, Lease) else one).body for one in self.value]


class Client(Session):
    """`ask` calls a verb and waits for its answer; `call` does not wait."""

    def __init__(self, desk: Desk, dialect: int = DIALECT) -> None:
        super().__init__(dialect)
        self.outcomes: dict[int, Outcome] = {}
        self.pushes: list[tuple[bytes, list[bytes]]] = []
        self.wakes: list[int] = []
        self.announced: list[tuple[bytes, int]] = []
        self.notices: list[tuple[int, int]] = []
        self.inherited: list[Session] = []
        self._desk = desk
        self._token = 0

    def call(self, verb: Callable[..., None], *arguments: object) -> int:
        self._token += 1
        verb(self, self._token, *arguments)
        return self._token

    def ask(self, verb: Callable[..., None], *arguments: object) -> Outcome:
        token = self.call(verb, *arguments)
        self._desk.settle()
        assert self.owed == 0
        return self.outcomes.pop(token)

    # -- what it is told

    def answered(self, token: int, code: int, message: Message | None, number: int) -> None:
        if message is not None:
            self.owed -= len(message.body)
        self._note(token, Outcome(int(code), message, int(number)))

    def answered_with(self, token: int, code: int, value: object) -> None:
        self.owed -= owed_for(value)
        self._note(token, Outcome(int(code), value=value))

    def _note(self, token: int, outcome: Outcome) -> None:
        assert token not in self.outcomes, "answered twice"
        self.outcomes[int(token)] = outcome

    def told(self, stage: int, label: int) -> None:
        self.notices.append((int(stage), label))

    def inherit(self, old: Session) -> None:
        self.inherited.append(old)

    def pushed(self, queue: bytes, messages: list[Message]) -> None:
        self.owed -= owed_for(messages)
        self.pushes.append((queue, [message.body for message in messages]))

    def woken(self, token: int) -> None:
        self.wakes.append(int(token))

    def heard(self, queue: bytes, length: int) -> None:
        self.announced.append((queue, int(length)))

    # -- the verbs, with the arguments a test mostly means

    def meet(self, number: int = 0, durable: bool = False) -> Outcome:
        return self.ask(self._desk.broker.meet, number, durable)

    def publish(self, queue: bytes, body: bytes, delay_us: int = -1, options: Publishing | None = None) -> Outcome:
        desk = self._desk
        return self.ask(desk.broker.publish, queue, body, delay_us, options or Publishing(), desk.confirm)

    def reserve(self, queue: bytes, options: Reserving | None = None) -> Outcome:
        return self.ask(self._desk.broker.reserve, queue, options or Reserving(), self._desk.confirm)

    def take(self, queue: bytes, options: Taking | None = None) -> Outcome:
        return self.ask(self._desk.broker.take, queue, options or Taking(), self._desk.confirm)

    def finish(self, queue: bytes, seq: int, rule: int = ANY_LIVE, holder: int = 0) -> Outcome:
        return self.ask(self._desk.broker.finish, queue, seq, rule, holder, self._desk.confirm)

    def release(
        self, queue: bytes, seq: int, delay_us: int = 0, failed: bool = False, rule: int = ANY_LIVE, holder: int = 0
    ) -> Outcome:
        return self.ask(self._desk.broker.release, queue, seq, delay_us, failed, rule, holder, self._desk.confirm)

    def extend(self, queue: bytes, seq: int, lease_us: int, rule: int = ANY_LIVE, holder: int = 0) -> Outcome:
        return self.ask(self._desk.broker.extend, queue, seq, lease_us, rule, holder, self._desk.confirm)

    def delete(self, queue: bytes, seq: int) -> Outcome:
        return self.ask(self._desk.broker.delete, queue, seq, self._desk.confirm)

    def declare(self, queue: bytes, policy: Policy | None = None) -> Outcome:
        return self.ask(self._desk.broker.declare, queue, policy or Policy(), self._desk.confirm)

    def set_policy(self, queue: bytes, policy: Policy) -> Outcome:
        return self.ask(self._desk.broker.set, queue, policy, self._desk.confirm)

    def on_queue(self, verb: Callable[..., None], queue: bytes) -> Outcome:
        """Remove, purge, pause or resume."""
        return self.ask(verb, queue, self._desk.confirm)
