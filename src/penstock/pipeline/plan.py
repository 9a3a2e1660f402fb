"""The plan of a replay: its messages in order, in one file, so that a repeat sends the same rows, whatever the lake
holds by then. It must not know Spark.

Law: a plan is written once, whole, under its name; then it never changes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.pipeline.lake import Lake

FOLDER: Final = "replays"
_SAID: Final = b"penstock.replay"
_ROWS_READ: Final = 1_000

# What a plan holds of each message.
COLUMNS: Final = pa.schema(
    [
        pa.field("message_seq", pa.int64()),
        pa.field("queue", pa.string()),
        pa.field("outcome", pa.string()),
        pa.field("published_at_us", pa.int64()),
        pa.field("priority", pa.int64()),
        pa.field("key", pa.binary()),
        pa.field("body", pa.binary()),
    ]
)


class Row(NamedTuple):
    message_seq: int
    queue: str
    outcome: str
    published_at_us: int
    priority: int
    key: bytes | None
    body: bytes


class Bodiless(msgspec.Struct, frozen=True):
    """Messages of a queue that were chosen, and whose bodies the archive does not have."""

    queue: str
    messages: int
    before: bool  # they were published before the archive begins; else the archive leaves the queue's bodies out


class Chosen(msgspec.Struct, frozen=True):
    """What a condition chooses, in numbers."""

    messages: int
    bytes: int
    bodiless: list[Bodiless]

    def lacking(self) -> int:
        return sum(one.messages for one in self.bodiless)


class Said(msgspec.Struct, frozen=True):
    """What a plan says of itself."""

    name: str
    where: str
    to: str
    store: str
    planned_us: int
    chosen: Chosen

    def mark(self) -> str:
        """Under which the server remembers how far it came. Rows are numbers of one store's messages."""
        return f"replay {self.name} {digest(self.where, self.to)} of {self.store[:8]}"


def digest(where: str, to: str) -> str:
    """The same question, the same few letters."""
    return hashlib.blake2b(f"{where}\0{to}".encode(), digest_size=6).hexdigest()


class Plan:
    def __init__(self, lake: Lake, name: str) -> None:
        self.path = lake.root / FOLDER / f"{name}.parquet"

    def said(self) -> Said | None:
        """None: there is no such plan."""
        try:
            found = pq.read_schema(self.path).metadata
        except FileNotFoundError:
            return None
        return msgspec.json.decode(found[_SAID], type=Said)

    def rows(self) -> Iterator[Row]:
        with pq.ParquetFile(self.path) as file:
            for batch in file.iter_batches(_ROWS_READ):
                yield from map(Row, *[column.to_pylist() for column in batch.columns])

    def first(self, count: int) -> list[Row]:
        return [row for row, _ in zip(self.rows(), range(count), strict=False)]

    def keep(self, said: Said, parts: Iterable[Path]) -> None:
        """From files whose rows are in order, one file after the other. A plan that is there by then stays."""
        fresh = self.path.with_suffix(f".{os.getpid()}")
        fresh.parent.mkdir(parents=True, exist_ok=True)
        with pq.ParquetWriter(fresh, COLUMNS.with_metadata({_SAID: msgspec.json.encode(said)})) as file:
            for part in parts:
                for batch in pq.ParquetFile(part).iter_batches(_ROWS_READ):
                    file.write_batch(batch.select(COLUMNS.names).cast(COLUMNS))
        _sync(fresh)
        with suppress(FileExistsError):
            os.link(fresh, self.path)
        fresh.unlink()
        _sync(self.path.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
