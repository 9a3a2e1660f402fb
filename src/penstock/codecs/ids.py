"""A message's number as clients see it: ten characters or a pair of numbers, reversible, not guessable from another's.

A number is run through a small keyed permutation; each half is written as five characters of base 62, or shown as it
is. No table, so an id is valid from any connection and after any restart; the key is the store's secret.
"""

from __future__ import annotations

import hashlib
from typing import Final

from librt.strings import BytesWriter, read_i16_le, write_i16_le
from mypy_extensions import i64

from penstock.model.limits import SEQ_BITS

ID_CHARACTERS: Final = 10
ALPHABET: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PAIR: Final[i64] = 62 * 62
# Two characters for each number below 62 * 62, in one piece: what is looked up for every id must stay in the cache.
_PAIRS: Final = bytes([letter for high in ALPHABET for low in ALPHABET for letter in (high, low)])
_NO_DIGIT: Final[i64] = 255
_DIGITS: Final = bytes([ALPHABET.find(bytes((byte,))) & 255 for byte in range(256)])

_HALF: Final[i64] = SEQ_BITS // 2  # a half, and a half times a multiplier, are small integers everywhere
_MASK: Final[i64] = (1 << (SEQ_BITS // 2)) - 1


class Ids:
    """A Feistel network of four rounds over 58 bits; each round multiplies by a secret odd number and folds."""

    def __init__(self, secret: bytes) -> None:
        drawn = hashlib.shake_256(b"penstock message ids" + secret).digest(32)
        keys = [int.from_bytes(drawn[at : at + 4], "little") & 0x1FFFFFFF for at in range(0, 32, 4)]
        self._add_1: i64 = keys[0]
        self._add_2: i64 = keys[1]
        self._add_3: i64 = keys[2]
        self._add_4: i64 = keys[3]
        self._times_1: i64 = keys[4] | 0x10000001
        self._times_2: i64 = keys[5] | 0x10000001
        self._times_3: i64 = keys[6] | 0x10000001
        self._times_4: i64 = keys[7] | 0x10000001

    def show(self, seq: i64) -> bytes:
        shown = BytesWriter()
        self.write(shown, seq)
        return shown.getvalue()

    def write(self, out: BytesWriter, seq: i64) -> None:
        """`show`, into something longer."""
        pair = self.pair(seq)
        _write_half(out, pair >> _HALF)
        _write_half(out, pair & _MASK)

    def pair(self, seq: i64) -> i64:
        """Both halves as numbers, in one: what `high` and `low` take apart."""
        left: i64 = seq >> _HALF
        right: i64 = seq & _MASK
        product: i64 = (right ^ self._add_1) * self._times_1
        left ^= (product ^ product >> _HALF) & _MASK
        product = (left ^ self._add_2) * self._times_2
        right ^= (product ^ product >> _HALF) & _MASK
        product = (right ^ self._add_3) * self._times_3
        left ^= (product ^ product >> _HALF) & _MASK
        product = (left ^ self._add_4) * self._times_4
        right ^= (product ^ product >> _HALF) & _MASK
        return left << _HALF | right

    def seq(self, shown: bytes) -> i64:
        """The number behind an id; -1 for what is no id of ours."""
        return self.seq_at(shown, 0) if len(shown) == ID_CHARACTERS else -1

    def seq_at(self, data: bytes, at: i64) -> i64:
        """The number behind the ten characters at a place, which must be there."""
        return self.seq_of(_read_half(data, at), _read_half(data, at + 5))

    def seq_of(self, left: i64, right: i64) -> i64:
        """The number behind two halves; -1 for what are none."""
        if left < 0 or right < 0 or left > _MASK or right > _MASK:
            return -1
        product: i64 = (left ^ self._add_4) * self._times_4
        right ^= (product ^ product >> _HALF) & _MASK
        product = (right ^ self._add_3) * self._times_3
        left ^= (product ^ product >> _HALF) & _MASK
        product = (left ^ self._add_2) * self._times_2
        right ^= (product ^ product >> _HALF) & _MASK
        product = (right ^ self._add_1) * self._times_1
        left ^= (product ^ product >> _HALF) & _MASK
        return left << _HALF | right


def _write_half(out: BytesWriter, half: i64) -> None:
    """Five characters, the first of them the largest."""
    high: i64 = half // _PAIR
    out.append(ALPHABET[high // _PAIR])
    write_i16_le(out, read_i16_le(_PAIRS, high % _PAIR * 2))
    write_i16_le(out, read_i16_le(_PAIRS, half % _PAIR * 2))


def _read_half(data: bytes, at: i64) -> i64:
    """-1 for what no half is written as."""
    half: i64 = 0
    for place in range(at, at + 5):
        digit: i64 = _DIGITS[data[place]]
        if digit == _NO_DIGIT:
            return -1
        half = half * 62 + digit
    return half


def high(pair: i64) -> i64:
    return pair >> _HALF


def low(pair: i64) -> i64:
    return pair & _MASK
