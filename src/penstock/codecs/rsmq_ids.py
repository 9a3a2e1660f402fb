"""Message ids as RSMQ has them: 32 letters and digits, the first ten the time of the publish in base 36.

Ids that clients chose are kept as they are. All others are made here out of a message's number and time: reversible,
and not guessable from another's.
"""

from __future__ import annotations

from typing import Final

from librt.strings import BytesWriter
from mypy_extensions import i64

from penstock.codecs.ids import ALPHABET, ID_CHARACTERS, Ids
from penstock.model.message import Origin

ID_BYTES: Final = 32
_TIME_BYTES: Final = 10
_DIGITS: Final = b"0123456789abcdefghijklmnopqrstuvwxyz"
_BASE: Final[i64] = 36
_END_US: Final[i64] = 36**10  # ten digits hold no later time
_SALT: Final[i64] = 0x2545F4914F6CDD  # sets the last two letters apart from the ten before them


class RsmqIds:
    """The ids of one store."""

    def __init__(self, ids: Ids) -> None:
        self._ids: Ids = ids

    def of(self, seq: i64, published_us: i64, origin: Origin | None, chosen: bool) -> bytes:
        """`chosen`: it came from a client of RSMQ, which chose its id, whatever that looks like."""
        if origin is not None and origin.foreign_id and (chosen or is_id(origin.foreign_id)):
            return origin.foreign_id
        return self.made(seq, published_us)

    def made(self, seq: i64, published_us: i64) -> bytes:
        """Time, number, and a seal over both."""
        ids = self._ids
        seal = ids.pair(seq) ^ published_us
        rest = ids.pair(ids.pair(seal) ^ _SALT)
        out = BytesWriter()
        out.write(_time(published_us))
        ids.write(out, seq)
        ids.write(out, seal)
        out.append(ALPHABET[rest % 62])
        out.append(ALPHABET[rest // 62 % 62])
        return out.getvalue()

    def seq(self, shown: bytes) -> i64:
        """The number behind an id that was made here; 0: it was not."""
        if len(shown) != ID_BYTES:
            return 0
        seq = self._ids.seq_at(shown, _TIME_BYTES)
        sealed = self._ids.seq_at(shown, _TIME_BYTES + ID_CHARACTERS)
        if seq < 0 or sealed < 0:
            return 0
        published_us = self._ids.pair(seq) ^ sealed
        # Of those that clients chose, nearly all end here.
        return seq if published_us < _END_US and self.made(seq, published_us) == shown else 0


def is_id(foreign_id: bytes) -> bool:
    """It looks like one of RSMQ's, so it can be shown as one."""
    return len(foreign_id) == ID_BYTES and foreign_id.isalnum()


def _time(published_us: i64) -> bytes:
    letters = bytearray(_TIME_BYTES)
    for place in range(_TIME_BYTES - 1, -1, -1):
        letters[place] = _DIGITS[published_us % _BASE]
        published_us //= _BASE
    return bytes(letters)
