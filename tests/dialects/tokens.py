"""What stands where a transcript has a place for it: seen once, it must be the same for ever. Ids of one message agree,
in whatever form a dialect shows its number."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from penstock.codecs.ids import Ids, high, low
from tests.dialects.notations import Token


class Kind(NamedTuple):
    """How a token looks; how many bytes it has as an integer; whether two names may stand for the same one."""

    pattern: re.Pattern[bytes]
    width: int = 0
    distinct: bool = False


DECIMAL = re.compile(rb"0|[1-9][0-9]*")
KINDS = {
    "id": Kind(re.compile(rb"[0-9A-Za-z]{10}"), distinct=True),
    "long": Kind(re.compile(rb"[0-9A-Za-z]{32}"), distinct=True),
    "shard": Kind(DECIMAL, 4),
    "sequence": Kind(DECIMAL, 8),
    "client": Kind(DECIMAL, 8, distinct=True),
}


class Pair(NamedTuple):
    """A dialect that shows a message's number as a shard and a sequence in it: both ways."""

    joined: Callable[[Ids, int, int], int]
    split: Callable[[Ids, int], tuple[int, int]]


# by dialect
PAIRS: Mapping[str, Pair] = {"glovebox": Pair(Ids.seq_of, lambda ids, seq: (high(ids.pair(seq)), low(ids.pair(seq))))}


class WrongToken(Exception):
    """It is not what the transcript says."""


class Tokens:
    def __init__(self, dialect: str, ids: Ids) -> None:
        self._ids = ids
        self._pair = PAIRS.get(dialect)
        self._known: dict[tuple[str, str], bytes] = {}

    def said(self, token: Token) -> bytes:
        """What to send for it."""
        value = self._value(token)
        if value is None:
            raise WrongToken(f"nobody has said <{token.kind}:{token.name}> yet")
        return int(value).to_bytes(KINDS[token.kind].width, "little") if token.binary else value

    def read(self, token: Token, heard: bytes) -> int:
        """How many bytes it has at the beginning of these; a name seen for the first time takes any that is new."""
        kind = KINDS[token.kind]
        if token.binary:
            found, length = b"%d" % int.from_bytes(heard[: kind.width], "little"), kind.width
        else:
            match = kind.pattern.match(heard)
            found = match[0] if match else b""
            length = len(found)
        if length == 0 or len(heard) < length or (self._value(token) or self._new(token, found)) != found:
            raise WrongToken(f"<{token.kind}:{token.name}> cannot be {heard[:20]!r}")
        return length

    def _new(self, token: Token, found: bytes) -> bytes:
        if KINDS[token.kind].distinct and found in [v for (kind, _), v in self._known.items() if kind == token.kind]:
            return b""
        self._known[token.kind, token.name] = found
        return found

    def _value(self, token: Token) -> bytes | None:
        """Said so, or following from another form of the same number."""
        key = (token.kind, token.name)
        if key not in self._known and self._pair is not None and token.kind != "client":
            self._follow(token.name, self._pair)
        return self._known.get(key)

    def _follow(self, name: str, pair: Pair) -> None:
        shown, shard, sequence = (self._known.get((kind, name)) for kind in ("id", "shard", "sequence"))
        if shown is None and shard is not None and sequence is not None:
            self._known["id", name] = self._ids.show(pair.joined(self._ids, int(shard), int(sequence)))
        elif shown is not None:
            split = pair.split(self._ids, int(self._ids.seq(shown)))
            self._known["shard", name], self._known["sequence", name] = (b"%d" % number for number in split)
