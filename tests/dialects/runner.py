"""Plays a transcript: real sessions on a real engine, time and segments under control, every byte accounted for."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from penstock.codecs.clients import ClientIds
from penstock.codecs.ids import Ids
from penstock.dialects.context import Context
from penstock.dialects.table import DIALECTS, Dialect
from penstock.model.contract import NO_WIRE, Session, Wire
from penstock.server.clock import HEARTBEAT_US
from penstock.server.config import Config, load
from penstock.server.context import dialect_options
from penstock.server.store import policy_book
from tests.broker.desks import Desk, LateDesk, MakeDesk
from tests.dialects.folders import cut_off, labelled
from tests.dialects.notations import Framed, Text, Token, masked, unframed
from tests.dialects.other import Other
from tests.dialects.tokens import Tokens, WrongToken
from tests.dialects.transcript import Step, Transcript
from tests.dialects.ways import Way

RESIDENT_BYTES = 13_107_200  # 12.50 MiB
SECRET = b"transcripts"


class Disagreement(AssertionError):
    """The server said something else than the transcript."""


class FakeContext(Context):
    """A listener's context, with numbers that do not move by themselves."""

    def __init__(self, desk: Desk, options: Mapping[str, object]) -> None:
        super().__init__(desk.broker, Ids(SECRET), ClientIds(SECRET), desk.confirm, options)
        self.open = 0

    def connections(self) -> int:
        return self.open

    def resident_bytes(self) -> int:
        return RESIDENT_BYTES


