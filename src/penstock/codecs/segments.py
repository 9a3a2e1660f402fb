"""Segments as bytes: header, batch and footer, each with its checksum. docs/journal-format.md draws them.

This module must not judge: it says what can be read at a place, not whether it may stand there.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from crc32c import crc32c
from mypy_extensions import i64

from penstock.codecs.facts import RECORD_BYTES

VERSION: Final = 1
HEADER_BYTES: Final = 64
BATCH_HEADER_BYTES: Final = 40
FOOTER_BYTES: Final = 56
STORE_ID_AT: Final = 40
STORE_ID_BYTES: Final = 16

_MAGIC: Final = b"PENSTOCK"
_BATCH_MAGIC: Final = b"PBAT"
_FOOTER_MAGIC: Final = b"PEND"

# magic | version flags | number first opened_us | store | 0
_HEADER: Final = struct.Struct("<8sIIQQq16sI")
_CRC: Final = struct.Struct("<I")
_MARK: Final = struct.Struct("<4sI")
# first at_us synced | count heap_bytes
_BATCH: Final = struct.Struct("<QqQII")
# next_fact sealed_us synced facts bytes | 0
_FOOTER: Final = struct.Struct("<QqQQQQ")


class Header:
    """How a segment begins."""

    __slots__ = ("first", "flags", "number", "opened_us", "store_id", "version")

    def __init__(self, version: int, flags: int, number: int, first: int, opened_us: int, store_id: bytes) -> None:
        self.version = version
        self.flags = flags
        self.number = number
        self.first = first
        self.opened_us = opened_us
        self.store_id = store_id


class Batch:
    """Where a batch stands, from `at` to `end`, and what its header says."""

    __slots__ = ("at", "at_us", "count", "end", "first", "heap_bytes", "synced")

    def __init__(self, at: int, first: int, at_us: int, synced: int, count: int, heap_bytes: int) -> None:
        self.at = at
        self.first = first
        self.at_us = at_us
        self.synced = synced
        self.count = count
        self.heap_bytes = heap_bytes
        self.end: int = at + BATCH_HEADER_BYTES + count * RECORD_BYTES + (heap_bytes + 7 & ~7)


class Footer:
    """How a sealed segment ends."""

    __slots__ = ("content_bytes", "facts", "next_fact", "sealed_us", "synced")

    def __init__(self, next_fact: int, sealed_us: int, synced: int, facts: int, content_bytes: int) -> None:
        self.next_fact = next_fact
        self.sealed_us = sealed_us
        self.synced = synced
        self.facts = facts
        self.content_bytes = content_bytes


def seed_of(store_id: bytes) -> int:
    """What the checksums of a store begin with, so that a body that looks like a batch is never taken for one."""
    return crc32c(store_id)


def encode_header(
    number: int, first: int, opened_us: int, store_id: bytes, magic: bytes = _MAGIC, version: int = VERSION
) -> bytes:
    """Of a segment, or of another file of the journal with a magic and a version of its own."""
    head = _HEADER.pack(magic, version, 0, number, first, opened_us, store_id, 0)
    return head + _CRC.pack(crc32c(head))


def decode_header(data: bytes, magic: bytes = _MAGIC) -> Header | None:
    head = data[: _HEADER.size]
    if len(data) < HEADER_BYTES or not head.startswith(magic):
        return None
    if _CRC.unpack_from(data, _HEADER.size)[0] != crc32c(head):
        return None
    _, version, flags, number, first, opened_us, store_id, _ = _HEADER.unpack(head)
    return Header(version, flags, number, first, opened_us, store_id)


def encode_batch(seed: int, first: i64, at_us: i64, synced: i64, count: i64, heap_bytes: int, payload: bytes) -> bytes:
    head = _BATCH.pack(first, at_us, synced, count, heap_bytes)
    return b"".join((_MARK.pack(_BATCH_MAGIC, crc32c(payload, crc32c(head, seed))), head, payload))


def batch_at(data: bytes, at: int) -> Batch | None:
    """The batch that claims to stand at a place, if it fits; whether it does stand there `batch_holds` tells."""
    if not data.startswith(_BATCH_MAGIC, at) or at + BATCH_HEADER_BYTES > len(data):
        return None
    first, at_us, synced, count, heap_bytes = _BATCH.unpack_from(data, at + _MARK.size)
    batch = Batch(at, first, at_us, synced, count, heap_bytes)
    return batch if batch.end <= len(data) else None


def batch_holds(data: bytes, batch: Batch, seed: int) -> bool:
    covered = memoryview(data)[batch.at + _MARK.size : batch.end]
    return bool(_MARK.unpack_from(data, batch.at)[1] == crc32c(covered, seed))


def payload_of(data: bytes, batch: Batch) -> bytes:
    return data[batch.at + BATCH_HEADER_BYTES : batch.end]


def encode_footer(seed: int, next_fact: int, sealed_us: int, synced: int, facts: int, content_bytes: int) -> bytes:
    rest = _FOOTER.pack(next_fact, sealed_us, synced, facts, content_bytes, 0)
    return _MARK.pack(_FOOTER_MAGIC, crc32c(rest, seed)) + rest


def footer_at(data: bytes, at: int, seed: int) -> Footer | None:
    rest = data[at + _MARK.size : at + FOOTER_BYTES]
    if not data.startswith(_FOOTER_MAGIC, at) or len(rest) < _FOOTER.size:
        return None
    if _MARK.unpack_from(data, at)[1] != crc32c(rest, seed):
        return None
    next_fact, sealed_us, synced, facts, content_bytes, _ = _FOOTER.unpack(rest)
    return Footer(next_fact, sealed_us, synced, facts, content_bytes)


def why_unreadable(data: bytes, at: int) -> str:
    """In words, why neither a batch nor a footer could be read at a place."""
    if data.startswith(_FOOTER_MAGIC, at):
        return "the checksum of the footer is wrong"
    if not data.startswith(_BATCH_MAGIC, at):
        return "neither a batch nor a footer begins here"
    if batch_at(data, at) is None:
        return "the batch here reaches beyond the end of the file"
    return "the checksum of the batch is wrong"


def batches_after(data: bytes, at: int, missing: int, seed: int) -> Iterator[Batch]:
    """Every batch that can be read beyond a place where the one with the fact `missing` cannot; 0: not known which."""
    place = _next_place(data, _BATCH_MAGIC, at + 1)
    while place >= 0:
        batch = batch_at(data, place)
        # A fact takes a record: a number that could not have been reached by here is not worth a checksum.
        if batch is not None and missing and not missing < batch.first <= missing + (place - at) // RECORD_BYTES:
            batch = None
        if batch is not None and batch_holds(data, batch, seed):
            yield batch
            place = _next_place(data, _BATCH_MAGIC, batch.end)
        else:
            place = _next_place(data, _BATCH_MAGIC, place + 1)


def footer_after(data: bytes, at: int, seed: int) -> Footer | None:
    """The first footer that can be read beyond a place."""
    place = _next_place(data, _FOOTER_MAGIC, at + 1)
    while place >= 0:
        footer = footer_at(data, place, seed)
        if footer is not None:
            return footer
        place = _next_place(data, _FOOTER_MAGIC, place + 1)
    return None


def _next_place(data: bytes, magic: bytes, at: int) -> int:
    """Where the magic next stands at a multiple of eight, as all of them do; -1: nowhere."""
    place = data.find(magic, at)
    while place & 7 and place >= 0:
        place = data.find(magic, place + 1)
    return place
