"""Snapshots as bytes: header, blocks of rows, footer, each with its checksum. docs/journal-format.md draws them.

This module must not judge: it writes what it is told and says what can be read at a place.
"""

from __future__ import annotations

import struct
from typing import Final

from crc32c import crc32c
from librt.strings import BytesWriter, read_i64_le, write_i64_le
from mypy_extensions import i32, i64, u8

from penstock.codecs import segments
from penstock.codecs.facts import decode_origin, write_origin
from penstock.codecs.segments import Header
from penstock.model.message import LEASED, Message

VERSION: Final = 1
HEADER_BYTES: Final = segments.HEADER_BYTES
BLOCK_HEADER_BYTES: Final = 32
FOOTER_BYTES: Final = 48

# Kinds of blocks.
NUMBERS: Final = 1
QUEUES: Final = 2
MESSAGES: Final = 3
DEDUP_IDS: Final = 4
MARKS: Final = 5

# Bytes of a row, by kind; its names, bodies and the like follow behind all rows of the block.
ROW_BYTES: Final = {NUMBERS: 24, QUEUES: 88, MESSAGES: 104, DEDUP_IDS: 24, MARKS: 16}
MESSAGE_ROW_BYTES: Final = 104

# Flags of a message's row.
PARKED_FLAG: Final[i64] = 1
KEYED_FLAG: Final[i64] = 2
OLD_PLACE_FLAG: Final[i64] = 4
LEASED_FLAG: Final[i64] = 8
NAMED_FLAG: Final[i64] = 16  # its foreign id leads to it

_U16: Final[i64] = 0xFFFF
_U32: Final[i64] = 0xFFFFFFFF
_MAGIC: Final = b"PENSNAPS"
_BLOCK_MAGIC: Final = b"PSNB"
_FOOTER_MAGIC: Final = b"PSNE"

_MARK: Final = struct.Struct("<4sI")
# kind rows | bytes | place
_BLOCK: Final = struct.Struct("<IIQQ")
# number, dialect and flags, lengths of policy and name; the rest of a queue's row follows
_QUEUE: Final = struct.Struct("<I4xII")
# blocks messages queues live_bytes bytes
_FOOTER: Final = struct.Struct("<QQQQQ")


class BadBlock(ValueError):
    """Bytes that passed their checksum but are not what this version writes."""


class Block:
    """What the header of a block says: `bytes` of payload, `padded` to a multiple of eight."""

    __slots__ = ("bytes", "kind", "padded", "place", "rows")

    def __init__(self, kind: int, rows: int, bytes: int, place: int) -> None:
        self.kind = kind
        self.rows = rows
        self.bytes = bytes
        self.padded: int = bytes + 7 & ~7
        self.place = place


class Footer:
    """How a snapshot ends. `live_bytes`: the rows of its messages and their bodies."""

    __slots__ = ("blocks", "content_bytes", "live_bytes", "messages", "queues")

    def __init__(self, blocks: int, messages: int, queues: int, live_bytes: int, content_bytes: int) -> None:
        self.blocks = blocks
        self.messages = messages
        self.queues = queues
        self.live_bytes = live_bytes
        self.content_bytes = content_bytes


class Rows:
    """The rows of one block in the making, and the heap behind them."""

    def __init__(self, kind: int) -> None:
        self.kind = kind
        self.count: i64 = 0
        self.live_bytes: i64 = 0
        self._rows: BytesWriter = BytesWriter()
        self._heap: BytesWriter = BytesWriter()

    def __len__(self) -> int:
        return len(self._rows) + len(self._heap)

    def payload(self) -> bytes:
        return b"".join((self._rows.getvalue(), self._heap.getvalue()))

    def numbers(self, now_us: i64, next_seq: i64, next_queue_id: i64) -> None:
        self.count += 1
        write_i64_le(self._rows, now_us)
        write_i64_le(self._rows, next_seq)
        write_i64_le(self._rows, next_queue_id)

    def queue(self, what: i64, name: bytes, policy: bytes, counts: list[int]) -> None:
        """`what` packs number, dialect and whether it is paused; `counts` are two times and seven counters."""
        self.count += 1
        write_i64_le(self._rows, what)
        write_i64_le(self._rows, len(policy) | len(name) << 32)
        for count in counts:
            write_i64_le(self._rows, count)
        self._heap.write(name)
        self._heap.write(policy)

    def message(self, message: Message, named: bool) -> None:
        """`named`: its foreign id leads to it, and not to another."""
        self.count += 1
        self.live_bytes += MESSAGE_ROW_BYTES + len(message.body)
        rows = self._rows
        heap = self._heap
        flags: i64 = PARKED_FLAG if message.parked else 0
        if message.old_place:
            flags |= OLD_PLACE_FLAG
        if message.place == LEASED:
            flags |= LEASED_FLAG
        if named:
            flags |= NAMED_FLAG
        sizes: i64 = len(message.body)
        key = message.key
        if key is not None:
            flags |= KEYED_FLAG
            sizes |= i64(len(key)) << 32
            heap.write(key)
        heap.write(message.body)
        if message.origin is not None:
            before: i64 = len(heap)
            write_origin(heap, message.origin)
            sizes |= (len(heap) - before) << 48
        write_i64_le(rows, flags | i64(message.dialect) << 8 | message.queue_id << 32)
        write_i64_le(rows, message.order)
        write_i64_le(rows, message.published_us)
        write_i64_le(rows, message.ready_us)
        write_i64_le(rows, message.expires_us)
        write_i64_le(rows, message.lease_us)
        write_i64_le(rows, message.leased_us)
        write_i64_le(rows, message.first_leased_us)
        write_i64_le(rows, message.until_us)
        write_i64_le(rows, message.holder)
        write_i64_le(rows, message.priority)
        write_i64_le(rows, i64(message.deliveries) | i64(message.failures) << 32)
        write_i64_le(rows, sizes)

    def dedup_id(self, queue_id: i64, dedup_id: bytes, seq: i64, published_us: i64) -> None:
        self.count += 1
        write_i64_le(self._rows, queue_id | i64(len(dedup_id)) << 32)
        write_i64_le(self._rows, seq)
        write_i64_le(self._rows, published_us)
        self._heap.write(dedup_id)

    def mark(self, name: bytes, row: i64) -> None:
        self.count += 1
        write_i64_le(self._rows, len(name))
        write_i64_le(self._rows, row)
        self._heap.write(name)


