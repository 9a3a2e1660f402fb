"""What a glovebox server says, as frames of JSON or bincode. One interface: whoever speaks need not know which."""

from __future__ import annotations

from typing import Final

from librt.strings import BytesWriter, write_i64_le
from mypy_extensions import i64, mypyc_attr

from penstock.codecs import websocket
from penstock.codecs.bincode import write_bytes, write_u32, write_u64
from penstock.codecs.ids import high, low
from penstock.codecs.showing import quoted, shown
from penstock.model.stages import STAGES

# Codes of errors. The last is ours: bincode has no number for it.
NO_OBJECT: Final[i64] = 0
ALREADY_EXISTS: Final[i64] = 1
DENIED: Final[i64] = 2
BAD_REQUEST: Final[i64] = 3
ERRORS: Final = ("NoObject", "ObjectAlreadyExists", "PermissionDenied", "BadRequest")
_BAD_REQUEST: Final = b"bad request"

# bincode's tags, each behind the version's.
_MESSAGE: Final[i64] = 0
_NOTICE: Final[i64] = 1
_HELLO: Final[i64] = 2
_NO_MESSAGE: Final[i64] = 3
_ERROR: Final[i64] = 4
_TAGS_BYTES: Final[i64] = 8  # version and tag
_TAG_SHIFT: Final[i64] = 32  # the version, 0, comes first

# A message, around what is its own.
_LABEL: Final = b'{"type":"message","label":'
_SHARD: Final = b',"shard":'
_SEQUENCE: Final = b',"sequence":'
_BODY: Final = b',"body":'
_FIXED_BYTES: Final[i64] = len(_LABEL + _SHARD + _SEQUENCE + _BODY)

_NOTICE_LABEL: Final = b'{"type":"notice","label":'
_NOTICES: Final = [b',"notice":"' + stage.encode() + b'"}' for stage in STAGES]
_FALSE: Final = b',"finished":false}'
_TRUE: Final = b',"finished":true}'


@mypyc_attr(allow_interpreted_subclasses=True)
class Words:
    """Everything that is ever said. A `pair` is a message's shard and sequence."""

    def hello(self, id: int) -> None:
        raise NotImplementedError

    def notice(self, label: int, stage: i64) -> None:
        raise NotImplementedError

    def message(self, label: int, pair: i64, body: bytes, finished: bool) -> None:
        raise NotImplementedError

    def no_message(self, label: int) -> None:
        raise NotImplementedError

    def error(self, label: int, code: i64, key: bytes) -> None:
        raise NotImplementedError

    def text(self, payload: bytes) -> None:
        """An answer to a request that bincode does not have: JSON in any case."""
        raise NotImplementedError


class JsonWords(Words):
    """Text frames. Labels and keys may be anything, so they are written by themselves."""

    def __init__(self, out: BytesWriter) -> None:
        self._out: BytesWriter = out

    def hello(self, id: int) -> None:
        self.text(b'{"type":"hello","id":' + decimal(id) + b"}")

    def notice(self, label: int, stage: i64) -> None:
        said, end = decimal(label), _NOTICES[stage]
        out = self._out
        websocket.write_head(out, websocket.TEXT, len(_NOTICE_LABEL) + len(said) + len(end))
        out.write(_NOTICE_LABEL)
        out.write(said)
        out.write(end)

    def message(self, label: int, pair: i64, body: bytes, finished: bool) -> None:
        said, shard, sequence, content = decimal(label), decimal(high(pair)), decimal(low(pair)), shown(body)
        end = _TRUE if finished else _FALSE
        out = self._out
        own_bytes: i64 = len(said) + len(shard) + len(sequence) + len(content) + len(end)
        websocket.write_head(out, websocket.TEXT, _FIXED_BYTES + own_bytes)
        out.write(_LABEL)
        out.write(said)
        out.write(_SHARD)
        out.write(shard)
        out.write(_SEQUENCE)
        out.write(sequence)
        out.write(_BODY)
        out.write(content)
        out.write(end)

    def no_message(self, label: int) -> None:
        self.text(b'{"type":"nomessage","label":' + decimal(label) + b"}")

    def error(self, label: int, code: i64, key: bytes) -> None:
        named = b',"code":"' + ERRORS[code].encode() + b'","key":' + quoted(key.decode("utf-8", "replace"))
        self.text(b'{"type":"error","label":' + decimal(label) + named + b"}")

    def text(self, payload: bytes) -> None:
        websocket.write_frame(self._out, websocket.TEXT, payload)


class BinaryWords(Words):
    """Binary frames: the length of each is known beforehand."""

    def __init__(self, out: BytesWriter) -> None:
        self._out: BytesWriter = out

    def hello(self, id: int) -> None:
        write_u64(self._frame(_HELLO, 8), id)

    def notice(self, label: int, stage: i64) -> None:
        out = self._frame(_NOTICE, 12)
        write_u64(out, label)
        write_u32(out, stage)

    def message(self, label: int, pair: i64, body: bytes, finished: bool) -> None:
        out = self._frame(_MESSAGE, 29 + len(body))
        write_u64(out, label)
        write_u32(out, high(pair))
        write_i64_le(out, low(pair))
        write_bytes(out, body)
        out.append(1 if finished else 0)

    def no_message(self, label: int) -> None:
        write_u64(self._frame(_NO_MESSAGE, 8), label)

    def error(self, label: int, code: i64, key: bytes) -> None:
        if code == BAD_REQUEST:
            code, key = DENIED, _BAD_REQUEST
        out = self._frame(_ERROR, 20 + len(key))
        write_u64(out, label)
        write_u32(out, code)
        write_bytes(out, key)

    def text(self, payload: bytes) -> None:
        websocket.write_frame(self._out, websocket.TEXT, payload)

    def _frame(self, tag: i64, length: i64) -> BytesWriter:
        websocket.write_head(self._out, websocket.BINARY, _TAGS_BYTES + length)
        write_i64_le(self._out, tag << _TAG_SHIFT)
        return self._out


def decimal(number: int) -> bytes:
    return str(number).encode()
