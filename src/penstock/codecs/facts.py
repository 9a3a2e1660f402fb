"""Facts as bytes: fixed-width records, then a heap of keys, bodies and extras. docs/journal-format.md draws them.

This module must not decide anything: it writes what it is told and reads what is there.
"""

from __future__ import annotations

import struct
from typing import Final

from librt.strings import BytesWriter, write_i64_le
from mypy_extensions import i64

from penstock.model import facts
from penstock.model.message import Message, Origin

# kind flags dialect reason | queue | message | due_us expires_us lease_us | number | holder | body key extra lengths
RECORD: Final = struct.Struct("<BBBBIqqqqqqIHH")
RECORD_BYTES: Final = 64

# Extras: tag u8, length u16, bytes; in the order of the tags.
_EXTRA: Final = struct.Struct("<BH")
_SIGN: Final = 1 << 63
_I64: Final = struct.Struct("<q")
_U64: Final = struct.Struct("<Q")
_DEDUP_ID, _FOREIGN_ID, _TRACE, _PRINCIPAL, _POSTER, _LABEL, _NOTIFY, _DEAD_OF, _DEAD_FROM = range(1, 10)
_DELIVERIES, _FIRST_LEASED, _MARK, _ROW = range(10, 14)
_WIDTHS: Final = {_POSTER: 8, _LABEL: 8, _NOTIFY: 1, _DEAD_OF: 8, _DELIVERIES: 8, _FIRST_LEASED: 8, _ROW: 8}


class BadFact(ValueError):
    """Bytes that passed their checksum but are no fact this version knows."""


class Fact:
    """One fact, read back. Columns a kind does not use are 0 or empty."""

    __slots__ = (
        "at_us",
        "body",
        "dialect",
        "due_us",
        "expires_us",
        "extra",
        "flags",
        "holder",
        "key",
        "kind",
        "lease_us",
        "message",
        "number",
        "queue_id",
        "reason",
        "seq",
    )

    seq: i64  # the fact's own number
    at_us: i64
    kind: i64
    flags: i64
    dialect: i64
    reason: i64
    queue_id: i64
    message: i64
    due_us: i64
    expires_us: i64
    lease_us: i64
    number: i64  # published: priority; afterwards: deliveries so far
    holder: i64
    body: bytes
    key: bytes | None
    extra: bytes


class FactBatch:
    """The facts of one instant, in order, as bytes: what one commit writes."""

    def __init__(self) -> None:
        self.count: i64 = 0
        self._records: BytesWriter = BytesWriter()
        self._heap: BytesWriter = BytesWriter()

    def clear(self) -> None:
        self.count = 0
        self._records.truncate(0)
        self._heap.truncate(0)

    def payload(self) -> bytes:
        """Records, then heap; the heap is padded with zeros to a multiple of eight bytes."""
        return b"".join((self._records.getvalue(), self._heap.getvalue(), bytes(-self.heap_bytes() & 7)))

    def heap_bytes(self) -> int:
        return len(self._heap)

    def published(self, message: Message) -> None:
        key = message.key
        flags: i64 = facts.PARKED_FLAG if message.parked else 0
        key_bytes: i64 = 0
        heap = self._heap
        if key is not None:
            flags |= facts.KEYED_FLAG
            key_bytes = len(key)
            heap.write(key)
        heap.write(message.body)
        extra_bytes: i64 = 0
        if message.origin is not None:
            extra_bytes = -len(heap)
            write_origin(heap, message.origin)
            extra_bytes += len(heap)
        self._record(
            facts.PUBLISHED | flags << 8 | i64(message.dialect) << 16 | message.queue_id << 32,
            message.order,
            message.ready_us,
            message.expires_us,
            message.lease_us,
            message.priority,
            0,
            len(message.body) | key_bytes << 32 | extra_bytes << 48,
        )

    def moved(
        self,
        kind: i64,
        message: Message,
        dialect: i64,
        reason: i64,
        flags: i64,
        due_us: i64,
        lease_us: i64,
        holder: i64,
    ) -> None:
        """Any later turn of a message's life."""
        self._record(
            kind | flags << 8 | dialect << 16 | reason << 24 | message.queue_id << 32,
            message.order,
            due_us,
            0,
            lease_us,
            i64(message.deliveries),
            holder,
            0,
        )

    def queue_changed(self, kind: i64, queue_id: i64, dialect: i64, name: bytes, policy: bytes) -> None:
        """Declared, set, removed, paused, resumed: the name is the key, the policy the body."""
        self._heap.write(name)
        self._heap.write(policy)
        lengths: i64 = len(policy) | len(name) << 32
        self._record(kind | dialect << 16 | queue_id << 32, 0, 0, 0, 0, 0, 0, lengths)

    def server_changed(self, kind: i64, next_seq: i64, note: bytes) -> None:
        """Started or woken: `message` holds the first message number that may be given out from here on."""
        self._heap.write(note)
        self._record(kind, next_seq, 0, 0, 0, 0, 0, len(note))

    def _record(
        self, what: i64, message: i64, due_us: i64, expires_us: i64, lease_us: i64, number: i64, holder: i64, sizes: i64
    ) -> None:
        """Eight words. The first packs kind, flags, dialect, reason and queue, the last the lengths in the heap."""
        self.count += 1
        records = self._records
        write_i64_le(records, what)
        write_i64_le(records, message)
        write_i64_le(records, due_us)
        write_i64_le(records, expires_us)
        write_i64_le(records, lease_us)
        write_i64_le(records, number)
        write_i64_le(records, holder)
        write_i64_le(records, sizes)


