"""What requests in JSON have in common on their way in: members that may be missing, and none that is said twice."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from penstock.codecs.bincode import is_u64
from penstock.codecs.strict import is_sound
from penstock.model.limits import NEVER_US, SECOND_US, TTL_MAX_US
from penstock.model.stages import CONFIRMS

_LONG_S: Final = float(TTL_MAX_US // SECOND_US)  # longer than that is as good as for ever


class Reading:
    """One request on its way in: counts the members that are understood, for whoever looks for one too many."""

    __slots__ = ("label", "members", "payload", "texts")

    def __init__(self, payload: bytes) -> None:
        self.payload: bytes = payload
        self.members: i64 = 1  # its type
        self.texts: list[str] = []
        self.label: int = 0

    def is_sound(self) -> bool:
        """A colon for each member and no other: nothing is said twice, and nothing that is not understood."""
        payload = self.payload
        if not is_u64(self.label):
            return False
        colons: i64 = payload.count(b":") - self.members
        if colons == 0 or (colons == self._colons() and b"\\u" not in payload):
            return True
        return is_sound(payload, self.members)

    def _colons(self) -> i64:
        """Those inside of texts."""
        colons: i64 = 0
        for text in self.texts:
            colons += text.count(":")
        return colons

    def text(self, said: str) -> bytes:
        self.members += 1
        self.texts.append(said)
        return said.encode()

    def labelled(self, said: object) -> int:
        self.label = self.number(said, 0)
        return self.label

    def number(self, said: object, unsaid: int) -> int:
        """A member that may be missing or null."""
        if isinstance(said, int):
            self.members += 1
            return said
        if said is None:
            self.members += 1
        return unsaid

    def stage(self, said: object, unsaid: i64) -> i64:
        if isinstance(said, str):
            self.members += 1
            return CONFIRMS[said]
        if said is None:
            self.members += 1
        return unsaid

    def duration_us(self, said: object, unsaid: i64) -> i64:
        if isinstance(said, float):
            self.members += 1
            return us(said)
        if said is None:
            self.members += 1
        return unsaid


def us(seconds: float) -> i64:
    if seconds >= _LONG_S:
        return NEVER_US
    return int(seconds * 1_000_000.0 + 0.5) if seconds > 0.0 else 0
