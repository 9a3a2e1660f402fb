"""The requests of the dialect `etzel` that clients send over and over, in plain JSON: PUB, FET and ACK.

Whatever is not plain is left to the typed structs of `etzel_shapes`; what both can read, both read alike.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from penstock.codecs.plain import PlainObject, word_of

# What was asked.
NONE: Final[i64] = 0  # it is not plain
PUB: Final[i64] = 1
FET: Final[i64] = 2
ACK: Final[i64] = 3

UNSAID: Final[i64] = -1  # of a number

# A bit for each member.
_CMD: Final[i64] = 1 << 0
_QNAME: Final[i64] = 1 << 1
_MSG: Final[i64] = 1 << 2
_UID: Final[i64] = 1 << 3
_DELAY: Final[i64] = 1 << 4
_EXPIRES: Final[i64] = 1 << 5
_TIMEOUT: Final[i64] = 1 << 6
_NUMBERS: Final[i64] = _DELAY | _EXPIRES | _TIMEOUT

# All that a request says; of the first, numbers may be said as well.
_PUB_SAYS: Final[i64] = _CMD | _QNAME | _MSG
_FET_SAYS: Final[i64] = _CMD | _QNAME
_ACK_SAYS: Final[i64] = _CMD | _QNAME | _UID

_NAMED_CMD: Final[i64] = word_of(b"cmd")
_NAMED_QNAME: Final[i64] = word_of(b"qname")
_NAMED_MSG: Final[i64] = word_of(b"msg")
_NAMED_UID: Final[i64] = word_of(b"uid")
_NAMED_DELAY: Final[i64] = word_of(b"delay")
_NAMED_EXPIRES: Final[i64] = word_of(b"expires")
_NAMED_TIMEOUT: Final[i64] = word_of(b"timeout")


class PlainReader:
    """One request at a time, in its fields."""

    __slots__ = ("_object", "_payload", "_said", "cmd", "delay_s", "expires_s", "msg", "qname", "timeout_s", "uid")

    def __init__(self) -> None:
        self._object: PlainObject = PlainObject()
        self._payload: bytes = b""
        self._said: i64 = 0  # a bit for each member
        self.cmd: bytes = b""
        self.qname: bytes = b""
        self.msg: bytes = b""
        self.uid: bytes = b""
        self.delay_s: i64 = UNSAID
        self.expires_s: i64 = UNSAID
        self.timeout_s: i64 = UNSAID

    def read(self, payload: bytes) -> i64:
        """What was asked, or NONE."""
        members = self._object
        if not members.opens(payload):
            return NONE
        self._payload = payload
        self._said = 0
        self.delay_s = self.expires_s = self.timeout_s = UNSAID
        while members.named():
            member = self._named()
            if member == 0 or self._said & member != 0 or not self._value(member):
                return NONE
            self._said |= member
            if not members.goes_on():
                break
        return self._kind() if members.ended else NONE

    def _named(self) -> i64:
        """The member of that name; 0: none that we know."""
        name = self._object.word
        member: i64 = 0
        if name == _NAMED_CMD:
            member = _CMD
        elif name == _NAMED_QNAME:
            member = _QNAME
        elif name == _NAMED_MSG:
            member = _MSG
        elif name == _NAMED_UID:
            member = _UID
        elif name == _NAMED_DELAY:
            member = _DELAY
        elif name == _NAMED_EXPIRES:
            member = _EXPIRES
        elif name == _NAMED_TIMEOUT:
            member = _TIMEOUT
        return member

    def _value(self, member: i64) -> bool:
        if member & _NUMBERS != 0:
            return self._object.whole() and self._keep_number(member)
        return self._object.text() and self._keep_text(member)

    def _keep_number(self, member: i64) -> bool:
        number = self._object.number
        if member == _DELAY:
            self.delay_s = number
        elif member == _EXPIRES:
            self.expires_s = number
        else:
            self.timeout_s = number
        return True

    def _keep_text(self, member: i64) -> bool:
        text = self._payload[self._object.start : self._object.stop]
        if member == _QNAME:
            self.qname = text
        elif member == _CMD:
            self.cmd = text
        elif member == _MSG:
            self.msg = text
        else:
            self.uid = text
        return True

    def _kind(self) -> i64:
        """All that must be said is, and nothing that such a request does not know."""
        said, cmd = self._said, self.cmd
        if said | _NUMBERS == _PUB_SAYS | _NUMBERS:
            return PUB if cmd == b"PUB" else NONE
        if said == _FET_SAYS:
            return FET if cmd == b"FET" else NONE
        return ACK if said == _ACK_SAYS and cmd == b"ACK" else NONE
