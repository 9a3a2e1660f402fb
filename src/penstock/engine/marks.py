"""How far each list has come whose rows must be published once: by its name, the highest row. It judges nothing.

A mark moves with the very fact that publishes the row: no crash can come between the two.
"""

from __future__ import annotations

from penstock.model.limits import MARKS_MAX
from penstock.model.message import Origin


class Marks:
    """Law: a mark never goes back. Of too many, the one that was moved longest ago is forgotten."""

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        self._rows: dict[bytes, int] = {}  # those moved last stand last

    def __len__(self) -> int:
        return len(self._rows)

    def rows(self) -> dict[bytes, int]:
        """All of them, for those who compare whole states."""
        return dict(self._rows)

    def row(self, name: bytes) -> int:
        """0: none has been published."""
        return self._rows.get(name, 0)

    def passed(self, origin: Origin) -> bool:
        """The row that this speaks of has been published, or one after it."""
        return bool(origin.mark) and 0 < origin.row <= self.row(origin.mark)

    def move(self, name: bytes, row: int) -> None:
        known = self._rows.pop(name, 0)
        self._rows[name] = max(known, row)
        if len(self._rows) > MARKS_MAX:
            del self._rows[next(iter(self._rows))]
