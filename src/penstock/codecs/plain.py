"""Plain JSON, read and written without a parser: one flat object, texts that stand there as they are, small numbers.

It is what clients send over and over. Law: whatever is not plain is not judged here, but left to a real reader.
"""

from __future__ import annotations

import re
from typing import Final

from librt.strings import read_i64_le
from mypy_extensions import i64, mypyc_attr

COMPILED: Final = not __file__.endswith(".py")

_QUOTE: Final[i64] = 0x22
_COMMA: Final[i64] = 0x2C
_POINT: Final[i64] = 0x2E
_ZERO: Final[i64] = 0x30
_COLON: Final[i64] = 0x3A
_BACKSLASH: Final[i64] = 0x5C
_DELETE: Final[i64] = 0x7F
_SPACE: Final[i64] = 0x20
_OPEN: Final[i64] = 0x7B
_CLOSE: Final[i64] = 0x7D
_UNDERSCORE: Final[i64] = 0x5F
_BEFORE_A: Final[i64] = 0x60
_LETTERS: Final[i64] = 26
_DIGITS_MAX: Final[i64] = 18  # of a number that fits in an i64, whatever they are
_WORD_MAX: Final[i64] = 13  # letters of a word that does

# Eight bytes at once: a bit in each, or a character. Compiled, a number beyond 62 bits is an object.
_LOWEST_BITS: Final[i64] = 0x0101_0101_0101_0101
_FROM_SPACE: Final[i64] = 0x2020_2020_2020_2020
_QUOTES: Final[i64] = 0x2222_2222_2222_2222
_BACKSLASHES: Final[i64] = 0x1C1C_1C1C_1C1C_1C1C  # without the highest bit of each
_SIX_BITS: Final[i64] = 0x3F3F_3F3F_3F3F_3F3F

_PLAIN: Final = re.compile(rb"[ !#-\[\]-\x7f]*")


def plain_end(data: bytes, at: i64) -> i64:
    """Where the text that begins there needs more than copying: at a quote, a backslash, a control or beyond ASCII."""
    return in_words(data, at) if COMPILED else in_one(data, at)


def in_words(data: bytes, at: i64) -> i64:
    """Eight bytes a step: quick where it is compiled, and slow where it is not."""
    length: i64 = len(data)
    while at + 8 <= length:
        word = read_i64_le(data, at)
        # Of eight that are ASCII: where the lower six bits of a byte are others, they carry into the seventh; and that
        # is not set in a quote, but set in a backslash.
        other = word ^ _QUOTES
        no_quote = (other & _SIX_BITS) + _SIX_BITS | other
        other = word ^ _BACKSLASHES
        no_backslash = (other & _SIX_BITS) + _SIX_BITS | ~other
        if (
            word >> 7 & _LOWEST_BITS != 0
            or (word | word >> 1) & _FROM_SPACE != _FROM_SPACE
            or (no_quote & no_backslash) >> 6 & _LOWEST_BITS != _LOWEST_BITS
        ):
            break
        at += 8
    while at < length:
        byte: i64 = data[at]
        if byte < _SPACE or byte > _DELETE or byte in (_QUOTE, _BACKSLASH):
            break
        at += 1
    return at


def in_one(data: bytes, at: i64) -> i64:
    found = _PLAIN.match(data, int(at))
    assert found is not None  # nothing at all is found everywhere
    return found.end()


def is_plain(data: bytes) -> bool:
    return plain_end(data, 0) == len(data)


def word_of(name: bytes) -> i64:
    """A name of small letters and underscores as a number of its own: to compare two of them needs no object."""
    found: i64 = 0
    for letter in name:
        found = found * (_LETTERS + 2) + (_LETTERS + 1 if letter == _UNDERSCORE else letter - _BEFORE_A)
    return found


@mypyc_attr(allow_interpreted_subclasses=True)
class PlainObject:
    """One flat object at a time. What a dialect adds: `forget`, `member` and `value`.

    Every step answers False where what stands there is not plain; then all of it is not.
    """

    __slots__ = ("_at", "_last", "_payload", "_start", "_stop", "number", "said", "word")

    def __init__(self) -> None:
        self.said: i64 = 0  # a bit for each member
        self.word: i64 = 0  # the last one
        self.number: i64 = 0  # the last one
        self._payload: bytes = b""
        self._at: i64 = 0
        self._last: i64 = 0  # where the closing brace is
        self._start: i64 = 0  # of the last text
        self._stop: i64 = 0

    # -- what a dialect adds

    def forget(self) -> None:
        """Another object begins: what it does not say was not said."""
        raise NotImplementedError

    def member(self) -> i64:
        """The bit of the member whose name is the last word; 0: none that we know."""
        raise NotImplementedError

    def value(self, member: i64) -> bool:
        """Its value is next: whether it is one, and plain."""
        raise NotImplementedError

    # -- the whole

    def reads(self, payload: bytes) -> bool:
        """Whether all of it is plain, and no member is said twice."""
        self._payload = payload
        self._at = 1
        self._last = len(payload) - 1
        self.said = 0
        self.forget()
        if self._last <= 0 or payload[0] != _OPEN or payload[self._last] != _CLOSE:
            return False
        while self.says() and self.passes(_COLON):
            member = self.member()
            if member == 0 or self.said & member != 0 or not self.value(member):
                return False
            self.said |= member
            if self._at == self._last:
                return True
            if not self.passes(_COMMA):
                return False
        return False

    # -- steps, for values

    def says(self) -> bool:
        """A word."""
        payload = self._payload
        at: i64 = self._at
        if payload[at] != _QUOTE:
            return False
        found: i64 = 0
        while True:
            at += 1
            letter: i64 = payload[at] - _BEFORE_A
            if letter <= 0 or letter > _LETTERS:
                if letter != _UNDERSCORE - _BEFORE_A:
                    break
                letter = _LETTERS + 1
            found = found * (_LETTERS + 2) + letter
            if at - self._at > _WORD_MAX:
                return False
        if payload[at] != _QUOTE:
            return False
        self.word = found
        self._at = at + 1
        return True

    def tells(self) -> bool:
        """A text; `text` gives it."""
        payload = self._payload
        if payload[self._at] != _QUOTE:
            return False
        self._start = self._at + 1
        self._stop = plain_end(payload, self._start)
        if self._stop >= self._last or payload[self._stop] != _QUOTE:
            return False
        self._at = self._stop + 1
        return True

    def text(self) -> bytes:
        """The last one."""
        return self._payload[self._start : self._stop]

    def counts(self) -> bool:
        """A whole number, not below 0."""
        payload = self._payload
        at: i64 = self._at
        number: i64 = 0
        digit: i64 = payload[at] - _ZERO
        while 0 <= digit <= 9:
            number = number * 10 + digit
            at += 1
            digit = payload[at] - _ZERO
        digits = at - self._at
        if digits == 0 or digits > _DIGITS_MAX or (digits > 1 and payload[self._at] == _ZERO):
            return False
        self.number = number
        self._at = at
        return True

    def measures(self) -> bool:
        """A whole number, perhaps with a point and a zero."""
        if not self.counts():
            return False
        if self._payload[self._at] == _POINT:
            if self._payload[self._at + 1] != _ZERO:
                return False
            self._at += 2
        return True

    def passes(self, mark: i64) -> bool:
        """That mark, and perhaps a space behind it."""
        payload = self._payload
        if payload[self._at] != mark:
            return False
        self._at += 1
        if payload[self._at] == _SPACE:
            self._at += 1
        return True
