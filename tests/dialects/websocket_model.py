"""A server's end of a WebSocket as RFC 6455 says it, in the plainest way, for the models of the dialects over it; and
the frames of a client, for their conversations. It shares no code with the sessions."""

from __future__ import annotations

OPENING = (
    b"GET /connect HTTP/1.1\r\nHost: penstock\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
WELCOME = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
)

MESSAGE_MAX = 8_392_704
FRAGMENTS_MAX = 4_096
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
CODES = {*range(1_000, 1_004), *range(1_007, 1_015), *range(3_000, 5_000)}


def frame(first: int, payload: bytes, mask: bytes = b"\0\0\0\0") -> bytes:
    """A client's, with `first` as its first byte."""
    return bytes((first,)) + _length(len(payload)) + mask + xored(payload, mask)


def text(payload: bytes, mask: bytes = b"\0\0\0\0") -> bytes:
    return frame(0x80 | TEXT, payload, mask)


def _length(length: int) -> bytes:
    if length < 126:
        return bytes((0x80 | length,))
    return b"\xfe" + length.to_bytes(2, "big") if length < 65_536 else b"\xff" + length.to_bytes(8, "big")


def xored(payload: bytes, mask: bytes) -> bytes:
    return bytes([byte ^ mask[at % 4] for at, byte in enumerate(payload)])


def frames(heard: bytes) -> list[tuple[int, bytes]]:
    """What a server has said: of each frame the first byte, and what is in it."""
    found = []
    while heard:
        size = {126: 2, 127: 8}.get(heard[1], 0)
        length = int.from_bytes(heard[2 : 2 + size], "big") if size else heard[1]
        assert len(heard) >= 2 + size + length, "cut off"
        found.append((heard[0], heard[2 + size : 2 + size + length]))
        heard = heard[2 + size + length :]
    return found


class WebSocketModel:
    """One connection that is open. A dialect adds `message`."""

    def __init__(self) -> None:
        self.closed = False
        self.pongs: list[bytes] = []
        self.farewell: bytes | None = None
        self._data = b""
        self._kind = 0  # of the message that is not all there
        self._parts: list[bytes] = []

    def message(self, kind: int, payload: bytes) -> None:
        raise NotImplementedError

    def receive(self, data: bytes) -> None:
        self._data += data
        while not self.closed and self._one():
            pass

    def _one(self) -> bool:
        """One frame; False: it is not all there."""
        if len(self._data) < 2:
            return False
        first, second = self._data[:2]
        kind, length, control = first & 15, second & 127, bool(first & 8)
        if not self._lawful(first, second):
            return self._close(1_002)
        size = {126: 2, 127: 8}.get(length, 0)
        if len(self._data) < 2 + size:
            return False
        length = int.from_bytes(self._data[2 : 2 + size], "big") if size else length
        if not control and sum(map(len, self._parts)) + length > MESSAGE_MAX:
            return self._close(1_009)
        begin = 2 + size + 4
        if len(self._data) < begin + length:
            return False
        payload = xored(self._data[begin : begin + length], self._data[begin - 4 : begin])
        self._data = self._data[begin + length :]
        self._control(kind, payload) if control else self._gather(kind, bool(first & 128), payload)
        return True

    def _lawful(self, first: int, second: int) -> bool:
        kind = first & 15
        if first & 0x70 or kind not in (0, TEXT, BINARY, CLOSE, PING, PONG) or not second & 128:
            return False
        if kind & 8:
            return bool(first & 128) and second & 127 < 126
        return bool(self._kind) == (kind == 0)

    def _control(self, kind: int, payload: bytes) -> None:
        if kind == PING:
            self.pongs.append(payload)
        elif kind == CLOSE:
            self._heed(payload)

    def _heed(self, payload: bytes) -> None:
        """A close: answered with its own code."""
        if not payload:
            self.closed, self.farewell = True, b""
        elif len(payload) > 1 and int.from_bytes(payload[:2], "big") in CODES and is_text(payload[2:]):
            self.closed, self.farewell = True, payload[:2]
        else:
            self._close(1_002)

    def _gather(self, kind: int, last: bool, payload: bytes) -> None:
        self._kind = self._kind or kind
        self._parts.append(payload)
        if len(self._parts) > FRAGMENTS_MAX:
            self._close(1_009)
        elif last:
            kind, whole = self._kind, b"".join(self._parts)
            self._kind, self._parts = 0, []
            self.message(kind, whole)

    def _close(self, code: int) -> bool:
        self.closed, self.farewell = True, code.to_bytes(2, "big")
        return False


def is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
