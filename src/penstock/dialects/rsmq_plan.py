"""A plan: one command, or all of a MULTI, as the calls of one batch and the steps that say what became of them.

Nothing is asked of the broker while a plan is made, so a plan that is given up has changed nothing.
"""

from __future__ import annotations

from typing import Final

from librt.strings import BytesWriter
from mypy_extensions import i64, mypyc_attr

from penstock.codecs import resp
from penstock.codecs.rsmq_ids import RsmqIds
from penstock.codecs.rsmq_keys import Keys
from penstock.model import codes
from penstock.model.contract import GLANCE, LIST, Call
from penstock.model.limits import LISTED_MAX, NEVER_US
from penstock.model.message import Origin
from penstock.model.views import Glance, MessageView

NUMBER: Final[i64] = 5

NO_QUEUE: Final = b"ERR no such queue"
WRONG_TYPE: Final = b"WRONGTYPE Operation against a key holding the wrong kind of value"
SYNTAX: Final = b"ERR syntax error"
TOO_MANY: Final = b"ERR the queue holds more than one answer can list"

# What a refusal is called here.
REFUSALS: Final = {
    codes.NO_QUEUE: NO_QUEUE,
    codes.NO_MESSAGE: b"ERR no such message",
    codes.FULL: b"OOM the queue has reached its limit",
    codes.DUPLICATE: b"ERR another message has this id",
    codes.TOO_LARGE: b"ERR the message is larger than the queue takes",
    codes.BAD_NAME: b"ERR the name of the queue is too long",
    codes.BAD_POLICY: b"ERR value is out of range",
    codes.BAD_OPTION: b"ERR score is out of range",
    codes.DENIED: b"NOPERM this user has no permissions to do that with this queue",
}


class Refused(Exception):
    """A command that cannot be. The error is what is said."""

    def __init__(self, words: bytes) -> None:
        super().__init__(words)
        self.words: bytes = words


class Speech:
    """How one connection is spoken to, and what its names mean."""

    def __init__(self, keys: Keys, ids: RsmqIds) -> None:
        self.keys: Keys = keys
        self.ids: RsmqIds = ids
        self.modern: bool = False  # RESP3
        self.making: bytes = b""  # the queue that this connection has last asked to make, until it adds it to the set

    def id_of(self, view: MessageView) -> bytes:
        return self.ids.of(view.seq, view.published_us, view.origin, view.dialect == NUMBER)

    def id(self, seq: i64, published_us: i64, origin: Origin | None, dialect: i64) -> bytes:
        return self.ids.of(seq, published_us, origin, dialect == NUMBER)

    def null(self, out: BytesWriter) -> None:
        out.write(b"_\r\n" if self.modern else b"$-1\r\n")

    def null_array(self, out: BytesWriter) -> None:
        out.write(b"_\r\n" if self.modern else b"*-1\r\n")

    def pairs(self, out: BytesWriter, count: i64) -> None:
        """So many names and values follow."""
        if self.modern:
            out.write(b"%%%d\r\n" % count)
        else:
            resp.write_array(out, 2 * count)

    def members(self, out: BytesWriter, count: i64) -> None:
        """So many of a set follow."""
        if self.modern:
            out.write(b"~%d\r\n" % count)
        else:
            resp.write_array(out, count)

    def score(self, out: BytesWriter, score: i64) -> None:
        if self.modern:
            out.write(b",%d\r\n" % score)
        else:
            resp.write_decimal(out, score)


@mypyc_attr(allow_interpreted_subclasses=True)
class Step:
    """The answer to one command of a plan."""

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        raise NotImplementedError


