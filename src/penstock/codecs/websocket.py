"""WebSocket frames (RFC 6455) as bytes: a reader of messages, cut anywhere, and writers for both sides.

No extension is spoken, so no compression; nothing here knows a socket or what a message means.
"""

from __future__ import annotations

from typing import Final

from librt.strings import BytesWriter, read_i16_be, read_i64_be, write_i16_be, write_i64_be
from mypy_extensions import i16, i64

from penstock.codecs.masking import masked
from penstock.model.limits import FRAGMENTS_MAX

# What a reader finds: the opcode of a whole message, or one of these two.
MORE: Final[i64] = -1  # it needs more bytes
BROKEN: Final[i64] = -2  # the framing is lost: `close_code` says why

CONTINUATION: Final[i64] = 0
TEXT: Final[i64] = 1
BINARY: Final[i64] = 2
CLOSE: Final[i64] = 8
PING: Final[i64] = 9
PONG: Final[i64] = 10

# Close codes.
NORMAL: Final[i64] = 1_000
GOING_AWAY: Final[i64] = 1_001
PROTOCOL_ERROR: Final[i64] = 1_002
NO_CODE: Final[i64] = 1_005  # a close frame without one; never sent
TOO_LARGE: Final[i64] = 1_009
# The ranges a peer may send; of the first, without those that only software says to itself.
_CODES: Final = ((1_000, 1_003), (1_007, 1_014), (3_000, 4_999))

_FIN: Final[i64] = 0x80
_RESERVED: Final[i64] = 0x70
_OPCODE: Final[i64] = 0x0F
_MASKED: Final[i64] = 0x80
_LENGTH: Final[i64] = 0x7F
_LENGTH_16: Final[i64] = 126
_LENGTH_64: Final[i64] = 127
_CONTROL: Final[i64] = 0x08
_CONTROL_MAX: Final[i64] = 125
_KNOWN: Final[i64] = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 8 | 1 << 9 | 1 << 10  # a bit for each opcode


