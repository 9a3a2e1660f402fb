"""WebSocket from a client's side, as cheap as the rules allow: a mask of zeros leaves a payload as it is."""

from __future__ import annotations

import socket
import struct
from typing import Final

from mypy_extensions import i64

from bench.tongues.tongue import StepTongue

TEXT: Final = 0x81
BINARY: Final = 0x82
_MASK: Final = bytes(4)
_SHORT: Final = 126  # the lengths below stand in one byte
_HEAD_END: Final = b"\r\n\r\n"


class TextTongue(StepTongue):
    """One flat JSON object a frame: the brace at its end is its only one, so an answer's size is one brace."""

    def size(self, data: bytes) -> i64:
        return data.count(b"}")


def asked(kind: int, payload: bytes) -> bytes:
    """A frame to a server."""
    length = len(payload)
    if length < _SHORT:
        return struct.pack(">BB", kind, 0x80 | length) + _MASK + payload
    return struct.pack(">BBH", kind, 0x80 | _SHORT, length) + _MASK + payload


def answered(kind: int, length: int) -> bytes:
    """The head of a frame from a server."""
    return struct.pack(">BB", kind, length) if length < _SHORT else struct.pack(">BBH", kind, _SHORT, length)


def opened(sock: socket.socket, headers: bytes = b"") -> bytes:
    """A WebSocket from here on; given is what has come behind the answer."""
    sock.sendall(
        b"GET /connect HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" + headers + b"\r\n"
    )
    came = b""
    while _HEAD_END not in came:
        came += _more(sock, came)
    head, _, rest = came.partition(_HEAD_END)
    if not head.startswith(b"HTTP/1.1 101 "):
        raise ConnectionError(f"no WebSocket: {head!r}")
    return rest


def behind(sock: socket.socket, came: bytes) -> bytes:
    """What has come behind the next frame, a short one."""
    while len(came) < 2 or len(came) < 2 + came[1]:
        came += _more(sock, came)
    return came[2 + came[1] :]


def _more(sock: socket.socket, came: bytes) -> bytes:
    data = sock.recv(1 << 16)
    if not data:
        raise ConnectionError(f"closed after {came!r}")
    return data
