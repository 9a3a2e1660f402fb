"""Sessions over WebSocket: the HTTP at the door, frames in and frames out, pings and close codes.

A dialect adds what a message means, and what a plain GET is told. It is bytes in and bytes out like any session.
"""

from __future__ import annotations

import json
from typing import Final

from librt.strings import BytesWriter
from mypy_extensions import i64, mypyc_attr

from penstock.codecs import upgrade, websocket
from penstock.codecs.upgrade import Head
from penstock.dialects.context import Context
from penstock.dialects.ordered import OrderedSession
from penstock.model.limits import FRAME_MAX

PATHS: Final = (b"/connect", b"/connect/")
JSON: Final = "application/json"
_VERSION: Final = "13"

# How far a connection has come.
_HEAD: Final[i64] = 0  # the request is being read
_PAGE: Final[i64] = 1  # it was for a page: answered, then closed
_FRAMES: Final[i64] = 2


@mypyc_attr(allow_interpreted_subclasses=True)
class WebSocketSession(OrderedSession):
    """What a dialect adds: `opened`, `text`, `binary`, `page`."""

    def __init__(self, dialect: i64, context: Context) -> None:
        super().__init__(dialect, context)
        self._phase: i64 = _HEAD
        self._head: bytes = b""
        self._reader: websocket.FrameReader = websocket.FrameReader(FRAME_MAX, True)
        self._farewell: i64 = 0  # the close code to say once all is answered; 0: none
        self._shut: bool = False  # what was received and not read yet is not read any more

    # -- what a dialect adds

    def opened(self, head: Head) -> None:
        """The WebSocket is open: what is said first."""
        return

    def text(self, payload: bytes) -> None:
        """One text message, of any bytes."""
        raise NotImplementedError

    def binary(self, payload: bytes) -> None:
        """One binary message."""
        raise NotImplementedError

    def page(self, turn: i64, path: bytes) -> None:
        """A plain GET: answer the turn with `respond`, now or later."""
        self.not_found(turn)

    # -- the connection's side

    def received(self, data: bytes) -> None:
        if self.ended:
            return
        if self._phase == _FRAMES:
            self._reader.feed(data)
            self._read()
        else:
            self._read_head(data)

    def resume(self) -> None:
        if self.held:
            self.held = False
            self._read()
            if self.ended:
                self.rouse()  # there may be nothing left to answer

    def lost(self) -> None:
        super().lost()
        self._shut = True

    def output(self) -> bytes:
        self._catch_up()
        if self._farewell != 0 and self.ended and self.all_said():
            websocket.write_frame(self._output, websocket.CLOSE, websocket.close_payload(self._farewell))
            self._farewell = 0
        return super().output()

    def wants_close(self) -> bool:
        return self._farewell == 0 and super().wants_close()

    def parting(self) -> bytes:
        """Going away, unless goodbye has been said."""
        if self.ended or self._phase != _FRAMES:
            return b""
        out = BytesWriter()
        websocket.write_frame(out, websocket.CLOSE, websocket.close_payload(websocket.GOING_AWAY))
        return out.getvalue()

    def all_said(self) -> bool:
        """Nothing that was asked is still to be answered."""
        return not self.held and not self.asking() and self.owed == 0

    # -- the head

    def _read_head(self, data: bytes) -> None:
        self._head += data
        length = upgrade.head_length(self._head)
        if length == 0:
            return
        head = upgrade.parse_head(self._head[:length]) if length > 0 else None
        rest = self._head[length:]
        self._head = b""
        if head is None:
            self._phase = _PAGE
            self.respond(self.next_turn(), 431 if length < 0 else 400, "text/plain", b"not an HTTP request\n")
            self.end()
        elif head.path in PATHS and head.method == "GET":
            self._upgrade(head, rest)
        else:
            self._answer_page(head)

    def _upgrade(self, head: Head, rest: bytes) -> None:
        key = head.key()
        if not head.wants_upgrade() or not key or head.headers.get("sec-websocket-version") != _VERSION:
            self._refuse_upgrade(426 if not head.wants_upgrade() or key else 400)
            return
        self._phase = _FRAMES
        self.put(upgrade.welcome(key))
        self.opened(head)
        if rest:
            self.received(rest)

    def _refuse_upgrade(self, status: int) -> None:
        self._phase = _PAGE
        extra = {"Upgrade": "websocket", "Sec-WebSocket-Version": _VERSION}
        self.say(self.next_turn(), upgrade.response(status, "text/plain", b"this is a WebSocket\n", extra))
        self.end()

    def _answer_page(self, head: Head) -> None:
        self._phase = _PAGE
        turn = self.next_turn()
        if head.method == "GET":
            self.page(turn, head.path)
        else:
            self.respond(turn, 405, "text/plain", b"only GET\n")
        self.end()

    def respond(self, turn: i64, status: int, kind: str, body: bytes) -> None:
        self.say(turn, upgrade.response(status, kind, body))

    def respond_json(self, turn: i64, status: int, value: object) -> None:
        self.respond(turn, status, JSON, json.dumps(value, separators=(",", ":")).encode())

    def not_found(self, turn: i64) -> None:
        self.respond(turn, 404, "text/plain", b"not found\n")

    # -- frames

    def _read(self) -> None:
        reader = self._reader
        while not self._shut:
            if self.enough():
                self.held = True
                self.rouse()
                return
            kind = reader.take()
            if kind == websocket.TEXT:
                self.text(reader.payload)
            elif kind == websocket.MORE:
                return
            else:
                self._read_other(kind)

    def _read_other(self, kind: i64) -> None:
        reader = self._reader
        if kind == websocket.BINARY:
            self.binary(reader.payload)
        elif kind == websocket.PING:
            self.put_frame(websocket.PONG, reader.payload)
        elif kind in (websocket.CLOSE, websocket.BROKEN):
            self.close(reader.close_code)

    def close(self, code: i64) -> None:
        """Take no more; say goodbye once what was asked is answered."""
        self._farewell = code
        self._shut = True
        self.end()

    def answer_frame(self, turn: i64, payload: bytes) -> None:
        """The answer to the request of that turn: one text frame."""
        out: BytesWriter = self.answer(turn)
        websocket.write_frame(out, websocket.TEXT, payload)

    def put_frame(self, opcode: i64, payload: bytes) -> None:
        """A frame that answers no request."""
        out = BytesWriter()
        websocket.write_frame(out, opcode, payload)
        self.put(out.getvalue())