class Connection(Wire):
    """Keeps what the session says. As the server does, it asks only a session that has called `wake`."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.heard = b""
        self.closed = False  # by the server
        self._woken = False
        session.wire = self

    def wake(self) -> None:
        self._woken = True

    def flush(self) -> bool:
        """True: there was something to do, and there may be more after the next tick."""
        if not self._woken or self.closed:
            return False
        self._woken = False
        self.heard += self.session.output()
        if self.session.wants_close():
            self.closed = True
        elif self.session.held and not self.session.enough():
            self.session.resume()
        return True

    def lose(self) -> None:
        self.session.wire = NO_WIRE
        self.session.lost()


def configured(dialect: str, options: Mapping[str, str]) -> Config:
    """The configuration that has these options of the dialect."""
    return load({f"dialect.{dialect}.{name}": value for name, value in options.items()}, {}, None)


class Runner:
    """One play of one transcript."""

    def __init__(self, dialect: str, transcript: Transcript, way: Way, make_desk: MakeDesk) -> None:
        config = configured(dialect, transcript.options)
        self._dialect: Dialect = next(row for row in DIALECTS if row.name == dialect)
        self._desk = make_desk(policy_book(config))
        self._context = FakeContext(self._desk, dialect_options(config, dialect))
        self._other = Other(self._desk, self._context.ids)
        self._steps = way.arrange(transcript.steps, cut_off(dialect))
        self._cut = way.cut
        self._in_any_order = labelled(dialect) and (way.joins or isinstance(self._desk, LateDesk))
        self._connections: dict[int, Connection] = {}
        self._tokens = Tokens(dialect, self._context.ids)
        self._answer = b""  # to the last B: line, until an A: line has read it
        self._step = Step(0, "")

    def play(self) -> None:
        acts = {"C": self._send, "S": self._hear, "B": self._perform, "A": self._outcome, "@": self._pass_time}
        acts |= {"open": self._open, "eof": self._eof, "close": self._close, "closed": self._closed}
        for step in self._steps:
            if step.kind == "C" and self._step.kind != "C":
                self._nothing_left()
            self._step = step
            acts[step.kind](step)
        self._nothing_left()
        self._lose_all()

    # -- acts

    def _send(self, step: Step) -> None:
        self._open(step)
        connection = self._connections[step.connection]
        for segment in self._cut(self._resolved(step.text)):
            if not connection.closed:
                connection.session.received(segment)
                self._tick()

    def _hear(self, step: Step) -> None:
        self._settle()
        connection = self._connections[step.connection]
        heard = self._brought_forward(step.text, connection.heard) if self._in_any_order else connection.heard
        connection.heard = heard[self._matched(step.text, heard) :]

    def _brought_forward(self, expected: Text, heard: bytes) -> bytes:
        """With the first frame in front that is the one expected, if there is one."""
        begin = 0
        while length := unframed(heard[begin + 1 :])[1]:
            end = begin + 1 + length
            with suppress(Disagreement):
                if self._matched(expected, heard[begin:end]) == end - begin:
                    return heard[begin:end] + heard[:begin] + heard[end:]
            begin = end
        return heard

    def _perform(self, step: Step) -> None:
        self._nothing_left()
        self._answer = self._other.perform(self._resolved(step.text))

    def _outcome(self, step: Step) -> None:
        answer, self._answer = self._answer, b""
        if self._matched(step.text, answer) != len(answer):
            raise self._disagreement(f"heard {answer!r}")

    def _pass_time(self, step: Step) -> None:
        self._nothing_left()
        end_us = self._desk.now_us + step.time_us
        while self._desk.now_us < end_us:
            beat_us = HEARTBEAT_US - self._desk.now_us % HEARTBEAT_US
            left_us = end_us - self._desk.now_us
            self._desk.pass_time(min(beat_us, left_us) if self._held() else left_us)
            self._settle()
            if self._desk.now_us % HEARTBEAT_US == 0:
                self._beat()

    def _beat(self) -> None:
        for connection in self._held():
            connection.session.beat(self._desk.now_us)
        self._settle()

    def _held(self) -> list[Connection]:
        """Those that hold back input: to them the server gives its beat, twice a second."""
        return [connection for connection in self._connections.values() if connection.session.held]

    def _open(self, step: Step) -> None:
        if step.connection not in self._connections:
            self._connections[step.connection] = Connection(self._dialect.make(self._context))
            self._context.open += 1

    def _eof(self, step: Step) -> None:
        self._connections[step.connection].session.eof()

    def _close(self, step: Step) -> None:
        self._connections.pop(step.connection).lose()
        self._context.open -= 1

    def _closed(self, step: Step) -> None:
        self._hear(step)
        connection = self._connections[step.connection]
        if connection.heard or not connection.closed:
            raise self._disagreement(f"heard {connection.heard!r}, and closed is {connection.closed}")
        self._close(step)

    # -- between the acts

    def _tick(self) -> bool:
        self._desk.tick()
        return sum(connection.flush() for connection in self._connections.values()) > 0

    def _settle(self) -> None:
        self._desk.settle()
        while self._tick():
            self._desk.settle()

    def _nothing_left(self) -> None:
        self._settle()
        for number, connection in self._connections.items():
            if connection.heard:
                raise self._disagreement(f"then connection {number} also heard {connection.heard!r}")
            if connection.closed:
                raise self._disagreement(f"then connection {number} was closed")
        if self._answer:
            raise self._disagreement(f"then the other was answered {self._answer!r}")

    def _lose_all(self) -> None:
        """Connections that end, in the middle of a request or not, change nothing."""
        before = self._other.ledger()
        for connection in self._connections.values():
            connection.lose()
        self._settle()
        if self._other.ledger() != before:
            raise self._disagreement("then the end of a connection changed something")

    # -- texts

    def _resolved(self, text: Text) -> bytes:
        return b"".join([self._said(part) for part in text])

    def _said(self, part: bytes | Token | Framed) -> bytes:
        if isinstance(part, Framed):
            return masked(self._resolved(part.text))
        return self._tokens.said(part) if isinstance(part, Token) else part

    def _matched(self, expected: Text, heard: bytes) -> int:
        """How much of what was heard was expected; all that was expected must be there."""
        at = 0
        for part in expected:
            try:
                at += self._read(part, heard[at:])
            except WrongToken as error:
                raise self._disagreement(f"{error}: heard {heard!r}") from None
        return at

    def _read(self, part: bytes | Token | Framed, heard: bytes) -> int:
        if isinstance(part, Token):
            return self._tokens.read(part, heard)
        if isinstance(part, Framed):
            payload, length = unframed(heard)
            if length == 0 or self._matched(part.text, payload) != len(payload):
                raise self._disagreement(f"heard a frame with {payload!r}")
            return length
        if not heard.startswith(part):
            raise self._disagreement(f"heard {heard!r}")
        return len(part)

    def _disagreement(self, what: str) -> Disagreement:
        return Disagreement(f"line {self._step.line}: {what}")
