"""One file of the archive as bytes: a sealed segment's facts as Parquet, and what such a file says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.history import schema
from penstock.history.columns import Words, table_of
from penstock.history.queues import QueueNames, decode_queues, encode_queues
from penstock.history.records import CODES, Segment
from penstock.history.rows import Rows
from penstock.history.saying import OtherVersion

# A group of rows is what is in memory at once, here and in whoever reads it.
GROUP_ROWS: Final = 128 << 10
GROUP_BYTES: Final = 64 << 20  # of heap

# How columns are written: few different values, values that grow, and what needs no least and greatest.
_REPEATING: Final = (
    *[field.name for field in schema.SCHEMA if pa.types.is_dictionary(field.type)],
    *("queue_id", "attempt", "lease_us", "priority", "size", "holder", "principal", "journal_bytes", "segment"),
)
_GROWING: Final = ("seq", "at_us", "message_seq", "due_at_us", "until_us")
_HEAPED: Final = ("key", "body", "note")
_COUNTED: Final = [name for name in schema.SCHEMA.names if name not in _HEAPED]


class Unreadable(ValueError):
    """Bytes that are no whole file of an archive."""


class Told(NamedTuple):
    """What a file says of itself. It ends the history so far: the next one goes on from here."""

    store_id: bytes
    segment: int
    first: int
    last: int
    first_at_us: int
    last_at_us: int
    counts: Mapping[int, int]
    queues: Mapping[int, bytes]


def encode(segment: Segment, store_id: bytes, queues: Mapping[int, bytes], words: Words) -> tuple[bytes, Told]:
    """`queues`: those that lived before it. Raises BadRow."""
    sink = pa.BufferOutputStream()
    naming = QueueNames(queues)
    counts = np.zeros(CODES, np.int64)
    with _writer(sink) as writer:
        for first, end in groups(segment):
            rows = Rows(segment, first, end)
            counts += np.bincount(rows["kind"], minlength=len(counts))
            writer.write_table(table_of(rows, naming, words), row_group_size=GROUP_ROWS)
        by_kind = {int(kind): int(counts[kind]) for kind in np.flatnonzero(counts)}
        told = Told(
            store_id,
            segment.number,
            segment.first,
            segment.next_fact - 1,
            segment.first_at_us,
            segment.last_at_us,
            by_kind,
            naming.live(),
        )
        writer.add_key_value_metadata(_metadata(told))
    return sink.getvalue().to_pybytes(), told


def _writer(sink: pa.BufferOutputStream) -> pq.ParquetWriter:
    return pq.ParquetWriter(
        sink,
        schema.SCHEMA,
        compression="zstd",
        compression_level=1,
        use_dictionary=list(_REPEATING),
        column_encoding=dict.fromkeys(_GROWING, "DELTA_BINARY_PACKED"),
        write_statistics=_COUNTED,
    )


def groups(segment: Segment, rows: int = GROUP_ROWS, heap_bytes: int = GROUP_BYTES) -> Iterator[tuple[int, int]]:
    """The segment's rows in pieces that are neither too many nor too large."""
    ends = segment.heap_at + segment.heap_bytes
    first = 0
    while first < len(segment):
        fitting = int(np.searchsorted(ends, segment.heap_at[first] + heap_bytes, "right"))
        end = min(first + rows, max(fitting, first + 1), len(segment))
        yield first, end
        first = end


def _metadata(told: Told) -> dict[bytes, bytes]:
    return {
        schema.VERSION_KEY: b"%d" % schema.VERSION,
        schema.STORE_KEY: told.store_id.hex().encode(),
        schema.SEGMENT_KEY: b"%d" % told.segment,
        schema.FIRST_KEY: b"%d" % told.first,
        schema.LAST_KEY: b"%d" % told.last,
        schema.FIRST_AT_KEY: b"%d" % told.first_at_us,
        schema.LAST_AT_KEY: b"%d" % told.last_at_us,
        schema.COUNTS_KEY: msgspec.json.encode({str(kind): count for kind, count in told.counts.items()}),
        schema.QUEUES_KEY: encode_queues(told.queues),
    }


def decode(content: bytes) -> Told:
    """What a file says of itself. Raises Unreadable or OtherVersion."""
    try:
        found = pq.read_metadata(pa.BufferReader(content))
    except (pa.ArrowException, OSError) as error:
        raise Unreadable(f"it is no Parquet file: {error}") from None
    said = found.metadata or {}
    version = said.get(schema.VERSION_KEY, b"")
    if version.isdigit() and int(version) != schema.VERSION:
        raise OtherVersion(f"it is of version {int(version)}, not {schema.VERSION}")
    try:
        told = _told(said)
    except (KeyError, ValueError) as error:
        raise Unreadable(f"what it says of itself cannot be read: {error!r}") from None
    if found.num_rows != told.last - told.first + 1:
        raise Unreadable(f"it holds {found.num_rows} facts, not {told.first} to {told.last}")
    return told


def _told(said: Mapping[bytes, bytes]) -> Told:
    counts = msgspec.json.decode(said[schema.COUNTS_KEY], type=dict[int, int])
    return Told(
        bytes.fromhex(said[schema.STORE_KEY].decode()),
        int(said[schema.SEGMENT_KEY]),
        int(said[schema.FIRST_KEY]),
        int(said[schema.LAST_KEY]),
        int(said[schema.FIRST_AT_KEY]),
        int(said[schema.LAST_AT_KEY]),
        counts,
        decode_queues(said[schema.QUEUES_KEY]),
    )
