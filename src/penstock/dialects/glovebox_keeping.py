"""What a durable session was to say: kept as it was meant, for the next connection may speak another way.

Bounded once nobody is there to listen: of too much, the oldest goes.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from mypy_extensions import i64

from penstock.dialects.glovebox_words import Words
from penstock.dialects.ordered import OrderedSession
from penstock.model.limits import KEPT_BYTES_MAX, KEPT_MAX, MESSAGE_OVERHEAD

_NOTICE: Final[i64] = 1
_MESSAGE: Final[i64] = 2
_NO_MESSAGE: Final[i64] = 3
_ERROR: Final[i64] = 4
_TEXT: Final[i64] = 5


class Kept:
    """One thing to be said."""

    __slots__ = ("finished", "kind", "label", "number", "words")

    def __init__(self, kind: i64, label: int, number: i64, words: bytes, finished: bool) -> None:
        self.kind: i64 = kind
        self.label: int = label
        self.number: i64 = number  # a stage, a pair or a code
        self.words: bytes = words  # a body, a key or a whole answer
        self.finished: bool = finished

    def say(self, words: Words) -> None:
        if self.kind == _NOTICE:
            words.notice(self.label, self.number)
        elif self.kind == _MESSAGE:
            words.message(self.label, self.number, self.words, self.finished)
        elif self.kind == _NO_MESSAGE:
            words.no_message(self.label)
        elif self.kind == _ERROR:
            words.error(self.label, self.number, self.words)
        else:
            words.text(self.words)


class Keeper(Words):
    """Takes words and gives them on when asked. It may be inherited; words for its former owners come here too."""

    def __init__(self, owner: OrderedSession) -> None:
        self.owner: OrderedSession | None = owner  # None: nobody listens
        self.size: i64 = 0
        self.dropped: int = 0
        self._kept: deque[Kept] = deque()

    def tell(self, words: Words) -> None:
        for kept in self._kept:
            kept.say(words)
        self._kept.clear()
        self.size = 0

    def forsake(self, owner: OrderedSession) -> None:
        """Its connection is gone, unless another has taken over already."""
        if self.owner is owner:
            self.owner = None
            self._trim()

    def notice(self, label: int, stage: i64) -> None:
        self._keep(Kept(_NOTICE, label, stage, b"", False))

    def message(self, label: int, pair: i64, body: bytes, finished: bool) -> None:
        self._keep(Kept(_MESSAGE, label, pair, body, finished))

    def no_message(self, label: int) -> None:
        self._keep(Kept(_NO_MESSAGE, label, 0, b"", False))

    def error(self, label: int, code: i64, key: bytes) -> None:
        self._keep(Kept(_ERROR, label, code, key, False))

    def text(self, payload: bytes) -> None:
        self._keep(Kept(_TEXT, 0, 0, payload, False))

    def _keep(self, kept: Kept) -> None:
        self._kept.append(kept)
        self.size += len(kept.words) + MESSAGE_OVERHEAD
        owner = self.owner
        if owner is not None:
            owner.rouse()
        if owner is None or owner.ended:
            self._trim()

    def _trim(self) -> None:
        while len(self._kept) > KEPT_MAX or self.size > KEPT_BYTES_MAX:
            self.size -= len(self._kept.popleft().words) + MESSAGE_OVERHEAD
            self.dropped += 1
