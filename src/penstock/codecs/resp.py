"""RESP, Redis's protocol: requests as lists of words, read piece by piece; answers written in RESP2 or RESP3.

It bounds before it allocates: what announces too much is refused while it announces.
"""

from __future__ import annotations

from typing import Final

from librt.strings import BytesWriter
from mypy_extensions import i64

from penstock.model.limits import (
    COMMAND_MAX,
    COMMAND_WORDS_MAX,
    INLINE_MAX,
    STRANGER_WORD_MAX,
    STRANGER_WORDS_MAX,
    WORD_MAX,
)

_STAR: Final[i64] = 0x2A
_DOLLAR: Final[i64] = 0x24
_MINUS: Final[i64] = 0x2D
_ZERO: Final[i64] = 0x30
_CARRIAGE_RETURN: Final[i64] = 0x0D
_LINE_FEED: Final[i64] = 0x0A
_DIGITS_MAX: Final[i64] = 10

# What `_number` gives instead of one: it is below zero, the line is not all there, or holds none.
_NEGATIVE: Final[i64] = -1
_LACKS: Final[i64] = -2
_NONE: Final[i64] = -3

BAD_COUNT: Final = b"invalid multibulk length"
BAD_LENGTH: Final = b"invalid bulk length"
NO_DOLLAR: Final = b"expected '$'"
NO_END: Final = b"a bulk string is longer than it says"
TOO_LONG: Final = b"too big request"
TOO_LONG_INLINE: Final = b"too big inline request"
UNBALANCED: Final = b"unbalanced quotes in request"

_ESCAPES: Final = {0x6E: 0x0A, 0x72: 0x0D, 0x74: 0x09, 0x62: 0x08, 0x61: 0x07}
_HEX: Final = b"0123456789abcdefABCDEF"


class Reader:
    """Law: however the bytes are cut, the same requests. `broken` says why there will be no more."""

    def __init__(self) -> None:
        self.words: list[bytes] = []
        self.whole: bool = False  # `words` is a request
        self.broken: bytes = b""
        self.stranger: bool = False  # one who has not said who it is may say little
        self.needed: i64 = 0  # where a request is not whole: so many bytes from there on, at least
        self._left: i64 = 0  # words still to come
        self._bytes: i64 = 0  # of the request so far
        self._line_end: i64 = 0  # behind the line of the last `_number`

    def read(self, data: bytes, at: i64) -> i64:
        """Reads on from a place; gives the place where it stopped. What lies behind must be there the next time."""
        self.whole = False
        if self._left == 0:
            self.words = []
            self._bytes = 0
            if data[at] != _STAR:
                return self._inline(data, at)
            count = self._number(data, at + 1)
            if count == _NEGATIVE:
                count = 0
            if count < 0 or count > (STRANGER_WORDS_MAX if self.stranger else COMMAND_WORDS_MAX):
                return self._stop(at, count, BAD_COUNT)
            at = self._line_end
            self._left = count
            if count == 0:
                self.whole = True
                return at
        return self._words(data, at)

    def _words(self, data: bytes, at: i64) -> i64:
        longest: i64 = STRANGER_WORD_MAX if self.stranger else WORD_MAX
        size: i64 = len(data)
        words = self.words
        left = self._left
        while left > 0:
            if at >= size:
                self._left = left
                return self._stop(at, _LACKS, b"")
            if data[at] != _DOLLAR:
                return self._stop(at, _NONE, NO_DOLLAR)
            length = self._number(data, at + 1)
            if length < 0 or length > longest:
                self._left = left
                return self._stop(at, length, BAD_LENGTH)
            start = self._line_end
            end = start + length
            if self._bytes + end - at > COMMAND_MAX:
                return self._stop(at, _NONE, TOO_LONG)
            if end + 2 > size:
                self._left = left
                self.needed = end + 2 - at
                return at
            if data[end] != _CARRIAGE_RETURN or data[end + 1] != _LINE_FEED:
                return self._stop(at, _NONE, NO_END)
            words.append(data[start:end])
            self._bytes += end + 2 - at
            at = end + 2
            left -= 1
        self._left = 0
        self.whole = True
        return at

    def _stop(self, at: i64, why: i64, broken: bytes) -> i64:
        if why == _LACKS:
            self.needed = 1
        else:
            self.broken = broken
        return at

    def _number(self, data: bytes, at: i64) -> i64:
        """What a line says. No number is 0 or more digits with anything but a line's end behind them."""
        size: i64 = len(data)
        number: i64 = 0
        stop: i64 = at + _DIGITS_MAX
        negative = at < size and data[at] == _MINUS
        if negative:
            at += 1
        first = at
        while at < size and at < stop:
            digit: i64 = data[at] - _ZERO
            if digit < 0 or digit > 9:
                break
            number = number * 10 + digit
            at += 1
        if at >= size or (data[at] == _CARRIAGE_RETURN and at + 1 >= size):
            return _LACKS
        if data[at] != _CARRIAGE_RETURN or data[at + 1] != _LINE_FEED or at == first:
            return _NONE
        self._line_end = at + 2
        return _NEGATIVE if negative else number

    def _inline(self, data: bytes, at: i64) -> i64:
        """A line as a person types it."""
        longest: i64 = STRANGER_WORD_MAX if self.stranger else INLINE_MAX
        end: i64 = data.find(b"\n", at)
        if end - at > longest or (end < 0 and len(data) - at > longest):
            return self._stop(at, _NONE, TOO_LONG_INLINE)
        if end < 0:
            self.needed = len(data) - at + 1
            return at
        words = split(data[at:end])
        if words is None:
            return self._stop(at, _NONE, UNBALANCED)
        self.words = words
        self.whole = True
        return end + 1


