"""A client's number as it is shown: below 2^53, so that JavaScript keeps it whole, reversible, and not to be guessed.

A keyed permutation, no table: what was shown once is understood after any restart. It is asked once a connection, so it
may take its time.
"""

from __future__ import annotations

import hashlib
from typing import Final

CLIENT_BITS: Final = 53
_LEFT_BITS: Final = 27
_RIGHT_BITS: Final = CLIENT_BITS - _LEFT_BITS
_LEFT_MASK: Final = (1 << _LEFT_BITS) - 1
_RIGHT_MASK: Final = (1 << _RIGHT_BITS) - 1
_ROUNDS: Final = 5  # each changes both halves


class ClientIds:
    """An unbalanced Feistel network whose rounds are keyed hashes."""

    def __init__(self, secret: bytes) -> None:
        self._key: bytes = hashlib.blake2s(secret, person=b"clients").digest()

    def show(self, number: int) -> int:
        left, right = number >> _RIGHT_BITS, number & _RIGHT_MASK
        for step in range(_ROUNDS):
            left ^= self._mixed(2 * step, right) & _LEFT_MASK
            right ^= self._mixed(2 * step + 1, left) & _RIGHT_MASK
        return left << _RIGHT_BITS | right

    def number(self, shown: int) -> int:
        """The number behind an id; 0, which no client has, for what cannot be one."""
        if not 0 <= shown < 1 << CLIENT_BITS:
            return 0
        left, right = shown >> _RIGHT_BITS, shown & _RIGHT_MASK
        for step in reversed(range(_ROUNDS)):
            right ^= self._mixed(2 * step + 1, left) & _RIGHT_MASK
            left ^= self._mixed(2 * step, right) & _LEFT_MASK
        return left << _RIGHT_BITS | right

    def _mixed(self, step: int, half: int) -> int:
        data = bytes((step,)) + half.to_bytes(4, "little")
        return int.from_bytes(hashlib.blake2s(data, key=self._key, digest_size=4).digest(), "little")
