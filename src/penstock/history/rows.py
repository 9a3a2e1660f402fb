"""Some rows of a segment: their records side by side, their keys and bodies as Arrow arrays, without a loop."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.history.batches import Ints
from penstock.history.records import CODES, Records, Segment

Mask = NDArray[np.bool_]


class Rows:
    """Not more than 2 GiB of a segment: Arrow counts bytes of an array in 32 bits."""

    def __init__(self, segment: Segment, first: int, end: int) -> None:
        self.segment: int = segment.number
        self.first = segment.first + first
        self.records: Records = segment.records(first, end)
        self.at_us: Ints = segment.at_us(first, end)
        self.heap_bytes: Ints = segment.heap_bytes[first:end]
        self._kind: NDArray[np.uint8] = np.ascontiguousarray(self.records["kind"])
        self._data = segment.data
        self._key_at: Ints = segment.heap_at[first:end]
        self._body_at: Ints = self._key_at + self.records["key"]
        self._extra_at: Ints = self._body_at + self.records["body"]

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, column: str) -> NDArray[np.int64]:
        """A column of the record, as it stands there."""
        values: NDArray[np.int64] = self.records[column]
        return values

    def among(self, *kinds: int) -> Mask:
        wanted = np.zeros(CODES, np.bool_)
        wanted[list(kinds)] = True
        return wanted[self._kind]

    def key(self, row: int) -> bytes:
        return self._data[self._key_at[row] : self._body_at[row]]

    def body(self, row: int) -> bytes:
        return self._data[self._body_at[row] : self._extra_at[row]]

    def extra(self, row: int) -> bytes:
        return self._data[self._extra_at[row] : self._key_at[row] + self.heap_bytes[row]]

    def keys(self, where: Mask) -> pa.Array:
        """Null elsewhere."""
        return self._pieces(self._key_at, self._body_at, where)

    def bodies(self, where: Mask) -> pa.Array:
        return self._pieces(self._body_at, self._extra_at, where)

    def _pieces(self, begins: Ints, ends: Ints, where: Mask) -> pa.Array:
        """The heap as one array: piece, gap, piece, gap, …, piece. Then every other one of these is taken."""
        base = int(self._key_at[0])
        edges = np.stack((begins, ends), axis=1).reshape(-1) - base
        buffers = [None, pa.py_buffer(edges.astype(np.int32)), pa.py_buffer(self._data).slice(base)]
        pieces = pa.BinaryArray.from_buffers(pa.binary(), len(edges) - 1, buffers)
        return pieces.take(pa.array(np.arange(0, len(edges), 2), mask=~where))
