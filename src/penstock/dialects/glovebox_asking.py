"""What a glovebox client can ask for, as verbs, whatever form it was asked in; and what becomes of it, as words.

Answers carry the label of their request and come as they come: here stands what is under way.
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64, mypyc_attr

from penstock.codecs.bincode import U32_MAX
from penstock.codecs.glovebox import published, reserved, whether
from penstock.dialects.context import Context
from penstock.dialects.glovebox_keeping import Keeper
from penstock.dialects.glovebox_words import ALREADY_EXISTS, BAD_REQUEST, DENIED, NO_OBJECT, Words, decimal
from penstock.dialects.websocket import WebSocketSession
from penstock.model import codes, stages
from penstock.model.contract import Call, owed_for
from penstock.model.limits import DAY_US, IN_FLIGHT_MAX, OWED_BYTES_MAX, SECOND_US
from penstock.model.message import Message, Origin
from penstock.model.options import HOLDER_ONLY, Publishing, Reserving, Taking
from penstock.model.policy import Policy

NUMBER: Final[i64] = 4

WORK_MAX_US: Final[i64] = 100 * DAY_US  # of a fetch that names no time to work
UNLABELLED: Final = -1

# What was asked.
MEET: Final[i64] = 0
PAGE: Final[i64] = 1
CREATE: Final[i64] = 2
POST: Final[i64] = 3
POP: Final[i64] = 4
FETCH: Final[i64] = 5
FINISH: Final[i64] = 6
PUBLISH: Final[i64] = 7
RESERVE: Final[i64] = 8
FINISH_ALL: Final[i64] = 9
RELEASE_ALL: Final[i64] = 10
EXTEND_ALL: Final[i64] = 11

_ENDED: Final = {FINISH_ALL: b"finished", RELEASE_ALL: b"released", EXTEND_ALL: b"extended"}

# A refusal in this dialect: the error, and its key; empty: the queue.
REFUSALS: Final = {
    codes.NO_QUEUE: (NO_OBJECT, b""),
    codes.QUEUE_EXISTS: (ALREADY_EXISTS, b""),
    codes.FULL: (DENIED, b"full"),
    codes.DENIED: (DENIED, b""),
    codes.TOO_LARGE: (BAD_REQUEST, b"too large"),
    codes.BAD_NAME: (BAD_REQUEST, b"queue name too long"),
    codes.BAD_OPTION: (BAD_REQUEST, b"out of range"),
    codes.BAD_POLICY: (BAD_REQUEST, b"out of range"),
}

LEASE_US: Final[i64] = 60 * SECOND_US  # of a reserve, where nobody says how long

_POSTING: Final = Publishing(create=False)
_POPPING: Final = Taking()


class Asked:
    """A request under way; its place in the table is its token. Used again once it is answered."""

    __slots__ = ("kind", "label", "number", "queue", "shard", "token", "waits")

    def __init__(self, token: i64) -> None:
        self.token: i64 = token
        self.kind: i64 = MEET
        self.label: int = 0
        self.queue: bytes = b""
        self.shard: int = 0  # of a finish
        self.number: int = (
            0  # of a finish: the sequence; of a page: its turn; of a publish: 1 where it was denied a queue
        )
        self.waits: bool = False  # perhaps for a message: unanswered for ever if its client goes before one comes


@mypyc_attr(allow_interpreted_subclasses=True)
class AskingSession(WebSocketSession):
    """What a dialect's form adds: `text` and `binary`, which call these requests."""

    def __init__(self, context: Context) -> None:
        super().__init__(NUMBER, context)
        self.keeper: Keeper | None = Keeper(self)  # None: what is said is said at once
        self.words: Words = self.keeper
        self._table: list[Asked] = []
        self._idle: list[Asked] = []
        self._under_way: i64 = 0
        self._waiting: i64 = 0  # of those, the ones that may wait for a message
        self._reserving: Reserving = Reserving()
        self.may_create: bool = bool(context.options["runtime_create"])

    # -- what is under way

    def ask(self, kind: i64, label: int, queue: bytes, waits: bool = False) -> Asked:
        asked = self._idle.pop() if self._idle else self._place()
        asked.kind = kind
        asked.label = label
        asked.queue = queue
        asked.waits = waits
        self._under_way += 1
        if waits:
            self._waiting += 1
        return asked

    def _place(self) -> Asked:
        asked = Asked(len(self._table))
        self._table.append(asked)
        return asked

    def _settled(self, token: i64) -> Asked:
        asked = self._table[token]
        self._idle.append(asked)
        self._under_way -= 1
        if asked.waits:
            self._waiting -= 1
        return asked

    def asking(self) -> bool:
        """Whoever is gone waits no more: that is never answered."""
        unanswered = self._under_way - self._waiting if self.ended else self._under_way
        return unanswered != 0 or super().asking()

    def enough(self) -> bool:
        said: i64 = len(self._output)
        if self.keeper is not None:
            said += self.keeper.size
        return self.owed + said > OWED_BYTES_MAX or self._under_way >= IN_FLIGHT_MAX

    # -- the five requests that have a binary form

    def create(self, queue: bytes, label: int, retries: int, stage: i64) -> None:
        """`retries` of -1: no limit."""
        if not self.may_create:
            self.error(label, DENIED, queue)
            return
        policy = Policy() if retries < 0 else Policy(attempts=max(retries, 1))
        self.context.broker.declare(self, self.ask(CREATE, label, queue).token, queue, policy, stage)

    def post(self, queue: bytes, body: bytes, priority: i64, label: int, notify: i64) -> None:
        options = _POSTING
        if notify != 0:
            origin = Origin()
            origin.poster = self.client_id
            origin.label = label
            origin.notify = notify
            options = Publishing(priority=priority, create=False, origin=origin)
        elif priority != 0:
            options = Publishing(priority=priority, create=False)
        token = self.ask(POST, label, queue).token
        self.context.broker.publish(self, token, queue, body, -1, options, stages.READY)

    def pop(self, queue: bytes, stage: i64, wait_us: i64, label: int) -> None:
        options = _POPPING if wait_us == 0 else Taking(wait_us=wait_us)
        self.context.broker.take(self, self.ask(POP, label, queue, wait_us > 0).token, queue, options, stage)

    def fetch(self, queue: bytes, wait_us: i64, work_us: i64, stage: i64, label: int) -> None:
        lease_us = work_us if work_us > 0 else WORK_MAX_US
        options = self._reserving
        if options.lease_us != lease_us or options.wait_us != wait_us:
            options = Reserving(lease_us=lease_us, holder=self.client_id, old_place=True, wait_us=wait_us)
            self._reserving = options
        self.context.broker.reserve(self, self.ask(FETCH, label, queue, wait_us > 0).token, queue, options, stage)

    def finish(self, queue: bytes, shard: int, sequence: int, label: int, stage: i64) -> None:
        asked = self.ask(FINISH, label, queue)
        asked.shard = shard
        asked.number = sequence
        seq = self.seq_of(shard, sequence)
        self.context.broker.finish(self, asked.token, queue, seq, HOLDER_ONLY, self.client_id, stage)

    def seq_of(self, shard: int, sequence: int) -> i64:
        return self.context.ids.seq_of(shard, sequence) if shard <= U32_MAX and sequence <= U32_MAX else -1

    # -- the requests of our own

    def publish(self, queue: bytes, label: int, calls: list[Call], denied: bool, stage: i64) -> None:
        """`denied`: they would make their queue if they might."""
        asked = self.ask(PUBLISH, label, queue)
        asked.number = 1 if denied else 0
        only = calls[0] if len(calls) == 1 else None
        if only is not None and only.options is not None:
            self.context.broker.publish(self, asked.token, queue, only.body, only.delay_us, only.options, stage)
        else:
            self.context.broker.batch(self, asked.token, calls, stage)

    def reserve(self, queue: bytes, label: int, most: i64, lease_us: i64, wait_us: i64, stage: i64) -> None:
        options = Reserving(
            lease_us=lease_us, holder=self.client_id, old_place=True, wait_us=wait_us, max=most, unsaid_us=LEASE_US
        )
        self.context.broker.reserve(self, self.ask(RESERVE, label, queue, wait_us > 0).token, queue, options, stage)

    def end_all(self, kind: i64, queue: bytes, label: int, calls: list[Call], stage: i64) -> None:
        """Finish, release or extend each; of those that this client does not hold, none."""
        for call in calls:
            call.rule = HOLDER_ONLY
            call.holder = self.client_id
        self.context.broker.batch(self, self.ask(kind, label, queue).token, calls, stage)

    # -- answers

    def error(self, label: int, code: i64, key: bytes) -> None:
        self.words.error(label, code, key)
        self.rouse()

    def told(self, stage: i64, label: int) -> None:
        self.words.notice(label, stage)
        self.rouse()

    def answered(self, token: i64, code: i64, message: Message | None, number: i64) -> None:
        asked = self._settled(token)
        if message is not None:
            self.owed -= len(message.body)
            self._give(asked, message)
        elif code in (codes.OK, codes.DUPLICATE, codes.ALREADY):
            self._done(asked, code, number)
        elif code == codes.EMPTY:
            self.words.no_message(asked.label)
        else:
            self._refuse(asked, code, number)
        self.rouse()

    def _give(self, asked: Asked, message: Message) -> None:
        pair = self.context.ids.pair(message.order)
        self.words.message(asked.label, pair, message.body, asked.kind == POP)

    def _done(self, asked: Asked, code: i64, number: i64) -> None:
        """Of a post that went well its notices tell."""
        kind = asked.kind
        if kind == CREATE:
            self.words.notice(asked.label, stages.READY)
        elif kind == FINISH:
            if asked.label != UNLABELLED:
                self.words.notice(asked.label, stages.FINISH)
        elif kind == PUBLISH:
            self.words.text(published(asked.label, self.context.ids, [(int(code), int(number))]))
        elif kind == MEET:
            self.greet(number)

    def greet(self, number: i64) -> None:
        """The client has its name."""
        raise NotImplementedError

    def _refuse(self, asked: Asked, code: i64, number: i64) -> None:
        label = 0 if asked.label == UNLABELLED else asked.label
        if code == codes.NO_MESSAGE and number != 0:
            self.words.error(label, NO_OBJECT, decimal(asked.shard) + b"/" + decimal(asked.number))
            return
        if code == codes.NO_MESSAGE:
            code = codes.NO_QUEUE
        elif code == codes.NO_QUEUE and asked.kind == PUBLISH and asked.number != 0:
            code = codes.DENIED
        error, key = REFUSALS[code]
        self.words.error(label, error, key or asked.queue)

    def answered_with(self, token: i64, code: i64, value: object) -> None:
        asked = self._settled(token)
        self.owed -= owed_for(value)
        if asked.kind == PAGE:
            self.respond_status(asked, value)
        elif code in (codes.OK, codes.EMPTY):
            assert isinstance(value, list)
            self._list(asked, value)
        else:
            self._refuse(asked, code, 0)
        self.rouse()

    def _list(self, asked: Asked, value: list[Any]) -> None:
        if asked.kind == RESERVE:
            self.words.text(reserved(asked.label, self.context.ids, value))
        elif asked.kind == PUBLISH:
            self.words.text(published(asked.label, self.context.ids, value))
        else:
            self.words.text(whether(_ENDED[asked.kind], asked.label, value))

    def respond_status(self, asked: Asked, view: object) -> None:
        """What is behind a page."""
        raise NotImplementedError
