"""A sealed segment's facts as numpy arrays: every checksum verified, no loop over facts.

It must not pass over anything: what is not as it was written raises JournalDamaged with its place.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from penstock.codecs.facts import RECORD_BYTES
from penstock.codecs.segments import BATCH_HEADER_BYTES
from penstock.history.batches import WORD, Ints, read_batches, words_of
from penstock.journal.segment import JournalDamaged, SegmentReader
from penstock.model.facts import FACT_NAMES

Records = NDArray[Any]

# As codecs.facts.RECORD, column by column.
RECORD: Final = np.dtype(
    [
        ("kind", "u1"),
        ("flags", "u1"),
        ("dialect", "u1"),
        ("reason", "u1"),
        ("queue", "<u4"),
        ("message", "<i8"),
        ("due_us", "<i8"),
        ("expires_us", "<i8"),
        ("lease_us", "<i8"),
        ("number", "<i8"),
        ("holder", "<i8"),
        ("body", "<u4"),
        ("key", "<u2"),
        ("extra", "<u2"),
    ]
)
CODES: Final = 256  # a code is a byte

_SIZES_AT: Final = 7  # the word of a record that holds the three lengths
_KNOWN: Final = np.array([kind in FACT_NAMES for kind in range(CODES)])


class BadRow(Exception):
    """A fact whose bytes passed their checksum and cannot be what was meant; `seq` is its number."""

    def __init__(self, seq: int, reason: str) -> None:
        super().__init__(f"fact {seq} {reason}")
        self.seq = seq


class Segment:
    """All facts of one sealed segment, by row: where each record and its part of the heap stand in `data`."""

    def __init__(self, reader: SegmentReader) -> None:
        """Reads every batch. Raises JournalDamaged."""
        self.data = reader.data
        self.number = reader.number
        batches = read_batches(reader)
        self.first = reader.first
        self.next_fact = reader.next_fact
        self._at, self._first, self._at_us, self._counts, self._heap_bytes = batches.T
        self._words = words_of(self.data)
        self._reader = reader
        self._place()

    def __len__(self) -> int:
        return self.next_fact - self.first

    @property
    def first_at_us(self) -> int:
        return int(self._at_us[0])

    @property
    def last_at_us(self) -> int:
        return int(self._at_us[-1])

    def records(self, first: int, end: int) -> Records:
        """The records of some rows, side by side."""
        rows = np.lib.stride_tricks.as_strided(
            self._words, (len(self._words) - WORD + 1, WORD), (WORD, WORD), writeable=False
        )
        return rows[self._record_at[first:end] // WORD].view(RECORD)[:, 0]

    def at_us(self, first: int, end: int) -> Ints:
        return np.repeat(self._at_us, self._counts)[first:end]

    def damaged(self, bad: BadRow) -> JournalDamaged:
        """With the place of its batch."""
        batch = self._batch[bad.seq - self.first]
        self._reader.at, self._reader.next_fact = int(self._at[batch]), int(self._first[batch])
        return self._reader.damaged(str(bad))

    def _place(self) -> None:
        """A batch is its records, then its heap: key, body and extra of each record in turn."""
        records_at = self._at + BATCH_HEADER_BYTES
        ends = np.cumsum(self._counts)
        starts = ends - self._counts
        self._batch = np.repeat(np.arange(len(self._counts)), self._counts)
        row_in_batch = np.arange(len(self)) - starts[self._batch]
        self._record_at: Ints = records_at[self._batch] + row_in_batch * RECORD_BYTES
        sizes = self._words[self._record_at // WORD + _SIZES_AT]
        lengths = (sizes & 0xFFFFFFFF) + (sizes >> 32 & 0xFFFF) + (sizes >> 48 & 0xFFFF)
        before = np.concatenate(([0], np.cumsum(lengths)))
        self._check(before[ends] - before[starts], ends)
        heaps_at = records_at + self._counts * RECORD_BYTES - before[starts]
        self.heap_at: Ints = heaps_at[self._batch] + before[:-1]
        self.heap_bytes: Ints = lengths

    def _check(self, told: Ints, ends: Ints) -> None:
        kinds = self._words[self._record_at // WORD] & 0xFF
        for row in np.flatnonzero(~_KNOWN[kinds])[:1]:
            raise self.damaged(BadRow(self.first + int(row), f"is of the unknown kind {kinds[row]}"))
        for batch in np.flatnonzero(told != self._heap_bytes)[:1]:
            raise self.damaged(BadRow(self.first + int(ends[batch]) - 1, "and those before it do not fill their heap"))
