"""An engine on a desk: time stands still until a test moves it, verbs have the arguments a test mostly means."""

from __future__ import annotations

from typing import Any

from penstock.codecs.facts import Fact, read_facts
from penstock.engine.engine import Engine
from penstock.engine.rules import PolicyBook
from penstock.model import codes
from penstock.model.message import PLACE_NAMES, Message, Origin
from penstock.model.options import ANY_LIVE, Publishing, Reserving, Taking
from penstock.model.policy import Policy
from tests.engine.clients import Client, Event, Recorder

START_US = 1_700_000_000_000_000
S = 1_000_000

OK = int(codes.OK)


class Desk:
    """`policy` holds for every queue, unless there is a `book`. Answers are (code, value); None: not answered yet."""

    def __init__(self, policy: Policy | None = None, book: PolicyBook | None = None) -> None:
        self.out = Recorder()
        self.engine = Engine(book or PolicyBook([(b"*", policy or Policy())]), self.out)
        self.engine.start(START_US, b"")
        self.engine.advance(START_US)
        self.engine.record.clear()
        self.one = Client("one", client_id=1)
        self.two = Client("two", client_id=2)
        self.three = Client("three", client_id=3)
        self.token = 0

    # -- time

    def now_us(self) -> int:
        return int(self.engine.now_us())

    def pass_time(self, us: int) -> None:
        self.engine.advance(self.now_us() + us)

    # -- verbs

    def ask(self, verb: str, *arguments: Any, client: Client | None = None) -> Any:
        """Calls a verb; what it was answered with, if it was."""
        self.token += 1
        getattr(self.engine, verb)(client or self.one, self.token, *arguments)
        return self.answer(self.token)

    def answer(self, token: int) -> Any:
        event = self._answer_event(token)
        return None if event is None else (event[3], event[4])

    def handed_out(self, token: int) -> Any:
        """The number that was handed out, or numbers where a list was asked for; 0: none, None: not answered yet."""
        event = self._answer_event(token)
        if event is None:
            return None
        if event[0] == "list":
            return [number for number, *_ in event[4]]
        message, _ = event[4]
        return message[0] if message else 0

    def _answer_event(self, token: int) -> Event | None:
        answers = (event for _, event in self.out.said if event[0] in ("answer", "list"))
        return next((event for event in answers if event[2] == token), None)

    def publish(
        self, body: bytes = b"body", queue: bytes = b"q", delay_us: int = -1, client: Client | None = None, **said: Any
    ) -> int:
        """The number of a message that was accepted."""
        code, (_, number) = self.try_publish(body, queue, delay_us, client, **said)
        assert code == OK, codes.CODES[code]
        return int(number)

    def try_publish(
        self, body: bytes = b"body", queue: bytes = b"q", delay_us: int = -1, client: Client | None = None, **said: Any
    ) -> Any:
        return self.ask("publish", queue, body, delay_us, Publishing(**said), 0, client=client)

    def reserve(self, queue: bytes = b"q", client: Client | None = None, **said: Any) -> Any:
        self.ask("reserve", queue, Reserving(**said), 0, client=client)
        return self.handed_out(self.token)

    def take(self, queue: bytes = b"q", client: Client | None = None, **said: Any) -> Any:
        self.ask("take", queue, Taking(**said), 0, client=client)
        return self.handed_out(self.token)

    def finish(self, number: int, queue: bytes = b"q", rule: int = ANY_LIVE, holder: int = 0) -> int:
        return int(self.ask("finish", queue, number, rule, holder, 0)[0])

    def release(
        self, number: int, delay_us: int = -1, failed: bool = False, rule: int = ANY_LIVE, holder: int = 0
    ) -> int:
        return int(self.ask("release", b"q", number, delay_us, failed, rule, holder, 0)[0])

    def extend(self, number: int, lease_us: int, rule: int = ANY_LIVE, holder: int = 0) -> int:
        return int(self.ask("extend", b"q", number, lease_us, rule, holder, 0)[0])

    def set(self, queue: bytes = b"q", **said: Any) -> None:
        """Changes the policy of a queue that may not be there yet."""
        self.ask("declare", queue, Policy(), 0)
        assert self.ask("set", queue, Policy(**said), 0)[0] == OK

    # -- what there is

    def message(self, number: int) -> Message:
        return self.engine.state().messages[number]

    def place(self, number: int) -> str:
        found = self.engine.state().messages.get(number)
        return "ended" if found is None else PLACE_NAMES[found.place]

    def counts(self, queue: bytes = b"q") -> dict[str, int]:
        """Of the ledger, what is not zero."""
        shown = self.ask("show_queue", queue)[1]["counts"]
        return {name: count for name, count in shown.items() if count}

    def queue_names(self) -> list[bytes]:
        return sorted(self.engine.state().queues)

    def facts(self) -> list[Fact]:
        """What was recorded since the last time."""
        record = self.engine.record
        found = read_facts(record.payload(), int(record.count), record.heap_bytes(), 1, self.now_us())
        record.clear()
        return found

    # -- what was said

    def heard(self, kind: str) -> list[Event]:
        """Events of one kind since the last time, without their kind."""
        found = [event[1:] for _, event in self.out.said if event[0] == kind]
        self.out.said = [one for one in self.out.said if one[1][0] != kind]
        return found

    def woken(self) -> list[str]:
        return [event[0] for event in self.heard("wake")]

    def notices(self) -> list[tuple[int, int]]:
        """Stage and label."""
        return [(int(stage), label) for _, stage, label in self.heard("notice")]

    def pushes(self) -> list[tuple[str, bytes, list[int]]]:
        """To whom, from which queue, which numbers."""
        return [(name, queue, [one[0] for one in group]) for name, _, _, (queue, group) in self.heard("push")]


def origin(**said: Any) -> Origin:
    made = Origin()
    for field, value in said.items():
        setattr(made, field, value)
    return made
