"""A message's number as clients see it: ten characters, reversible, not guessable from another message's id.

A number is run through a small keyed permutation and each half written as five characters of base 62. No table, so
an id is valid from any connection and after any restart; the key is the store's secret.
"""

from __future__ import annotations

import hashlib
from typing import Final

from mypy_extensions import i64

from penstock.model.limits import SEQ_BITS

ID_CHARACTERS: Final = 10
ALPHABET: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PAIR: Final[i64] = 62 * 62
_ONES: Final = [bytes((letter,)) for letter in ALPHABET]
_PAIRS: Final = [bytes((high, low)) for high in ALPHABET for low in ALPHABET]
_ONE_VALUES: Final = {one: value for value, one in enumerate(_ONES)}
_PAIR_VALUES: Final = {pair: value for value, pair in enumerate(_PAIRS)}

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
        a: i64 = left // _PAIR
        b: i64 = right // _PAIR
        return (
            _ONES[a // _PAIR]
            + _PAIRS[a % _PAIR]
            + _PAIRS[left % _PAIR]
            + _ONES[b // _PAIR]
            + _PAIRS[b % _PAIR]
            + _PAIRS[right % _PAIR]
        )

    def seq(self, shown: bytes) -> i64:
        """The number behind an id; -1 for what is no id of ours."""
        if len(shown) != ID_CHARACTERS:
            return -1
        try:
            left: i64 = (_ONE_VALUES[shown[:1]] * _PAIR + _PAIR_VALUES[shown[1:3]]) * _PAIR + _PAIR_VALUES[shown[3:5]]
            right: i64 = (_ONE_VALUES[shown[5:6]] * _PAIR + _PAIR_VALUES[shown[6:8]]) * _PAIR + _PAIR_VALUES[shown[8:]]
        except KeyError:
            return -1
        if left > _MASK or right > _MASK:
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
