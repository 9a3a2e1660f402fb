"""One agenda, ordered by due time, for delays, leases, expiry and waits. It knows when, never what: the engine acts.

Far entries lie unsorted in buckets and are ordered only when their bucket comes near. Entries are never looked for:
one that no longer matches its item is stale, passed over when met, and swept out when stale ones outnumber the rest.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Final

from mypy_extensions import i64, u8

from penstock.model.limits import NEVER_US
from penstock.model.message import Due

FINE_SHIFT: Final[i64] = 18  # buckets of a quarter of a second
COARSE_SHIFT: Final[i64] = 30  # and of eighteen minutes
TRIM_SLACK: Final[i64] = 1_024

# An item's slot says where its valid entry is: 0 nowhere, 1 near, above a fine bucket, below zero a coarse one.
NEAR: Final[i64] = 1
_FIRST_BUCKET: Final[i64] = 2


class Bucket:
    """Entries that come due within one stretch of time, in no order."""

    __slots__ = ("items", "slot")

    def __init__(self, slot: i64) -> None:
        self.slot: i64 = slot
        self.items: list[Due] = []


class Agenda:
    """Law: an item with a due time has exactly one valid entry, and it is never found later than that time."""

    def __init__(self) -> None:
        self._near: list[tuple[int, int, int, Due]] = []  # heap: due_us, kind, order
        self._fine: dict[int, Bucket] = {}
        self._fine_order: list[int] = []
        self._coarse: dict[int, Bucket] = {}
        self._coarse_order: list[int] = []
        self._fine_done: i64 = -1  # fine buckets up to this one are in the near heap
        self._coarse_done: i64 = -1
        self._live: i64 = 0
        self._entries: i64 = 0

    def __len__(self) -> int:
        return int(self._live)

    def entries(self) -> int:
        """Valid and stale together: what the agenda costs in memory."""
        return int(self._entries)

    def file(self, item: Due, due_us: i64, kind: i64) -> None:
        """Give an item its (new) due time; the old one is forgotten."""
        if due_us >= NEVER_US:
            self.drop(item)
            return
        fine = due_us >> FINE_SHIFT
        if fine <= self._fine_done:
            self._file_near(item, due_us, kind)
            return
        coarse = due_us >> COARSE_SHIFT
        item.due_us = due_us
        item.due_kind = u8(kind)
        if coarse <= self._coarse_done:
            self._file_far(item, self._fine, self._fine_order, fine, fine + _FIRST_BUCKET)
        else:
            self._file_far(item, self._coarse, self._coarse_order, coarse, -(coarse + _FIRST_BUCKET))

    def drop(self, item: Due) -> None:
        """Forget an item: it wants nothing any more."""
        item.due_us = NEVER_US
        if item.slot != 0:
            item.slot = 0
            self._live -= 1
            self._sweep()

    def pop(self, now_us: i64) -> Due | None:
        """The next item that is due, or None; it is off the agenda, and its `due_kind` says why it was on it."""
        if now_us >> FINE_SHIFT > self._fine_done:
            self._mature(now_us)
        near = self._near
        while near and near[0][0] <= now_us:
            due_us, kind, _, item = heappop(near)
            self._entries -= 1
            if item.slot == NEAR and item.due_us == due_us and item.due_kind == kind:
                item.slot = 0
                item.due_us = NEVER_US
                self._live -= 1
                self._sweep()
                return item
        return None

    def next_due(self) -> i64:
        """When to ask again: never later than the first due time, sometimes earlier; NEVER_US for an empty agenda."""
        near = self._near
        while near and not _valid(near[0]):
            heappop(near)
            self._entries -= 1
        if near:
            return near[0][0]
        if self._fine_order:
            return self._fine_order[0] << FINE_SHIFT
        if self._coarse_order:
            return self._coarse_order[0] << COARSE_SHIFT
        return NEVER_US

    def _file_near(self, item: Due, due_us: i64, kind: i64) -> None:
        if item.slot == 0:
            self._live += 1
        elif item.slot == NEAR and item.due_us == due_us and item.due_kind == kind:
            return
        item.due_us = due_us
        item.due_kind = u8(kind)
        item.slot = NEAR
        heappush(self._near, (due_us, kind, item.order, item))
        self._grown()

    def _file_far(self, item: Due, buckets: dict[int, Bucket], order: list[int], number: i64, slot: i64) -> None:
        if item.slot == slot:
            return
        if item.slot == 0:
            self._live += 1
        bucket = buckets.get(number)
        if bucket is None:
            bucket = buckets[number] = Bucket(slot)
            heappush(order, number)
        item.slot = slot
        bucket.items.append(item)
        self._grown()

    def _grown(self) -> None:
        self._entries += 1
        self._sweep()

    def _sweep(self) -> None:
        if self._entries > 2 * self._live + TRIM_SLACK:
            self._trim()

    def _mature(self, now_us: i64) -> None:
        """Time has reached new buckets: coarse ones spill into fine ones, fine ones into the near heap."""
        self._coarse_done = now_us >> COARSE_SHIFT
        while self._coarse_order and self._coarse_order[0] <= self._coarse_done:
            bucket = self._coarse.pop(heappop(self._coarse_order))
            self._entries -= len(bucket.items)
            for item in bucket.items:
                if item.slot == bucket.slot:
                    item.slot = 0
                    self._live -= 1
                    self.file(item, item.due_us, i64(item.due_kind))
        self._fine_done = now_us >> FINE_SHIFT
        while self._fine_order and self._fine_order[0] <= self._fine_done:
            self._spill_near(self._fine.pop(heappop(self._fine_order)))

    def _spill_near(self, bucket: Bucket) -> None:
        self._entries -= len(bucket.items)
        near = self._near
        before = len(near)
        for item in bucket.items:
            if item.slot == bucket.slot:  # an item met twice is near by its second time
                item.slot = NEAR
                near.append((item.due_us, item.due_kind, item.order, item))
        self._entries += len(near) - before
        heapify(near)

    def _trim(self) -> None:
        self._near = list(dict.fromkeys([entry for entry in self._near if _valid(entry)]))
        heapify(self._near)
        self._entries = len(self._near)
        self._entries += _trim_buckets(self._fine, self._fine_order)
        self._entries += _trim_buckets(self._coarse, self._coarse_order)


def _valid(entry: tuple[int, int, int, Due]) -> bool:
    item = entry[3]
    return item.slot == NEAR and item.due_us == entry[0] and item.due_kind == entry[1]


def _trim_buckets(buckets: dict[int, Bucket], order: list[int]) -> int:
    """Drop what is stale, and an item's second entry in its bucket. Empty buckets go too."""
    kept = 0
    for number in list(buckets):
        bucket = buckets[number]
        bucket.items = list(dict.fromkeys([item for item in bucket.items if item.slot == bucket.slot]))
        kept += len(bucket.items)
        if not bucket.items:
            del buckets[number]
    order[:] = sorted(buckets)
    return kept
