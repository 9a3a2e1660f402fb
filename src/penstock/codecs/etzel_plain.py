"""The requests of the dialect `etzel` that clients send over and over, in plain JSON: PUB, FET and ACK.

Whatever is not plain is left to the typed structs of `etzel_shapes`; what both can read, both read alike.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from penstock.codecs.etzel import UNSAID
from penstock.codecs.plain import PlainObject, word_of

# What was asked.
NONE: Final[i64] = 0  # it is not plain
PUB: Final[i64] = 1
FET: Final[i64] = 2
ACK: Final[i64] = 3

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


class PlainRequest(PlainObject):
    """One request at a time, in its fields."""

    __slots__ = ("cmd", "delay_s", "expires_s", "msg", "qname", "timeout_s", "uid")

    def __init__(self) -> None:
        super().__init__()
        self.cmd: bytes = b""
        self.qname: bytes = b""
        self.msg: bytes = b""
        self.uid: bytes = b""
        self.delay_s: i64 = UNSAID
        self.expires_s: i64 = UNSAID
        self.timeout_s: i64 = UNSAID

    def kind_of(self, payload: bytes) -> i64:
        """What was asked, or NONE: all that must be said is, and nothing that such a request does not know."""
        if not self.reads(payload):
            return NONE
        said, cmd = self.said, self.cmd
        if said | _NUMBERS == _PUB_SAYS | _NUMBERS:
            return PUB if cmd == b"PUB" else NONE
        if said == _FET_SAYS:
            return FET if cmd == b"FET" else NONE
        return ACK if said == _ACK_SAYS and cmd == b"ACK" else NONE

    def forget(self) -> None:
        self.delay_s = self.expires_s = self.timeout_s = UNSAID

    def member(self) -> i64:
        name = self.word
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

    def value(self, member: i64) -> bool:
        if member & _NUMBERS != 0:
            if not self.counts():
                return False
            self._keep_number(member)
        else:
            if not self.tells():
                return False
            self._keep_text(member)
        return True

    def _keep_number(self, member: i64) -> None:
        if member == _DELAY:
            self.delay_s = self.number
        elif member == _EXPIRES:
            self.expires_s = self.number
        else:
            self.timeout_s = self.number

    def _keep_text(self, member: i64) -> None:
        if member == _QNAME:
            self.qname = self.text()
        elif member == _CMD:
            self.cmd = self.text()
        elif member == _MSG:
            self.msg = self.text()
        else:
            self.uid = self.text()
