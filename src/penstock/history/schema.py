"""The archive's columns, and what a file says of itself: one place, for ever. docs/archive-format.md explains them.

A change here is a new version: files that were written stay as they are.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

VERSION: Final = 1

_TEXT: Final = pa.dictionary(pa.int32(), pa.string())

SCHEMA: Final = pa.schema(
    [
        pa.field("seq", pa.int64(), nullable=False),
        pa.field("at_us", pa.int64(), nullable=False),
        pa.field("fact_code", pa.int8(), nullable=False),
        pa.field("fact", _TEXT, nullable=False),
        pa.field("message_seq", pa.int64(), nullable=False),
        pa.field("queue_id", pa.int64(), nullable=False),
        pa.field("queue", _TEXT),
        pa.field("dialect_code", pa.int16(), nullable=False),
        pa.field("dialect", _TEXT, nullable=False),
        pa.field("reason_code", pa.int8(), nullable=False),
        pa.field("reason", _TEXT, nullable=False),
        pa.field("attempt", pa.int32(), nullable=False),
        pa.field("due_at_us", pa.int64()),
        pa.field("until_us", pa.int64()),
        pa.field("expires_at_us", pa.int64()),
        pa.field("lease_us", pa.int64()),
        pa.field("priority", pa.int64()),
        pa.field("parked", pa.bool_(), nullable=False),
        pa.field("failure", pa.bool_(), nullable=False),
        pa.field("old_place", pa.bool_(), nullable=False),
        pa.field("key", pa.binary()),
        pa.field("body", pa.binary()),
        pa.field("size", pa.int32(), nullable=False),
        pa.field("holder", pa.int64(), nullable=False),
        pa.field("principal", pa.string()),
        pa.field("poster", pa.int64()),
        pa.field("label", pa.int64()),
        pa.field("notify", pa.int16()),
        pa.field("dedup_id", pa.string()),
        pa.field("foreign_id", pa.string()),
        pa.field("trace", pa.string()),
        pa.field("dead_of", pa.int64()),
        pa.field("dead_from", pa.string()),
        pa.field("note", pa.string()),
        pa.field("journal_bytes", pa.int32(), nullable=False),
        pa.field("segment", pa.int64(), nullable=False),
    ]
)

# Of the file's key-value metadata.
VERSION_KEY: Final = b"penstock.version"
STORE_KEY: Final = b"penstock.store"
SEGMENT_KEY: Final = b"penstock.segment"
FIRST_KEY: Final = b"penstock.first"
LAST_KEY: Final = b"penstock.last"
FIRST_AT_KEY: Final = b"penstock.first_at_us"
LAST_AT_KEY: Final = b"penstock.last_at_us"
COUNTS_KEY: Final = b"penstock.counts"
QUEUES_KEY: Final = b"penstock.queues"
