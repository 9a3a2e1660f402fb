"""The dedup ids a queue remembers, for as long as its policy says and no more than a bound. It judges nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from mypy_extensions import i64

from penstock.model.limits import DEDUP_IDS_MAX


class Dedup:
    """Law: an id is the newest message's that was published under it.

    A dict alone would do, but finding its oldest entry costs a step for every one that was deleted before it.
    """

    __slots__ = ("_known", "_order")

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[int, int]] = {}  # message number, published_us
        self._order: deque[tuple[bytes, int]] = deque()  # id, message number: as they were published

    def __len__(self) -> int:
        return len(self._known)

    def numbers(self) -> dict[bytes, tuple[int, int]]:
        """Message number and time of each id, for those who compare whole states."""
        return dict(self._known)

    def number(self, dedup_id: bytes) -> int:
        """0: it is not known."""
        found = self._known.get(dedup_id)
        return 0 if found is None else found[0]

    def remember(self, dedup_id: bytes, seq: i64, at_us: i64) -> None:
        self._known[dedup_id] = (seq, at_us)
        self._order.append((dedup_id, seq))
        if len(self._order) > DEDUP_IDS_MAX:
            self._forget_first()

    def entries(self) -> Iterator[tuple[bytes, int, int]]:
        """Id, message number and time, as they were published; the time is 0 where a later message has the id."""
        for dedup_id, seq in self._order:
            found = self._known.get(dedup_id)
            yield dedup_id, seq, found[1] if found is not None and found[0] == seq else 0

    def restored(self, dedup_id: bytes, seq: i64, at_us: i64) -> None:
        """One of those entries; to be told all of them, in order."""
        self._order.append((dedup_id, seq))
        if at_us != 0:
            self._known[dedup_id] = (seq, at_us)

    def forget(self, until_us: i64) -> None:
        """Those of messages published until then."""
        order = self._order
        while order:
            dedup_id, seq = order[0]
            found = self._known.get(dedup_id)
            if found is not None and found[0] == seq and found[1] > until_us:
                return
            self._forget_first()

    def _forget_first(self) -> None:
        dedup_id, seq = self._order.popleft()
        if self.number(dedup_id) == seq:
            del self._known[dedup_id]
