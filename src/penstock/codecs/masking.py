"""WebSocket's masking: every byte from a client is xored with one of four. It hides nothing; it must only be quick."""

from __future__ import annotations

from typing import Final

from librt.strings import BytesWriter, read_i32_le, read_i64_le, write_i64_le
from mypy_extensions import i64

_COMPILED: Final = not __file__.endswith(".py")
_MASK_BYTES: Final = 4


def masked(data: bytes, at: i64, length: i64, mask: bytes) -> bytes:
    """A piece of `data`, which must be there, masked or unmasked: both are the same."""
    return in_words(data, at, length, mask) if _COMPILED else in_one(data, at, length, mask)


def in_words(data: bytes, at: i64, length: i64, mask: bytes) -> bytes:
    """Eight bytes a step: a twentieth of a nanosecond a byte where it is compiled, and slow where it is not."""
    half = i64(read_i32_le(mask, 0))
    word: i64 = half << 32 | half & 0xFFFF_FFFF
    out = BytesWriter()
    end: i64 = at + length
    while at + 8 <= end:
        write_i64_le(out, read_i64_le(data, at) ^ word)
        at += 8
    place: i64 = 0
    while at < end:
        out.append(data[at] ^ mask[place & 3])
        at += 1
        place += 1
    return out.getvalue()


def in_one(data: bytes, at: i64, length: i64, mask: bytes) -> bytes:
    """The whole piece as one number: as quick as it gets without a compiler."""
    masks = (mask * int((length + 3) // _MASK_BYTES))[:length]
    number = int.from_bytes(data[at : at + length], "little") ^ int.from_bytes(masks, "little")
    return number.to_bytes(int(length), "little")
