"""bincode 1.3 with its defaults: little endian, fixed widths, u32 tags, u64 lengths, an Option as one byte and a value.

A reader of untrusted bytes: no length is believed before so many bytes are known to be there. It says once, at the end,
whether all was well, so that reading on after an error does no harm.
"""

from __future__ import annotations

from typing import Final

from librt.strings import BytesWriter, read_f32_le, read_i16_le, read_i32_le, read_i64_le, write_i32_le, write_i64_le
from mypy_extensions import i32, i64

U32_MAX: Final = (1 << 32) - 1
_MASK_32: Final[i64] = 0xFFFF_FFFF
_SIGN_64: Final = 1 << 63


class Reader:
    """Values one after the other. Behind an error, or beyond the end, everything is 0 or empty."""

    def __init__(self, data: bytes) -> None:
        self._data: bytes = data
        self._at: i64 = 0
        self._well: bool = True

    def done(self) -> bool:
        """All was as it should be, and nothing is left."""
        return self._well and self._at == len(self._data)

    def fail(self) -> None:
        """What was read has no meaning."""
        self._well = False

    def u32(self) -> i64:
        at = self._step(4)
        return i64(read_i32_le(self._data, at)) & _MASK_32 if self._well else 0

    def i16(self) -> i64:
        at = self._step(2)
        return i64(read_i16_le(self._data, at)) if self._well else 0

    def u64(self) -> int:
        at = self._step(8)
        if not self._well:
            return 0
        value = int(read_i64_le(self._data, at))
        return value if value >= 0 else value + 2 * _SIGN_64

    def f32(self) -> float:
        at = self._step(4)
        return read_f32_le(self._data, at) if self._well else 0.0

    def some(self) -> bool:
        """An Option's first byte: the value follows."""
        at = self._step(1)
        if not self._well:
            return False
        tag = self._data[at]
        if tag > 1:
            self.fail()
        return tag == 1

    def count(self, width: i64) -> i64:
        """How many values of a width follow: never more than there is room for."""
        at = self._step(8)
        if not self._well:
            return 0
        count = read_i64_le(self._data, at)
        if count < 0 or count > (len(self._data) - self._at) // width:
            self.fail()
            return 0
        return count

    def blob(self) -> bytes:
        length = self.count(1)
        at = self._step(length)
        return self._data[at : at + length] if self._well else b""

    def text(self) -> bytes:
        """A String, as the UTF-8 that it must be."""
        found = self.blob()
        if not found.isascii():
            try:
                found.decode()
            except UnicodeDecodeError:
                self.fail()
        return found

    def _step(self, length: i64) -> i64:
        """Where the next value begins, if it is there."""
        at = self._at
        if at + length > len(self._data):
            self.fail()
        else:
            self._at = at + length
        return at


def is_u64(value: int) -> bool:
    """A shift, for the largest of them is more than a small integer: to compare with that is slow."""
    return value >> 64 == 0


def write_u32(out: BytesWriter, value: i64) -> None:
    write_i32_le(out, i32(value if value < 1 << 31 else value - (1 << 32)))


def write_u64(out: BytesWriter, value: int) -> None:
    write_i64_le(out, value if value >> 63 == 0 else value - 2 * _SIGN_64)


def write_bytes(out: BytesWriter, value: bytes) -> None:
    """Of a String as well."""
    write_i64_le(out, len(value))
    out.write(value)
