"""Making a damaged journal one that a server accepts, at a price that is known before it is paid.

Law: what can be read up to the first missing fact is kept. What follows cannot be replayed without it and leaves the
journal: the files are kept as `*.damaged`, their facts, as far as readable, written to `*.salvaged.jsonl`.
After each step the journal is still damaged or already sound, so a repair that was killed is simply done again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from penstock.codecs.facts import BadFact, Fact, read_facts
from penstock.codecs.segments import (
    HEADER_BYTES,
    STORE_ID_AT,
    STORE_ID_BYTES,
    VERSION,
    batch_at,
    batches_after,
    decode_header,
    encode_header,
    footer_after,
    payload_of,
    seed_of,
)
from penstock.journal.check import fact_row
from penstock.journal.disk import Disk, put_in_place
from penstock.journal.segment import (
    FRESH_NAME,
    Damage,
    JournalDamaged,
    SegmentReader,
    segment_name,
    segment_numbers,
    segment_readers,
)
from penstock.journal.snapshot import foundation


class Loss:
    """What one segment gives up: its bytes from `offset` to the zeros at its end; all of it where that is 0."""

    __slots__ = ("bytes", "facts", "file", "first", "footer", "header", "last", "messages", "offset", "seed")

    def __init__(self, file: str, offset: int, lost: int, seed: int) -> None:
        self.file = file
        self.offset = offset
        self.bytes = lost
        self.seed = seed
        self.first: int = 0  # numbers of the facts given up, as far as known; 0: none is known
        self.last: int = 0
        self.facts: int = 0  # how many of them are readable and will be salvaged
        self.messages: int = 0  # of a snapshot, with its first loss: how many that lived are in none of what is kept
        self.header: bytes = b""  # what is kept is put between these two
        self.footer: bytes = b""


class RepairPlan:
    """What is wrong, and exactly what would be given up. Without damage there is nothing to do."""

    __slots__ = ("damages", "losses")

    def __init__(self) -> None:
        self.damages: list[Damage] = []
        self.losses: list[Loss] = []


def plan_repair(disk: Disk) -> RepairPlan:
    """Changes nothing.

    Raises JournalDamaged for a journal of a later version, which is none of ours to repair, and for a snapshot that is
    damaged and that nothing can take the place of.
    """
    plan = RepairPlan()
    base = foundation(disk, b"")
    store_id = _store_id(disk)
    for damage in base.damages:
        plan.damages.append(damage)
        plan.losses.append(Loss(damage.file, 0, 0, 0))
    _plan_spent(disk, base.number, plan)
    gap = False
    for reader in segment_readers(disk, b"", shared=False, after=base.number, first=base.next_fact):
        reader.check()
        if reader.damage is not None:
            _refuse_later_version(reader)
            plan.damages.append(reader.damage)
        if reader.missing:
            gap = True
        elif gap:
            plan.losses.append(_whole_loss(reader, store_id))
        elif reader.damage is not None:
            mended = _with_header(reader, store_id)
            gap = mended.at == 0 or mended.next_fact != _first_of(disk, reader.number + 1)
            keeps = mended.at > HEADER_BYTES or not gap
            plan.losses.append(_tail_loss(mended, gap) if keeps else _whole_loss(reader, store_id))
    return plan


def repair(disk: Disk, plan: RepairPlan) -> None:
    """Does what was planned. Nobody else may have the journal open."""
    for loss in plan.losses:
        if loss.offset:
            data = disk.read(loss.file)
            keep_beside(disk, loss.file, "damaged", data)
            _salvage(disk, loss, data)
    for loss in plan.losses:
        if not loss.offset:
            _salvage(disk, loss, disk.read(loss.file))
            disk.rename(loss.file, next(name for name in _names(loss.file, "damaged") if name not in disk.names()))
            disk.sync_names()
    for loss in plan.losses:
        if loss.offset:
            kept = disk.read(loss.file)[HEADER_BYTES : loss.offset]
            put_in_place(disk, FRESH_NAME, loss.file, loss.header + kept + loss.footer)


# -- planning


def _plan_spent(disk: Disk, base: int, plan: RepairPlan) -> None:
    """Segments that a snapshot has replaced: one that is damaged leaves, and no message with it."""
    for number in segment_numbers(disk):
        if number <= base:
            reader = SegmentReader(disk.read(segment_name(number)), number, 0, b"", last=False)
            reader.check()
            if reader.damage is not None:
                plan.damages.append(reader.damage)
                plan.losses.append(_whole_loss(reader, b""))


def _tail_loss(reader: SegmentReader, gap: bool) -> Loss:
    """The segment is kept up to where it could be read; if the next one goes on from there, no fact is lost."""
    lost = 0 if reader.footer else reader.written - reader.at
    loss = Loss(reader.name, reader.at, max(0, lost), reader.seed)
    copy = reader.sealed_copy(reader.last_at_us)
    loss.header, loss.footer = copy[:HEADER_BYTES], copy[reader.at :]
    if gap and reader.damage:
        _count(loss, reader.data, reader.next_fact)
    return loss


def _whole_loss(reader: SegmentReader, store_id: bytes) -> Loss:
    header = reader.header
    seed = seed_of(store_id if header is None else header.store_id)
    loss = Loss(reader.name, 0, len(reader.data), seed)
    _count(loss, reader.data, 0 if header is None else header.first)
    return loss


def _count(loss: Loss, data: bytes, first: int) -> None:
    numbers = [fact.seq for fact in _readable(loss, data)]
    footer = footer_after(data, loss.offset - 1, loss.seed)
    loss.facts = len(numbers)
    loss.first = first or min(numbers, default=0)
    loss.last = max(numbers, default=0) if footer is None else footer.next_fact - 1


def _with_header(reader: SegmentReader, store_id: bytes) -> SegmentReader:
    """The same segment with its header made anew, where only that is lost."""
    if reader.header is not None or reader.next_fact == 0:
        return reader
    batch = batch_at(reader.data, HEADER_BYTES)
    header = encode_header(reader.number, reader.next_fact, batch.at_us if batch else 0, store_id)
    data = header + reader.data[HEADER_BYTES:]
    mended = SegmentReader(data, reader.number, reader.next_fact, store_id, reader.last)
    mended.check()
    return mended


def _refuse_later_version(reader: SegmentReader) -> None:
    if reader.damage is not None and reader.header is not None and reader.header.version > VERSION:
        raise JournalDamaged(reader.damage)


def _store_id(disk: Disk) -> bytes:
    """From the first header that can be read; else the bytes where the first segment has it."""
    guess = bytes(STORE_ID_BYTES)
    for number in reversed(segment_numbers(disk)):
        data = disk.read(segment_name(number))
        header = decode_header(data)
        if header is not None:
            return header.store_id
        guess = data[STORE_ID_AT : STORE_ID_AT + STORE_ID_BYTES].ljust(STORE_ID_BYTES, b"\0")
    return guess


def _first_of(disk: Disk, number: int) -> int:
    """The fact that a segment begins with; 0: it is not there, or does not say."""
    header = decode_header(disk.read(segment_name(number))) if number in segment_numbers(disk) else None
    return 0 if header is None else header.first


# -- keeping


def _readable(loss: Loss, data: bytes) -> Iterator[Fact]:
    for batch in batches_after(data, loss.offset - 1, 0, loss.seed):
        try:
            yield from read_facts(payload_of(data, batch), batch.count, batch.heap_bytes, batch.first, batch.at_us)
        except BadFact:
            continue


def _salvage(disk: Disk, loss: Loss, data: bytes) -> None:
    if loss.facts:
        keep_beside(disk, loss.file, "salvaged.jsonl", salvage_rows(_readable(loss, data)))


def salvage_rows(found: Iterable[Fact]) -> bytes:
    return b"".join([msgspec.json.encode(fact_row(fact)) + b"\n" for fact in found])


def keep_beside(disk: Disk, file: str, suffix: str, content: bytes) -> None:
    """Never in the place of what an earlier repair kept; a repair that is done again finds its own."""
    for name in _names(file, suffix):
        if name not in disk.names():
            put_in_place(disk, FRESH_NAME, name, content)
            return
        if disk.read(name) == content:
            return


def _names(file: str, suffix: str) -> Iterator[str]:
    yield f"{file}.{suffix}"
    number = 2
    while True:
        yield f"{file}.{number}.{suffix}"
        number += 1
