"""The batches of a segment as a table, found all at once where they follow each other as they should.

It must not judge: what it does not find so is left to the journal's own reader, which knows what is wrong.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from crc32c import crc32c
from numpy.typing import NDArray

from penstock.codecs.facts import RECORD_BYTES
from penstock.codecs.segments import BATCH_HEADER_BYTES
from penstock.journal.segment import JournalDamaged, SegmentReader

Ints = NDArray[np.int64]

WORD: Final = 8  # everything in a segment begins at a multiple of this
_LOW: Final = 0xFFFFFFFF
_MAGIC: Final = int.from_bytes(b"PBAT", "little")
_CHECKED_AT: Final = 8  # what a batch's checksum covers begins here


def words_of(data: bytes) -> Ints:
    return np.frombuffer(data, "<i8", len(data) // WORD)


def read_batches(reader: SegmentReader) -> Ints:
    """A row for each: place, first fact, time, facts, bytes of heap. Every checksum is verified.

    Raises JournalDamaged; a segment that is not sealed is as good as damaged.
    """
    found = _in_a_row(reader) if reader.at else np.zeros((0, 5), np.int64)
    rest = [(batch.at, batch.first, batch.at_us, batch.count, batch.heap_bytes) for batch in reader.batches()]
    if reader.damage is not None:
        raise JournalDamaged(reader.damage)
    if reader.footer is None:
        raise reader.damaged("the segment is not sealed")
    return np.concatenate((found, np.array(rest, np.int64).reshape(-1, 5)))


def _in_a_row(reader: SegmentReader) -> Ints:
    """Those from the reader's place on, up to the first that is not where the one before it ends; the reader goes on
    from there. What only looks like a batch, inside a body, is such a one."""
    words = words_of(reader.data)
    places = np.flatnonzero(np.frombuffer(reader.data, "<u4", 2 * len(words))[::2] == _MAGIC)
    places = places[places + BATCH_HEADER_BYTES // WORD <= len(words)]
    at, first, at_us, sizes = places * WORD, words[places + 1], words[places + 2], words[places + 4]
    counts, heap_bytes = sizes & _LOW, sizes >> 32 & _LOW
    ends = at + BATCH_HEADER_BYTES + counts * RECORD_BYTES + (heap_bytes + 7 & ~7)
    follows = (_behind(reader.at, ends) == at) & (_behind(reader.next_fact, first + counts) == first)
    linked = _leading(follows & (ends <= len(reader.data)))
    sums = words[places[:linked]] >> 32 & _LOW
    held = _held(reader, at[:linked].tolist(), ends[:linked].tolist(), sums.tolist())
    if held:
        reader.at, reader.next_fact = int(ends[held - 1]), int(first[held - 1] + counts[held - 1])
        reader.last_at_us = int(at_us[held - 1])
    return np.stack((at, first, at_us, counts, heap_bytes), axis=1)[:held]


def _behind(start: int, values: Ints) -> Ints:
    """What each begins with, if it goes on from the one before."""
    return np.concatenate(([start], values[:-1]))[: len(values)]


def _leading(holds: NDArray[np.bool_]) -> int:
    wrong = np.flatnonzero(~holds)
    return int(wrong[0]) if len(wrong) else len(holds)


def _held(reader: SegmentReader, at: list[int], ends: list[int], sums: list[int]) -> int:
    """How many have the checksum that they say."""
    data, seed = memoryview(reader.data), reader.seed
    found = [crc32c(data[begin + _CHECKED_AT : end], seed) for begin, end in zip(at, ends, strict=True)]
    return _leading(np.array(found, np.int64) == np.array(sums, np.int64))
