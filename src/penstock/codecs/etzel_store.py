"""etzel's messages on disk, row by row: the key names queue and uid, the value is four numbers and the item.

docs/etzel-format.md draws them. This module must not know which file holds the rows, nor what the numbers lead to.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

STATUS_MAX: Final = 255  # a status counts no further
UID_MIN: Final = 14
UID_MAX: Final = 18

_DASH: Final = b"-"
_VISIBLE: Final = bytes(range(0x21, 0x7F))
_NUMBERS: Final = struct.Struct(">BQQQ")


class BadRow(ValueError):
    """A key or value that is not of the format, and why."""


class Row(NamedTuple):
    """One message. 0 seconds: no timeout of its own, no delay, no expiry."""

    queue: bytes
    uid: bytes
    status: int
    timeout_s: int
    delay_s: int
    expires_s: int
    item: bytes


def key_of(row: Row) -> bytes:
    return row.queue + _DASH + row.uid


def value_of(row: Row) -> bytes:
    return _NUMBERS.pack(row.status, row.timeout_s, row.delay_s, row.expires_s) + row.item


def read_row(key: bytes, value: bytes) -> Row:
    """Raises BadRow. The uid has no dash, so the last one ends the queue's name."""
    queue, dash, uid = key.rpartition(_DASH)
    if not dash or not UID_MIN <= len(uid) <= UID_MAX or uid.strip(_VISIBLE):
        raise BadRow(f"its key does not end in a dash and a uid of {UID_MIN} to {UID_MAX} characters")
    if len(value) < _NUMBERS.size:
        raise BadRow(f"its value has {len(value)} bytes, fewer than {_NUMBERS.size}")
    status, timeout_s, delay_s, expires_s = _NUMBERS.unpack_from(value)
    return Row(queue, uid, status, timeout_s, delay_s, expires_s, value[_NUMBERS.size :])