class Plan:
    """`outcomes` are there once the broker has answered."""

    def __init__(self, is_multi: bool) -> None:
        self.is_multi: bool = is_multi
        self.calls: list[Call] = []
        self.steps: list[Step] = []
        self.changes: bool = False
        self.awaited: bool = False  # what stands behind it depends on what becomes of it
        self.watches: bool = False
        self.modern: bool = False  # in which protocol it was asked: so it is answered
        self.spoilt: bool = False  # a command of it could not be
        self.bytes: i64 = 0  # of all its commands
        self.outcomes: list[tuple[int, int]] = []

    def look(self, call: Call) -> i64:
        """One more call, that changes nothing; where it stands."""
        self.calls.append(call)
        return len(self.calls) - 1

    def change(self, call: Call) -> i64:
        self.changes = True
        return self.look(call)

    def glance(self, queue: bytes) -> i64:
        """Where a glance at the queue stands that sees all that goes before."""
        calls = self.calls
        last: i64 = len(calls) - 1
        if last >= 0 and calls[last].verb == GLANCE and calls[last].queue == queue:
            return last
        return self.look(Call(GLANCE, queue))

    def time(self) -> i64:
        """Where a glance at anything stands: all of a plan is one instant."""
        for at, call in enumerate(self.calls):
            if call.verb == GLANCE:
                return at
        return self.look(Call(GLANCE, b""))

    def find(self, verb: i64, queue: bytes, foreign_id: bytes = b"") -> i64:
        """Where such a call stands; -1: nowhere."""
        at: i64 = len(self.calls) - 1
        while at >= 0:
            call = self.calls[at]
            if call.verb == verb and call.foreign_id == foreign_id and call.queue == queue:
                return at
            at -= 1
        return -1

    # -- what became of it

    def code(self, at: i64) -> i64:
        return self.outcomes[at][0]

    def number(self, at: i64) -> i64:
        return self.outcomes[at][1]

    def seen(self, at: i64) -> Glance:
        seen = self.calls[at].seen
        assert isinstance(seen, Glance)
        return seen

    def found(self, at: i64) -> MessageView | None:
        seen = self.calls[at].seen
        return seen if isinstance(seen, MessageView) else None

    def listed(self, at: i64) -> list[MessageView]:
        seen = self.calls[at].seen
        return seen if isinstance(seen, list) else []

    def say(self, out: BytesWriter, speech: Speech) -> None:
        if self.is_multi:
            resp.write_array(out, len(self.steps))
        for step in self.steps:
            step.write(out, speech, self)


def message_call(verb: int, queue: bytes, name: bytes, speech: Speech) -> Call:
    """A call about the message of that id, be the id a client's or ours."""
    call = Call(verb, queue)
    call.seq = int(speech.ids.seq(name))
    call.foreign_id = name
    return call


def everything(queue: bytes, limit: int = LISTED_MAX) -> Call:
    """The messages of a queue, by when they can be seen."""
    call = Call(LIST, queue)
    call.due_us, call.until_us, call.limit = 0, int(NEVER_US), limit
    return call


class Words(Step):
    """What was known before anything was asked."""

    def __init__(self, words: bytes) -> None:
        self._words: bytes = words

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        out.write(self._words)


class Nothing(Step):
    """Of a key that cannot be."""

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        speech.null(out)


class Several(Step):
    """An array of answers."""

    def __init__(self, steps: list[Step]) -> None:
        self._steps: list[Step] = steps

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        resp.write_array(out, len(self._steps))
        for step in self._steps:
            step.write(out, speech, plan)


class Nothings(Step):
    def __init__(self, count: i64) -> None:
        self._count: i64 = count

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        resp.write_array(out, self._count)
        for _ in range(self._count):
            speech.null(out)


class Number(Step):
    """The number of a call's outcome; 0 where it found no queue."""

    def __init__(self, at: i64) -> None:
        self._at: i64 = at

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        resp.write_number(out, plan.number(self._at))


class Done(Step):
    """1 if the call did what it was for."""

    def __init__(self, at: i64) -> None:
        self._at: i64 = at

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        resp.write_number(out, 1 if plan.code(self._at) == codes.OK else 0)


class Length(Step):
    def __init__(self, at: i64) -> None:
        self._at: i64 = at

    def write(self, out: BytesWriter, speech: Speech, plan: Plan) -> None:
        resp.write_number(out, plan.seen(self._at).length)
