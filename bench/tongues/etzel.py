"""penstock's `etzel`: PUB, FET and ACK as a stock client says them."""

from __future__ import annotations

import socket
from typing import Final

from mypy_extensions import i64

from bench.tongues.frames import TEXT, TextTongue, answered, asked, opened
from bench.tongues.tongue import BODY, slices

_PUB: Final = asked(TEXT, b'{"cmd":"PUB","qname":"q","msg":"%s","delay":0,"expires":0,"timeout":60}' % BODY)
_FET: Final = asked(TEXT, b'{"cmd":"FET","qname":"q"}')

_OK: Final = b'{"cmd":"ok"}'
_MSG: Final = b'{"cmd":"msg","qname":"q","uid":"'
_MSG_REST: Final = b'","error_count":0,"msg":"%s"}' % BODY
_OKACK: Final = b'{"cmd":"okack","uid":"'
_OKACK_REST: Final = b'","qname":"q"}'
_UID_BYTES: Final = 14
_STARTS: Final = (
    answered(TEXT, len(_OK)) + _OK,
    answered(TEXT, len(_MSG) + _UID_BYTES + len(_MSG_REST)) + _MSG,
    answered(TEXT, len(_OKACK) + _UID_BYTES + len(_OKACK_REST)) + _OKACK,
)
_UID_AT: Final[i64] = len(_STARTS[1])

_ACK: Final = b'{"cmd":"ACK","qname":"q","uid":"'
_ACK_REST: Final = b'"}'
_ACK_START: Final = asked(TEXT, _ACK + bytes(_UID_BYTES) + _ACK_REST)[: -_UID_BYTES - len(_ACK_REST)]


class Etzel(TextTongue):
    """A message is `…"uid":"<14 characters>"…`."""

    def __init__(self, number: i64, in_flight: i64) -> None:
        super().__init__(number, in_flight, [1, 1, 1], list(_STARTS))

    def greet(self, sock: socket.socket) -> None:
        opened(sock)

    def publish(self) -> bytes:
        return _PUB * self.in_flight

    def reserve(self) -> bytes:
        return _FET * self.in_flight

    def finish(self, given: bytes) -> bytes:
        uids = slices(given, self.in_flight, _UID_AT, _UID_AT + _UID_BYTES)
        return _ACK_START + (_ACK_REST + _ACK_START).join(uids) + _ACK_REST
