"""What is said in the dialect `etzel`, between JSON and values: requests, durations, and a message's uid."""

from __future__ import annotations

import re
from typing import Final

from msgspec import UNSET, UnsetType
from mypy_extensions import i64

from penstock.codecs.etzel_shapes import ACK, DECODER, LENIENT, PUB, Pub, Request
from penstock.codecs.ids import ID_CHARACTERS, Ids
from penstock.codecs.strict import is_sound
from penstock.model.limits import SECOND_US

UID_MARK: Final = b"etzl"
UID_BYTES: Final = len(UID_MARK) + ID_CHARACTERS

# What a duration may turn out to be instead of microseconds.
UNSAID: Final[i64] = -1
NO_NUMBER: Final[i64] = -2
OUT_OF_RANGE: Final[i64] = -3

# Members, and what stands around them, in the fewest bytes; then the fewest bytes of any member and its comma.
_PUB_BYTES: Final[i64] = len('{"cmd":"PUB","qname":"","msg":""}')
_ACK_BYTES: Final[i64] = len('{"cmd":"ACK","qname":"","uid":""}')
_FET_BYTES: Final[i64] = len('{"cmd":"FET","qname":""}')
_DELAY_BYTES: Final[i64] = len(',"delay":0')
_EXPIRES_BYTES: Final[i64] = len(',"expires":0')
_TIMEOUT_BYTES: Final[i64] = len(',"timeout":0')
_MEMBER_BYTES_MIN: Final[i64] = len(',"msg":""')

_DECODE: Final = DECODER.decode
_NUMERIC: Final = re.compile(r"-?[0-9]+")
_DIGITS_MAX: Final = 20


def request_of(payload: bytes) -> Request | None:
    """None: it is no request."""
    try:
        request: Request = _DECODE(payload)
    except (ValueError, RecursionError):
        return _lenient(payload)
    # All that is in it is known, so it can only be a key that is said twice.
    if len(payload) - least_length(request) < _MEMBER_BYTES_MIN or is_sound(payload, members(request)):
        return request
    return None


def _lenient(payload: bytes) -> Request | None:
    try:
        request: Request = LENIENT.decode(payload)
    except (ValueError, RecursionError):
        return None
    return request if is_sound(payload, members(request)) else None


def least_length(request: Request) -> i64:
    """Bytes that such a request has at least: each name, number and character once, and nothing between them."""
    if request.kind == PUB:
        said = request.msg
        body: i64 = len(said) if isinstance(said, str) else 0
        numbers: i64 = 0
        if isinstance(request.delay, int):
            numbers += _DELAY_BYTES
        if isinstance(request.expires, int):
            numbers += _EXPIRES_BYTES
        if isinstance(request.timeout, int):
            numbers += _TIMEOUT_BYTES
        return _PUB_BYTES + len(request.qname) + body + numbers
    if request.kind == ACK:
        return _ACK_BYTES + len(request.qname) + len(request.uid)
    return _FET_BYTES + len(request.qname)


def members(request: Request) -> i64:
    """How many members of the object were understood."""
    if request.kind == PUB:
        said: i64 = 2
        for value in (request.msg, request.message, request.delay, request.expires, request.timeout):
            if value is not UNSET:
                said += 1
        return said
    return 3 if request.kind == ACK else 2


def body_of(request: Pub) -> bytes | None:
    """None: it has none."""
    said = request.message if request.msg is UNSET else request.msg
    if isinstance(said, str):
        return said.encode()
    return bytes(said) if isinstance(said, list) else None


def duration_us(said: int | str | UnsetType, least_s: int, most_s: int) -> i64:
    """Seconds, also as a text, as microseconds; or UNSAID, NO_NUMBER, OUT_OF_RANGE."""
    if isinstance(said, str):
        if _NUMERIC.fullmatch(said) is None:
            return NO_NUMBER
        said = int(said) if len(said) <= _DIGITS_MAX else -1
    if not isinstance(said, int):
        return UNSAID
    return said * SECOND_US if least_s <= said <= most_s else OUT_OF_RANGE


def uid(ids: Ids, seq: i64) -> bytes:
    return UID_MARK + ids.show(seq)


def uid_seq(ids: Ids, said: bytes) -> i64:
    """The number behind a uid; -1 for what is no uid of ours."""
    if len(said) != UID_BYTES or not said.startswith(UID_MARK):
        return -1
    return ids.seq_at(said, len(UID_MARK))
