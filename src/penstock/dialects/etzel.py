"""The dialect `etzel`: JSON over WebSocket, messages fetched and acknowledged, workers that sleep and are woken.
docs/dialects/etzel.md specifies it.

Law: one `awk` for each sleep, never before the `okslp` of that sleep, and none is lost.
"""

from __future__ import annotations

from typing import Final

from librt.strings import BytesWriter
from mypy_extensions import i64

from penstock import __version__
from penstock.codecs import etzel, etzel_plain, websocket
from penstock.codecs.etzel_plain import PlainRequest
from penstock.codecs.etzel_shapes import ACK, FET, PUB, SUB
from penstock.codecs.plain import COMPILED
from penstock.codecs.showing import shown
from penstock.dialects.context import Context
from penstock.dialects.websocket import WebSocketSession
from penstock.model import codes
from penstock.model.limits import LEASE_MAX_US, QUEUE_NAME_MAX, SECOND_US, SUBSCRIPTIONS_MAX, TTL_MAX_US
from penstock.model.message import Message
from penstock.model.options import ANY_LIVE, Publishing, Reserving
from penstock.model.policy import Policy

NUMBER: Final[i64] = 1

TIMEOUT_DEFAULT_S: Final = 60
TIMEOUT_MIN_S: Final = 5
TIMEOUT_MAX_S: Final = int(LEASE_MAX_US // SECOND_US)
DELAY_MAX_S: Final = 365 * 86_400
EXPIRES_MAX_S: Final = int(TTL_MAX_US // SECOND_US)
DEFAULTS: Final[Policy] = Policy(lease_us=TIMEOUT_DEFAULT_S * int(SECOND_US))

ABOUT: Final = {"name": "penstock", "version": __version__, "dialect": "etzel", "connect": "/connect"}


def _framed(payload: bytes) -> bytes:
    out = BytesWriter()
    websocket.write_frame(out, websocket.TEXT, payload)
    return out.getvalue()


def _nok(err: bytes) -> bytes:
    return _framed(b'{"cmd":"nok","err":"' + err + b'"}')


OK: Final = _framed(b'{"cmd":"ok"}')
BAD_REQUEST: Final = _nok(b"BAD_REQUEST")
BAD_DELAY: Final = _nok(b"BAD_DELAY")
BAD_EXPIRES: Final = _nok(b"BAD_EXPIRES")
BAD_TIMEOUT: Final = _nok(b"BAD_TIMEOUT")
BAD_NAME: Final = _nok(b"BAD_NAME")
FULL: Final = _nok(b"FULL")
NOT_FOUND: Final = _nok(b"Q_NOT_FOUND")

# What a refusal is called here; the rest cannot be refused in this dialect.
REFUSALS: Final = {
    codes.FULL: FULL,
    codes.TOO_LARGE: _nok(b"TOO_LARGE"),
    codes.BAD_NAME: BAD_NAME,
    codes.DENIED: _nok(b"DENIED"),
}

# A token: the request's turn, and how its outcome is said.
_PUB: Final[i64] = 0
_FET: Final[i64] = 1
_FET_SUBSCRIBED: Final[i64] = 2  # somebody had subscribed to the queue when it was asked for
_ACK: Final[i64] = 3
_HOW_BITS: Final[i64] = 2
_HOW_MASK: Final[i64] = 3

_RESERVING: Final = Reserving()

# A message, around what is its own.
_MSG: Final = b'{"cmd":"msg","qname":'
_UID: Final = b',"uid":"' + etzel.UID_MARK
_COUNT: Final = b'","error_count":'
_BODY: Final = b',"msg":'
_FIXED_BYTES: Final[i64] = len(_MSG + _UID + _COUNT + _BODY) + etzel.UID_BYTES - len(etzel.UID_MARK) + 1


class Name:
    """A queue's name in the forms that are needed of it."""

    __slots__ = ("ending", "queue", "quoted")

    def __init__(self, queue: bytes) -> None:
        self.queue: bytes = queue
        self.quoted: bytes = shown(queue)
        self.ending: bytes = b',"qname":' + self.quoted + b"}"  # of most answers


class Place:
    """What one connection has said of one queue."""

    __slots__ = ("asleep", "ending", "queue", "subscribed", "turn")

    def __init__(self, name: Name) -> None:
        self.queue: bytes = name.queue
        self.ending: bytes = name.ending
        self.subscribed: bool = False
        self.asleep: bool = False
        self.turn: i64 = 0  # of the last request that the wake-up must not overtake


class EtzelSession(WebSocketSession):
    """One connection."""

    def __init__(self, context: Context) -> None:
        super().__init__(NUMBER, context)
        self._said: dict[int, bytes] = {}  # by turn: the queue of a FET, the whole answer of an ACK
        self._places: list[Place] = []  # the number of one is the token of its wake-up
        self._by_queue: dict[bytes, int] = {}
        self._plain: PlainRequest = PlainRequest()
        self._name: Name = Name(b"")  # the last that was said: most say the same again and again
        self._publishing: Publishing = Publishing()  # and how they last published

    # -- the connection's side

    def end(self) -> None:
        if not self.ended:
            for place in self._places:
                self.context.subscriptions.leave(place.queue, place.subscribed)
        super().end()

    def page(self, turn: i64, path: bytes) -> None:
        if path == b"/":
            self.respond_json(turn, 200, ABOUT)
        else:
            self.not_found(turn)

    # -- requests

    def binary(self, payload: bytes) -> None:
        self.say(self.next_turn(), BAD_REQUEST)

    def text(self, payload: bytes) -> None:
        turn = self.next_turn()
        if not COMPILED or not self._read_plain(turn, payload):
            self._read_any(turn, payload)

    def _read_plain(self, turn: i64, payload: bytes) -> bool:
        plain = self._plain
        kind = plain.kind_of(payload)
        if kind == etzel_plain.PUB:
            delay_us = _within(plain.delay_s, 0, DELAY_MAX_S)
            ttl_us = _within(plain.expires_s, 0, EXPIRES_MAX_S)
            lease_us = _within(plain.timeout_s, TIMEOUT_MIN_S, TIMEOUT_MAX_S)
            self._publish(turn, plain.qname, plain.msg, delay_us, ttl_us, lease_us)
        elif kind == etzel_plain.FET:
            self._fetch(turn, self._named(plain.qname))
        elif kind == etzel_plain.ACK:
            self._acknowledge(turn, self._named(plain.qname), plain.uid)
        return kind != etzel_plain.NONE

    def _read_any(self, turn: i64, payload: bytes) -> None:
        request = etzel.request_of(payload)
        if request is None:
            self.say(turn, BAD_REQUEST)
            return
        qname = request.qname.encode()
        if request.kind == PUB:
            delay_us = etzel.duration_us(request.delay, 0, DELAY_MAX_S)
            ttl_us = etzel.duration_us(request.expires, 0, EXPIRES_MAX_S)
            lease_us = etzel.duration_us(request.timeout, TIMEOUT_MIN_S, TIMEOUT_MAX_S)
            self._publish(turn, qname, etzel.body_of(request), delay_us, ttl_us, lease_us)
        elif request.kind == FET:
            self._fetch(turn, self._named(qname))
        elif request.kind == ACK:
            self._acknowledge(turn, self._named(qname), request.uid.encode())
        elif request.kind == SUB:
            self._subscribe(turn, self._named(qname))
        else:
            self._sleep(turn, self._named(qname))

    def _named(self, queue: bytes) -> Name:
        name = self._name
        if queue != name.queue:
            name = Name(queue)
            if len(queue) <= QUEUE_NAME_MAX:
                self._name = name
        return name

    def _publish(self, turn: i64, queue: bytes, body: bytes | None, delay_us: i64, ttl_us: i64, lease_us: i64) -> None:
        if body is None or etzel.NO_NUMBER in (delay_us, ttl_us, lease_us):
            self.say(turn, BAD_REQUEST)
        elif etzel.OUT_OF_RANGE in (delay_us, ttl_us, lease_us):
            self.say(turn, _out_of_range(delay_us, ttl_us))
        else:
            options = self._publishing
            if ttl_us != options.ttl_us or lease_us != options.lease_us:
                options = self._publishing = Publishing(ttl_us=ttl_us, lease_us=lease_us)
            context = self.context
            context.broker.publish(self, turn << _HOW_BITS | _PUB, queue, body, delay_us, options, context.confirm)

    def _fetch(self, turn: i64, name: Name) -> None:
        context = self.context
        self._said[turn] = name.quoted
        how = _FET_SUBSCRIBED if context.subscriptions.has(name.queue) else _FET
        context.broker.reserve(self, turn << _HOW_BITS | how, name.queue, _RESERVING, context.confirm)

    def _acknowledge(self, turn: i64, name: Name, uid: bytes) -> None:
        context = self.context
        self._said[turn] = b'{"cmd":"okack","uid":' + shown(uid) + name.ending
        seq = etzel.uid_seq(context.ids, uid)
        context.broker.finish(self, turn << _HOW_BITS | _ACK, name.queue, seq, ANY_LIVE, 0, context.confirm)

    def _subscribe(self, turn: i64, name: Name) -> None:
        number = self._place(turn, name)
        if number >= 0:
            place = self._places[number]
            self.answer_frame(turn, b'{"cmd":"oksub"' + place.ending)
            if not place.subscribed:
                place.subscribed = True
                if not self.ended:
                    self.context.subscriptions.add(place.queue)
                self._wait(number, turn)

    def _sleep(self, turn: i64, name: Name) -> None:
        number = self._place(turn, name)
        if number >= 0:
            place = self._places[number]
            self.answer_frame(turn, b'{"cmd":"okslp"' + place.ending)
            if place.asleep:
                place.turn = turn
            else:
                place.asleep = True
                self._wait(number, turn)

    def _wait(self, number: i64, turn: i64) -> None:
        """One wake-up, once it is both subscribed and asleep. Whoever sends no more may be gone: it waits no more."""
        place = self._places[number]
        if place.subscribed and place.asleep:
            place.turn = turn
            if not self.ended:
                self.context.broker.wait(self, number, place.queue)

    def _place(self, turn: i64, name: Name) -> i64:
        """The number of the place for that queue, made if need be; -1: refused, and said so."""
        queue = name.queue
        found = self._by_queue.get(queue)
        if found is not None:
            return found
        if len(queue) > QUEUE_NAME_MAX:
            self.say(turn, BAD_NAME)
            return -1
        if len(self._places) >= SUBSCRIPTIONS_MAX or not (self.ended or self.context.subscriptions.keep(queue)):
            self.say(turn, FULL)
            return -1
        number: i64 = len(self._places)
        self._places.append(Place(name))
        self._by_queue[queue] = number
        return number

    # -- answers

    def answered(self, token: i64, code: i64, message: Message | None, number: i64) -> None:
        turn = token >> _HOW_BITS
        how = token & _HOW_MASK
        out = self.answer(turn)
        if how == _PUB:
            out.write(OK if code == codes.OK else REFUSALS[code])
            return
        said = self._said.pop(turn)
        if code == codes.DENIED:
            out.write(REFUSALS[code])
        elif how == _ACK:
            websocket.write_frame(out, websocket.TEXT, said)
        elif message is not None:
            self.owed -= len(message.body)
            self._write_message(out, said, message, number - 1)
        elif code == codes.NO_QUEUE and how == _FET:
            out.write(NOT_FOUND)
        else:
            websocket.write_frame(out, websocket.TEXT, b'{"cmd":"nomsg","qname":' + said + b"}")

    def _write_message(self, out: BytesWriter, name: bytes, message: Message, error_count: i64) -> None:
        body = shown(message.body)
        count = b"0" if error_count == 0 else b"%d" % error_count
        websocket.write_head(out, websocket.TEXT, _FIXED_BYTES + len(name) + len(count) + len(body))
        out.write(_MSG)
        out.write(name)
        out.write(_UID)
        self.context.ids.write(out, message.order)
        out.write(_COUNT)
        out.write(count)
        out.write(_BODY)
        out.write(body)
        out.write(b"}")

    def woken(self, token: i64) -> None:
        place = self._places[token]
        place.asleep = False
        websocket.write_frame(self.behind(place.turn), websocket.TEXT, b'{"cmd":"awk"' + place.ending)


def _within(seconds: i64, least_s: i64, most_s: i64) -> i64:
    """As etzel.duration_us, of a number that is plain."""
    if seconds == etzel.UNSAID:
        return etzel.UNSAID
    return seconds * SECOND_US if least_s <= seconds <= most_s else etzel.OUT_OF_RANGE


def _out_of_range(delay_us: i64, ttl_us: i64) -> bytes:
    if delay_us == etzel.OUT_OF_RANGE:
        return BAD_DELAY
    return BAD_EXPIRES if ttl_us == etzel.OUT_OF_RANGE else BAD_TIMEOUT
