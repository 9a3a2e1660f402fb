"""The dialect `deferred` (DefferedQ): lines over TCP, one queue a listener. docs/dialects/deferred.md specifies it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from io import BytesIO
from typing import Final

from librt.strings import BytesWriter, read_i32_le
from mypy_extensions import i64

from penstock.codecs.ids import ID_CHARACTERS
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

SETTINGS: Final[tuple[Setting, ...]] = (
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

# Four bytes of a request as one number: its beginning, and, for seven-letter words, from the fourth letter on.
_ADD_: Final = read_i32_le(b"ADD ", 0)
_RESE: Final = read_i32_le(b"RESE", 0)
_ERVE: Final = read_i32_le(b"ERVE", 0)
_DELE: Final = read_i32_le(b"DELE", 0)
_ETE_: Final = read_i32_le(b"ETE ", 0)
_RETU: Final = read_i32_le(b"RETU", 0)
_URN_: Final = read_i32_le(b"URN ", 0)

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

DELAY_MAX_MS: Final[i64] = 2_147_483_647
SPACE: Final[i64] = 0x20
ZERO: Final[i64] = 0x30
NINE: Final[i64] = 0x39
LINE_FEED: Final = 0x0A
CARRIAGE_RETURN: Final = 0x0D

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
            self._go(self._lines_of(data if cut == len(data) else data[:cut]))
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
        lines = [whole] if whole.find(b"\n") == len(whole) - 1 else BytesIO(whole).readlines()
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
                self.rouse()
                return
            self._request(line)

    # -- requests: each is a line up to `end`; its attributes begin at `at`

    def _request(self, line: bytes) -> None:
        end: i64 = len(line) - 1
        if end > 0 and line[end - 1] == CARRIAGE_RETURN:
            end -= 1
        verb = plain_verb(line, end)
        at: i64 = 4 if verb == ADD else 7
        if verb == 0:
            space: i64 = line.find(b" ", 0, end)
            verb = VERBS.get(line[: end if space < 0 else space], 0)
            at = space + 1  # 0: there are no attributes
            if at != 0 and verb in (RESERVE, STATS):
                verb = 0
        token = self.next_turn() << _TURN_SHIFT | verb
        if verb == ADD:
            self._add(token, line, at, end)
        elif verb == RESERVE:
            self.context.broker.reserve(self, token, self._queue, _RESERVING, self.context.confirm)
        elif verb == DELETE:
            self._delete(token, line, at, end)
        elif verb == RETURN:
            self._return(token, line, at, end)
        elif verb == STATS:
            self.context.broker.show_queue(self, token, self._queue)
        else:
            self.say(token >> _TURN_SHIFT, UNKNOWN_COMMAND)

    def _add(self, token: i64, line: bytes, at: i64, end: i64) -> None:
        stop = digits_end(line, at, end) if at != 0 else end
        delay_ms = milliseconds(line, at, stop) if at != 0 else -1
        if delay_ms < 0 or (stop < end and line[stop] != SPACE):
            self.say(token >> _TURN_SHIFT, INVALID_DELAY)
            return
        body = line[stop + 1 : end] if stop < end else b""  # compiled, a slice must not end before it begins
        if stop == end or not is_text(body):
            self.say(token >> _TURN_SHIFT, INVALID_BODY)
            return
        context = self.context
        token |= delay_ms << _DELAY_SHIFT
        delay_us = delay_ms * MILLISECOND_US
        context.broker.publish(self, token, self._queue, body, delay_us, _PUBLISHING, context.confirm)

    def _delete(self, token: i64, line: bytes, at: i64, end: i64) -> None:
        if at == 0 or at == end:
            self.say(token >> _TURN_SHIFT, INVALID_ID)
            return
        context = self.context
        seq = context.ids.seq_at(line, at) if end - at == ID_CHARACTERS else -1
        context.broker.finish(self, token, self._queue, seq, LEASED_ONLY, 0, context.confirm)

    def _return(self, token: i64, line: bytes, at: i64, end: i64) -> None:
        space: i64 = line.find(b" ", at, end) if at != 0 else -1
        if at == 0 or at == end or at == space:
            self.say(token >> _TURN_SHIFT, INVALID_ID)
            return
        delay_ms = milliseconds(line, space + 1, end) if space >= 0 else -1
        if delay_ms < 0:
            self.say(token >> _TURN_SHIFT, INVALID_DELAY)
            return
        context = self.context
        seq = context.ids.seq_at(line, at) if space - at == ID_CHARACTERS else -1
        delay_us = delay_ms * MILLISECOND_US
        context.broker.release(self, token, self._queue, seq, delay_us, False, LEASED_ONLY, 0, context.confirm)

    # -- answers

    def answered(self, token: i64, code: i64, message: Message | None, number: i64) -> None:
        out = self.answer(token >> _TURN_SHIFT)
        if code != codes.OK:
            out.write(REFUSALS[code])
        elif message is not None:
            self.owed -= len(message.body)
            self._write_task(out, message)
        elif token & _VERB_MASK == ADD:
            delay_ms = token >> _DELAY_SHIFT & _DELAY_MASK
            out.write(b"TASK ")
            self.context.ids.write(out, number)
            out.write(b" DELAY 0ms\n" if delay_ms == 0 else b" DELAY %dms\n" % delay_ms)
        else:
            out.write(DONE)

    def _write_task(self, out: BytesWriter, message: Message) -> None:
        body = message.body
        out.write(b"TASK ")
        self.context.ids.write(out, message.order)
        if (message.dialect == NUMBER and body[-1:] != b"\r") or fits_a_line(body):  # what came as a line is one
            out.write(b" BODY ")
            out.write(body)
        else:
            out.write(b" BODY64 ")
            out.write(base64.b64encode(body))
        out.append(LINE_FEED)

    def answered_with(self, token: i64, code: i64, value: object) -> None:
        view = value if isinstance(value, QueueView) else None
        self.say(token >> _TURN_SHIFT, self._stats(view))

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


def plain_verb(line: bytes, end: i64) -> i64:
    """The verb of a request whose attributes, if it has any, follow as they should; 0: look closer."""
    if end < 7:
        return ADD if end >= 4 and read_i32_le(line, 0) == _ADD_ else 0
    head = read_i32_le(line, 0)
    if head == _ADD_:
        return ADD
    tail = read_i32_le(line, 3)
    if head == _RESE and tail == _ERVE and end == 7:
        return RESERVE
    if head == _DELE and tail == _ETE_:
        return DELETE
    if head == _RETU and tail == _URN_:
        return RETURN
    return 0


def digits_end(line: bytes, at: i64, end: i64) -> i64:
    while at < end and line[at] >= ZERO and line[at] <= NINE:
        at += 1
    return at


def milliseconds(line: bytes, at: i64, end: i64) -> i64:
    """Decimal, 0 … 2,147,483,647; -1 for anything else."""
    value: i64 = -1 if at == end else 0
    for place in range(at, end):
        digit: i64 = line[place] - ZERO
        if digit < 0 or digit > 9 or value > DELAY_MAX_MS:
            return -1
        value = value * 10 + digit
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
    if len(body) == 0:
        return True
    return body[len(body) - 1] != CARRIAGE_RETURN and b"\n" not in body and is_text(body)