def encode_header(segment: int, next_fact: int, at_us: int, store_id: bytes) -> bytes:
    return segments.encode_header(segment, next_fact, at_us, store_id, _MAGIC, VERSION)


def decode_header(data: bytes) -> Header | None:
    """`number` is the last segment in it, `first` the first fact that is not, `opened_us` the time of the last."""
    return segments.decode_header(data, _MAGIC)


def seed_of(header: bytes) -> int:
    """What the checksums of a snapshot begin with, so that a block of another one is never taken for its own."""
    return crc32c(header)


def encode_block(seed: int, place: int, rows: Rows) -> bytes:
    payload = rows.payload()
    head = _BLOCK.pack(rows.kind, rows.count, len(payload), place)
    padded = payload + bytes(-len(payload) & 7)
    return b"".join((_MARK.pack(_BLOCK_MAGIC, crc32c(padded, crc32c(head, seed))), head, padded))


def block_at(data: bytes) -> Block | None:
    """The block that claims to begin these bytes; whether it does `block_holds` tells."""
    if len(data) < BLOCK_HEADER_BYTES or not data.startswith(_BLOCK_MAGIC):
        return None
    return Block(*_BLOCK.unpack_from(data, _MARK.size))


def block_holds(head: bytes, padded: bytes, seed: int) -> bool:
    covered = crc32c(padded, crc32c(head[_MARK.size : BLOCK_HEADER_BYTES], seed))
    return bool(_MARK.unpack_from(head)[1] == covered)


def read_messages(count: i64, payload: bytes) -> list[tuple[Message, bool]]:
    """Of a block of messages: each, and whether its foreign id leads to it. Raises BadBlock or BadFact."""
    found: list[tuple[Message, bool]] = []
    heap_at: i64 = count * MESSAGE_ROW_BYTES
    for number in range(count):
        at: i64 = i64(number) * MESSAGE_ROW_BYTES
        what = read_i64_le(payload, at)
        sizes = read_i64_le(payload, at + 96)
        body_at = heap_at + (sizes >> 32 & _U16)
        extra_at = body_at + (sizes & _U32)
        end = extra_at + (sizes >> 48 & _U16)
        message = _read_message(payload, at, what, payload[body_at:extra_at])
        if what & KEYED_FLAG != 0:
            message.key = payload[heap_at:body_at]
        if extra_at != end:
            message.origin = decode_origin(payload[extra_at:end])
        found.append((message, what & NAMED_FLAG != 0))
        heap_at = end
    if heap_at != len(payload):
        raise BadBlock("a block's rows do not fill it")
    return found


def _read_message(payload: bytes, at: i64, what: i64, body: bytes) -> Message:
    published_us, ready_us = read_i64_le(payload, at + 16), read_i64_le(payload, at + 24)
    message = Message(read_i64_le(payload, at + 8), what >> 32 & _U32, body, published_us, ready_us)
    message.parked = what & PARKED_FLAG != 0
    message.old_place = what & OLD_PLACE_FLAG != 0
    message.dialect = u8(what >> 8 & 0xFF)
    message.expires_us = read_i64_le(payload, at + 32)
    message.lease_us = read_i64_le(payload, at + 40)
    message.leased_us = read_i64_le(payload, at + 48)
    message.first_leased_us = read_i64_le(payload, at + 56)
    message.until_us = read_i64_le(payload, at + 64)
    message.holder = read_i64_le(payload, at + 72)
    message.priority = read_i64_le(payload, at + 80)
    counts = read_i64_le(payload, at + 88)
    message.deliveries = i32(counts & _U32)
    message.failures = i32(counts >> 32)
    if what & LEASED_FLAG != 0:
        message.place = LEASED
    return message


def queue_names(count: int, payload: bytes) -> dict[int, bytes]:
    """Of a block of queues: the names by their numbers."""
    found: dict[int, bytes] = {}
    width = ROW_BYTES[QUEUES]
    heap_at = count * width
    for at in range(0, heap_at, width):
        number, policy_bytes, name_bytes = _QUEUE.unpack_from(payload, at)
        found[number] = payload[heap_at : heap_at + name_bytes]
        heap_at += name_bytes + policy_bytes
    return found


def encode_footer(seed: int, footer: Footer) -> bytes:
    rest = _FOOTER.pack(footer.blocks, footer.messages, footer.queues, footer.live_bytes, footer.content_bytes)
    return _MARK.pack(_FOOTER_MAGIC, crc32c(rest, seed)) + rest


def decode_footer(data: bytes, seed: int) -> Footer | None:
    rest = data[_MARK.size : FOOTER_BYTES]
    if not data.startswith(_FOOTER_MAGIC) or len(rest) < _FOOTER.size:
        return None
    if _MARK.unpack_from(data)[1] != crc32c(rest, seed):
        return None
    return Footer(*_FOOTER.unpack(rest))