def split(line: bytes) -> list[bytes] | None:
    """Words between white space; quotes hold one together, and in double ones a backslash escapes. None: unbalanced."""
    words: list[bytes] = []
    at = 0
    while True:
        while at < len(line) and line[at : at + 1].isspace():
            at += 1
        if at == len(line):
            return words
        word = bytearray()
        at = _word(line, at, word)
        if at < 0:
            return None
        words.append(bytes(word))


def _word(line: bytes, at: int, word: bytearray) -> int:
    """One word into `word`; where it ends, or -1."""
    while at < len(line) and not line[at : at + 1].isspace():
        letter = line[at]
        if letter in (0x22, 0x27):
            at = _quoted(line, at + 1, letter, word)
            if at < 0 or (at < len(line) and not line[at : at + 1].isspace()):
                return -1
        else:
            word.append(letter)
            at += 1
    return at


def _quoted(line: bytes, at: int, quote: int, word: bytearray) -> int:
    while at < len(line):
        letter = line[at]
        if letter == quote:
            return at + 1
        if letter == 0x5C and at + 1 < len(line) and (quote == 0x22 or line[at + 1] == quote):
            at = _escaped(line, at + 1, quote, word)
        else:
            word.append(letter)
            at += 1
    return -1


def _escaped(line: bytes, at: int, quote: int, word: bytearray) -> int:
    letter = line[at]
    if quote == 0x22 and letter == 0x78 and len(line) >= at + 3 and line[at + 1] in _HEX and line[at + 2] in _HEX:
        word.append(int(line[at + 1 : at + 3], 16))
        return at + 3
    word.append(_ESCAPES.get(letter, letter) if quote == 0x22 else letter)
    return at + 1


# -- answers

_SMALL: Final[i64] = 1_024
_LENGTHS: Final = [b"$%d\r\n" % number for number in range(1_024)]
_NUMBERS: Final = [b":%d\r\n" % number for number in range(1_024)]
_COUNTS: Final = [b"*%d\r\n" % number for number in range(1_024)]


def write_bulk(out: BytesWriter, word: bytes) -> None:
    length: i64 = len(word)
    out.write(_LENGTHS[length] if length < _SMALL else b"$%d\r\n" % length)
    out.write(word)
    out.write(b"\r\n")


def write_number(out: BytesWriter, number: i64) -> None:
    out.write(_NUMBERS[number] if 0 <= number < _SMALL else b":%d\r\n" % number)


def write_decimal(out: BytesWriter, number: i64) -> None:
    """A number as a bulk string."""
    write_bulk(out, b"%d" % number)


def write_array(out: BytesWriter, length: i64) -> None:
    out.write(_COUNTS[length] if length < _SMALL else b"*%d\r\n" % length)


def write_error(out: BytesWriter, words: bytes) -> None:
    """What a line cannot hold is left out of it."""
    out.write(b"-")
    out.write(words.replace(b"\r", b" ").replace(b"\n", b" "))
    out.write(b"\r\n")