class FrameReader:
    """Gives whole messages, one at a time. Law: a frame that is too long is refused before a byte of it is kept."""

    def __init__(self, limit: i64, from_client: bool) -> None:
        self.payload: bytes = b""
        self.close_code: i64 = 0
        self._limit: i64 = limit
        self._from_client: bool = from_client
        self._data: bytes = b""
        self._at: i64 = 0
        self._partial: bytearray = bytearray()  # a frame that is not all there: joined once, when it is
        self._needed: i64 = 0  # how long that must become before it is looked at again
        self._last: bool = True  # the frame at hand ends its message
        self._kind: i64 = CONTINUATION  # of the message whose fragments are being gathered; 0: none
        self._fragments: list[bytes] = []
        self._gathered: i64 = 0

    def feed(self, data: bytes) -> None:
        if self._at < len(self._data):  # what is there was not taken yet
            data = self._data[self._at :] + data
        elif self._partial:
            self._partial += data
            if len(self._partial) < self._needed:
                return
            data = bytes(self._partial)
            self._partial = bytearray()
        self._data = data
        self._at = 0

    def take(self) -> i64:
        """The next message's opcode, its content in `payload`; or MORE, or BROKEN, for ever after."""
        while self.close_code == 0:
            opcode = self._frame()
            if opcode < 0:
                return opcode
            kind = self._gather(opcode)
            if kind != CONTINUATION:
                return kind
        return BROKEN

    def _frame(self) -> i64:
        data = self._data
        at: i64 = self._at
        there: i64 = len(data) - at
        if there < 2:
            return self._more(2)
        first: i64 = data[at]
        second: i64 = data[at + 1]
        length: i64 = second & _LENGTH
        if self._unlawful(first, second, length):
            return self._broken(PROTOCOL_ERROR)
        head: i64 = 2
        if length == _LENGTH_16:
            if there < 4:
                return self._more(4)
            length = i64(read_i16_be(data, at + 2)) & 0xFFFF
            head = 4
        elif length == _LENGTH_64:
            if there < 10:
                return self._more(10)
            length = read_i64_be(data, at + 2)
            head = 10
        if length < 0 or (self._gathered + length > self._limit and first & _CONTROL == 0):
            return self._broken(TOO_LARGE)
        if self._from_client:
            head += 4
        if there < head + length:
            return self._more(head + length)
        self._at = at + head + length
        if self._from_client:
            mask = data[at + head - 4 : at + head]
            self.payload = masked(data, at + head, length, mask)
        else:
            self.payload = data[at + head : at + head + length]
        self._last = first & _FIN != 0
        return first & _OPCODE

    def _more(self, needed: i64) -> i64:
        self._partial += self._data[self._at :]
        self._data = b""
        self._at = 0
        self._needed = needed
        return MORE

    def _unlawful(self, first: i64, second: i64, length: i64) -> bool:
        opcode: i64 = first & _OPCODE
        if first & _RESERVED != 0 or _KNOWN >> opcode & 1 == 0 or (second & _MASKED != 0) != self._from_client:
            return True
        if opcode & _CONTROL != 0:
            return first & _FIN == 0 or length > _CONTROL_MAX
        return (opcode == CONTINUATION) != (self._kind != CONTINUATION)

    def _gather(self, opcode: i64) -> i64:
        """The opcode of the message this frame completes; CONTINUATION where there is more to come."""
        if opcode == CLOSE:
            return self._closing()
        if opcode & _CONTROL != 0 or (opcode != CONTINUATION and self._last):
            return opcode
        if opcode != CONTINUATION:
            self._kind = opcode
        self._fragments.append(self.payload)
        self._gathered += len(self.payload)
        if len(self._fragments) > FRAGMENTS_MAX:
            return self._broken(TOO_LARGE)
        return self._joined() if self._last else CONTINUATION

    def _joined(self) -> i64:
        kind = self._kind
        self.payload = b"".join(self._fragments)
        self._fragments = []
        self._gathered = 0
        self._kind = CONTINUATION
        return kind

    def _closing(self) -> i64:
        """A close frame: a code and a reason in UTF-8, or nothing."""
        payload = self.payload
        code: i64 = i64(read_i16_be(payload, 0)) & 0xFFFF if len(payload) >= 2 else NO_CODE
        if (len(payload) > 0 and not _sendable(code)) or (len(payload) > 2 and not _is_text(payload[2:])):
            return self._broken(PROTOCOL_ERROR)
        self.close_code = code
        return CLOSE

    def _broken(self, code: i64) -> i64:
        self.close_code = code
        return BROKEN


def _sendable(code: i64) -> bool:
    return any(first <= code <= last for first, last in _CODES)


def _is_text(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def write_head(out: BytesWriter, opcode: i64, length: i64) -> None:
    """The head of a whole message from a server; its `length` bytes follow."""
    out.append(_FIN | opcode)
    _write_length(out, length, 0)


def write_frame(out: BytesWriter, opcode: i64, payload: bytes) -> None:
    write_head(out, opcode, len(payload))
    out.write(payload)


def client_frame(opcode: i64, payload: bytes, mask: bytes) -> bytes:
    """A whole message from a client."""
    out = BytesWriter()
    out.append(_FIN | opcode)
    _write_length(out, len(payload), _MASKED)
    out.write(mask)
    out.write(masked(payload, 0, len(payload), mask))
    return out.getvalue()


def _write_length(out: BytesWriter, length: i64, flag: i64) -> None:
    if length < _LENGTH_16:
        out.append(flag | length)
    elif length < 65_536:
        out.append(flag | _LENGTH_16)
        write_i16_be(out, i16(length if length < 32_768 else length - 65_536))
    else:
        out.append(flag | _LENGTH_64)
        write_i64_be(out, length)


def close_payload(code: i64) -> bytes:
    """NO_CODE is answered with nothing, as it came."""
    return b"" if code == NO_CODE else int(code).to_bytes(2, "big")
