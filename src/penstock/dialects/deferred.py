"""The dialect `deferred` (DefferedQ): lines over TCP, one queue a listener. docs/dialects/deferred.md specifies it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from io import BytesIO
from typing import Final

from mypy_extensions import i64

from penstock.dialects.context import Context
from penstock.dialects.ordered import OrderedSession
from penstock.dialects.settings import COUNT, SECONDS, TEXT, Setting
from penstock.model import codes
from penstock.model.limits import LINE_MAX, MILLISECOND_US
from penstock.model.message import Message
from penstock.model.options import LEASED_ONLY, Publishing, Reserving
from penstock.model.policy import Policy
from penstock.model.views import QueueView

NUMBER: Final[i64] = 3

SETTINGS: Final = (
    Setting("queue", TEXT, "default", "The queue this listener serves."),
    Setting(
        "stuck_timeout_s",
        SECONDS,
        0,
        "The watcher: a reservation older than this is returned, after as long again; 0: no watcher.",
        reloads=True,
    ),
    Setting(
        "stuck_attempts",
        COUNT,
        0,
        "How often the watcher returns a task; the next time it is dropped.",
        reloads=True,
        largest=4_294_967_294,
    ),
    Setting("idle_timeout_s", SECONDS, 0, "Quiet connections are closed after this; 0: never."),
)

ADD: Final[i64] = 1
RESERVE: Final[i64] = 2
DELETE: Final[i64] = 3
RETURN: Final[i64] = 4
STATS: Final[i64] = 5
VERBS: Final = {b"ADD": ADD, b"RESERVE": RESERVE, b"DELETE": DELETE, b"RETURN": RETURN, b"STATS": STATS}

UNKNOWN_COMMAND: Final = b"unknown command\n"
INVALID_DELAY: Final = b"invalid DELAY_MS attr\n"
INVALID_BODY: Final = b"invalid TASK_BODY attr\n"
INVALID_ID: Final = b"invalid TASK_ID attr\n"
UNKNOWN_ID: Final = b"unknown TASK_ID\n"
NOTHING: Final = b"nil\n"
DONE: Final = b"ok\n"

# What a refusal is called here; the rest cannot be refused in this dialect.
REFUSALS: Final = {
    codes.EMPTY: NOTHING,
    codes.NO_QUEUE: NOTHING,
    codes.NO_MESSAGE: UNKNOWN_ID,
    codes.FULL: b"queue full\n",
    codes.TOO_LARGE: INVALID_BODY,
    codes.DENIED: b"permission denied\n",
}

DELAY_MAX_MS: Final = 2_147_483_647
_DELAY_DIGITS: Final = 10

# A token: the request's turn (29 bits), its delay in ms (31 bits), its verb (3 bits).
_TURN_SHIFT: Final[i64] = 34
_DELAY_SHIFT: Final[i64] = 3
_DELAY_MASK: Final[i64] = (1 << 31) - 1
_VERB_MASK: Final[i64] = 7

_PUBLISHING: Final = Publishing()
_RESERVING: Final = Reserving()


class DeferredSession(OrderedSession):
    """One connection."""

    def __init__(self, context: Context) -> None:
        super().__init__(NUMBER, context)
        self._queue: bytes = str(context.options["queue"]).encode()
        self._partial: bytearray = bytearray()  # a line that has not ended yet
        self._lines: list[bytes] = []  # held back

    # -- the connection's side

    def received(self, data: bytes) -> None:
        if self.ended:
            return
        cut = data.rfind(b"\n") + 1
        if cut != 0:
            self._go(self._lines_of(data[:cut]))
        if cut < len(data) and not self.ended:
            self._partial += data[cut:]
            if len(self._partial) > LINE_MAX:
                self.end()

    def resume(self) -> None:
        if self.held:
            self.held = False
            lines, self._lines = self._lines, []
            self._go(lines)

    def lost(self) -> None:
        super().lost()
        self._lines = []

    def end(self) -> None:
        super().end()
        self._partial.clear()

    def _lines_of(self, whole: bytes) -> list[bytes]:
        """Up to the first that is too long: there the framing is lost, however the bytes were cut."""
        if self._partial:
            whole = bytes(self._partial) + whole
            self._partial.clear()
        lines = BytesIO(whole).readlines()
        if len(whole) > LINE_MAX:
            for at, line in enumerate(lines):
                if len(line) - 1 > LINE_MAX:
                    self.end()
                    return lines[:at]
        return lines

    def _go(self, lines: list[bytes]) -> None:
        """One request after the other, until the answers under way are enough."""
        if self.held:
            self._lines += lines
            return
        for at, line in enumerate(lines):
            if self.enough():
                self.held = True
                self._lines = lines[at:]
                self.wire.wake()
                return
            self._request(line[:-2] if line[-2:] == b"\r\n" else line[:-1])

    # -- requests

    def _request(self, line: bytes) -> None:
        word, space, rest = line.partition(b" ")
        verb = VERBS.get(word, 0)
        token = self.next_turn() << _TURN_SHIFT | verb
        if verb == ADD:
            self._add(token, rest)
        elif verb == DELETE:
            self._delete(token, rest)
        elif verb == RETURN:
            self._return(token, rest)
        elif space or verb == 0:
            self.say(token >> _TURN_SHIFT, UNKNOWN_COMMAND)
        elif verb == RESERVE:
            self.context.broker.reserve(self, token, self._queue, _RESERVING, self.context.confirm)
        else:
            self.context.broker.show_queue(self, token, self._queue)

    def _add(self, token: i64, rest: bytes) -> None:
        delay, space, body = rest.partition(b" ")
        delay_ms = milliseconds(delay)
        if delay_ms < 0:
            self.say(token >> _TURN_SHIFT, INVALID_DELAY)
        elif not space or not is_text(body):
            self.say(token >> _TURN_SHIFT, INVALID_BODY)
        else:
            context = self.context
            token |= delay_ms << _DELAY_SHIFT
            delay_us = delay_ms * MILLISECOND_US
            context.broker.publish(self, token, self._queue, body, delay_us, _PUBLISHING, context.confirm)

    def _delete(self, token: i64, rest: bytes) -> None:
        if not rest:
            self.say(token >> _TURN_SHIFT, INVALID_ID)
            return
        context = self.context
        seq = context.ids.seq(rest)
        context.broker.finish(self, token, self._queue, seq, LEASED_ONLY, 0, context.confirm)

    def _return(self, token: i64, rest: bytes) -> None:
        shown, _, delay = rest.partition(b" ")
        delay_ms = milliseconds(delay)
        if not shown:
            self.say(token >> _TURN_SHIFT, INVALID_ID)
        elif delay_ms < 0:
            self.say(token >> _TURN_SHIFT, INVALID_DELAY)
        else:
            context = self.context
            seq = context.ids.seq(shown)
            delay_us = delay_ms * MILLISECOND_US
            context.broker.release(self, token, self._queue, seq, delay_us, False, LEASED_ONLY, 0, context.confirm)

    # -- answers

    def answered(self, token: i64, code: i64, message: Message | None, number: i64) -> None:
        if message is not None:
            self.owed -= len(message.body)
        self.say(token >> _TURN_SHIFT, self._words(token, code, message, number))

    def answered_with(self, token: i64, code: i64, value: object) -> None:
        view = value if isinstance(value, QueueView) else None
        self.say(token >> _TURN_SHIFT, self._stats(view))

    def _words(self, token: i64, code: i64, message: Message | None, number: i64) -> bytes:
        if code != codes.OK:
            return REFUSALS[code]
        verb = token & _VERB_MASK
        if verb == ADD:
            return b"TASK %b DELAY %dms\n" % (self.context.ids.show(number), token >> _DELAY_SHIFT & _DELAY_MASK)
        if message is None:
            return DONE
        shown = self.context.ids.show(message.order)
        body = message.body
        if fits_a_line(body):
            return b"TASK %b BODY %b\n" % (shown, body)
        return b"TASK %b BODY64 %b\n" % (shown, base64.b64encode(body))

    def _stats(self, view: QueueView | None) -> bytes:
        waiting = 0 if view is None else view.counts.delayed + view.counts.ready
        leased = 0 if view is None else view.counts.leased
        mebibytes = self.context.resident_bytes() / (1 << 20)
        line = f"TASKS {waiting} RESERVED {leased} CONNECTIONS {self.context.connections()} HEAP {mebibytes:.2f}m\n"
        return line.encode()


def watcher(options: Mapping[str, object]) -> list[tuple[bytes, Policy]]:
    """The watcher is policy of the listener's queue: n returns, each after as long again, then the drop."""
    timeout_us = options["stuck_timeout_us"]
    attempts = options["stuck_attempts"]
    assert isinstance(timeout_us, int)
    assert isinstance(attempts, int)
    if timeout_us == 0:
        return []
    policy = Policy(lease_us=timeout_us, attempts=attempts + 1, backoff_us=(timeout_us,))
    return [(str(options["queue"]).encode(), policy)]


def milliseconds(text: bytes) -> i64:
    """Decimal, 0 … 2,147,483,647; -1 for anything else."""
    if not text.isdigit():
        return -1
    if len(text) > _DELAY_DIGITS:
        text = text.lstrip(b"0") or b"0"
    if len(text) > _DELAY_DIGITS:
        return -1
    value = int(text)
    return value if value <= DELAY_MAX_MS else -1


def is_text(body: bytes) -> bool:
    if body.isascii():
        return True
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def fits_a_line(body: bytes) -> bool:
    """Text without a line break, and not ending in what a reader may take for half of one."""
    return b"\n" not in body and body[-1:] != b"\r" and is_text(body)