def read_facts(payload: bytes, count: int, heap_bytes: int, first: int, at_us: int) -> list[Fact]:
    """The facts of one batch's payload. Raises BadFact where lengths do not add up."""
    found: list[Fact] = []
    heap_at = count * RECORD_BYTES
    heap_end = heap_at + heap_bytes
    if heap_end > len(payload):
        raise BadFact("the heap is shorter than its header says")
    for row in RECORD.iter_unpack(memoryview(payload)[:heap_at]):
        fact = Fact()
        fact.seq = first + len(found)
        fact.at_us = at_us
        (
            fact.kind,
            fact.flags,
            fact.dialect,
            fact.reason,
            fact.queue_id,
            fact.message,
            fact.due_us,
            fact.expires_us,
            fact.lease_us,
            fact.number,
            fact.holder,
            body_bytes,
            key_bytes,
            extra_bytes,
        ) = row
        body_at = heap_at + key_bytes
        extra_at = body_at + body_bytes
        fact.key = payload[heap_at:body_at] if key_bytes or fact.flags & facts.KEYED_FLAG else None
        fact.body = payload[body_at:extra_at]
        heap_at = extra_at + extra_bytes
        fact.extra = payload[extra_at:heap_at]
        if heap_at > heap_end:
            raise BadFact(f"fact {fact.seq} reaches beyond the heap")
        found.append(fact)
    if heap_at != heap_end:
        raise BadFact("the heap is longer than its facts")
    return found


def write_origin(out: BytesWriter, origin: Origin) -> None:
    """Only what is said; of texts the empty one is said only where it is a name."""
    _write_text(out, _DEDUP_ID, origin.dedup_id)
    _write_text(out, _FOREIGN_ID, origin.foreign_id)
    _write_text(out, _TRACE, origin.trace)
    _write_text(out, _PRINCIPAL, origin.principal)
    _write_number(out, _POSTER, origin.poster)
    _write_number(out, _LABEL, origin.label)
    if origin.notify:
        _write_extra(out, _NOTIFY, 1)
        out.append(origin.notify)
    _write_number(out, _DEAD_OF, origin.dead_of)
    if origin.dead_from is not None:
        _write_extra(out, _DEAD_FROM, len(origin.dead_from))
        out.write(origin.dead_from)
    _write_number(out, _DELIVERIES, origin.deliveries)
    _write_number(out, _FIRST_LEASED, origin.first_leased_us)
    _write_text(out, _MARK, origin.mark)
    _write_number(out, _ROW, origin.row)


def _write_text(out: BytesWriter, tag: i64, value: bytes) -> None:
    if value:
        _write_extra(out, tag, len(value))
        out.write(value)


def _write_number(out: BytesWriter, tag: i64, value: int) -> None:
    """Signed or, above what that holds, unsigned: the reader of the tag knows which."""
    if value:
        _write_extra(out, tag, 8)
        write_i64_le(out, value if value >> 63 <= 0 else value - 2 * _SIGN)


def _write_extra(out: BytesWriter, tag: i64, length: i64) -> None:
    out.append(tag)
    out.append(length & 0xFF)
    out.append(length >> 8)


def decode_origin(extra: bytes) -> Origin | None:
    """None for no extra. Tags of a later version are passed over."""
    if not extra:
        return None
    origin = Origin()
    at = 0
    while at < len(extra):
        if at + 3 > len(extra):
            raise BadFact("an extra is cut short")
        tag, length = _EXTRA.unpack_from(extra, at)
        at += 3
        value = extra[at : at + length]
        at += length
        if len(value) != length:
            raise BadFact("an extra is cut short")
        if length != _WIDTHS.get(tag, length):
            raise BadFact(f"an extra of {length} bytes has the tag {tag}")
        _note(origin, tag, value)
    return origin


def _note(origin: Origin, tag: int, value: bytes) -> None:
    if tag == _DEDUP_ID:
        origin.dedup_id = value
    elif tag == _FOREIGN_ID:
        origin.foreign_id = value
    elif tag == _TRACE:
        origin.trace = value
    elif tag == _PRINCIPAL:
        origin.principal = value
    elif tag == _POSTER:
        origin.poster = _I64.unpack(value)[0]
    elif tag == _LABEL:
        origin.label = _U64.unpack(value)[0]
    elif tag == _NOTIFY:
        origin.notify = value[0]
    elif tag == _DEAD_OF:
        origin.dead_of = _I64.unpack(value)[0]
    elif tag == _DEAD_FROM:
        origin.dead_from = value
    elif tag == _DELIVERIES:
        origin.deliveries = _I64.unpack(value)[0]
    elif tag == _FIRST_LEASED:
        origin.first_leased_us = _I64.unpack(value)[0]
    elif tag == _MARK:
        origin.mark = value
    elif tag == _ROW:
        origin.row = _I64.unpack(value)[0]
