"""Snapshots as files: written whole or not at all, read back before they count, and found again at a start.

What lives in a block is not known here. A snapshot that has its name was read back once; what it has since become is
checked, every byte, before anything is built on it.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterable, Iterator
from typing import Final

from penstock.codecs.segments import Header
from penstock.codecs.snapshots import (
    BLOCK_HEADER_BYTES,
    FOOTER_BYTES,
    HEADER_BYTES,
    MESSAGES,
    QUEUES,
    VERSION,
    Block,
    Footer,
    Rows,
    block_at,
    block_holds,
    decode_footer,
    decode_header,
    encode_block,
    encode_footer,
    encode_header,
    queue_names,
    seed_of,
)
from penstock.journal.disk import Disk
from penstock.journal.segment import Damage, JournalDamaged, segment_numbers

_SUFFIX: Final = ".snapshot"
_DIGITS: Final = 20


class SnapshotReader:
    """One snapshot. `blocks` gives what can be read; after it the attributes tell whether that was all."""

    def __init__(self, disk: Disk, number: int, store_id: bytes, name: str = "") -> None:
        """An empty `store_id` accepts whichever is there; `name`: it does not have its own yet, and is digested."""
        self._disk = disk
        self._digests: bool = name != ""
        self._digest = hashlib.blake2b()
        self.number = number
        self.name: str = name or snapshot_name(number)
        self.bytes: int = disk.size(self.name)
        self.at: int = 0  # the end of what was read
        self.rows: dict[int, int] = {}  # read, by kind of block
        self.damage: Damage | None = None
        self.footer: Footer | None = None
        head = self._read(HEADER_BYTES)
        self._note(head)
        self.seed: int = seed_of(head)
        self.header: Header | None = decode_header(head)
        if self.header is None:
            self.damaged("the snapshot's header cannot be read")
        else:
            self._check_header(self.header, store_id)

    @property
    def next_fact(self) -> int:
        return 0 if self.header is None else self.header.first

    @property
    def at_us(self) -> int:
        return 0 if self.header is None else self.header.opened_us

    def blocks(self) -> Iterator[tuple[Block, bytes]]:
        """Each with its payload. Stops where one cannot be read, and `damage` says why."""
        place = 0
        while self.damage is None:
            head = self._read(BLOCK_HEADER_BYTES)
            block = block_at(head)
            if block is None:
                self.at -= len(head)
                self._end(place)
                return
            padded = self._payload(head, block, place)
            if padded is None:
                return
            self._note(head)
            self._note(padded)
            self.rows[block.kind] = self.rows.get(block.kind, 0) + block.rows
            yield block, padded[: block.bytes]
            place += 1

    def check(self) -> None:
        """Reads every byte to the end; then it can be read once more from the beginning."""
        for _ in self.blocks():
            pass
        self.at = HEADER_BYTES
        self.rows = {}

    def queue_names(self) -> dict[int, bytes]:
        """By their numbers, of one that was checked."""
        found: dict[int, bytes] = {}
        for block, payload in self.blocks():
            if block.kind == QUEUES:
                found.update(queue_names(block.rows, payload))
        return found

    def digest(self) -> bytes:
        """Of every byte that `check` has read."""
        return self._digest.digest()

    def damaged(self, reason: str) -> JournalDamaged:
        self.damage = Damage(self.name, self.at, 0, reason, False)
        return JournalDamaged(self.damage)

    def _read(self, size: int) -> bytes:
        data = self._disk.read_part(self.name, self.at, size)
        self.at += len(data)
        return data

    def _note(self, data: bytes) -> None:
        if self._digests:
            self._digest.update(data)

    def _payload(self, head: bytes, block: Block, place: int) -> bytes | None:
        begin = self.at - len(head)
        if self.at + block.padded > self.bytes:
            self.at = begin
            self.damaged("the block here reaches beyond the end of the file")
            return None
        padded = self._read(block.padded)
        if not block_holds(head, padded, self.seed) or block.place != place:
            self.at = begin
            self.damaged("the checksum of the block is wrong")
            return None
        return padded

    def _check_header(self, header: Header, store_id: bytes) -> None:
        for wrong, reason in (
            (header.version != VERSION or header.flags != 0, f"it is of version {header.version}, not {VERSION}"),
            (header.number != self.number, f"its header says that it is snapshot {header.number}"),
            (store_id not in (b"", header.store_id), f"it is of another store, {header.store_id.hex()}"),
        ):
            if wrong:
                self.damaged(reason)
                return

    def _end(self, blocks: int) -> None:
        data = self._disk.read_part(self.name, self.at, FOOTER_BYTES)
        self._note(data)
        footer = decode_footer(data, self.seed)
        if footer is None:
            self.damaged("neither a block nor a footer begins here")
        elif (footer.blocks, footer.content_bytes) != (blocks, self.at) or self.at + FOOTER_BYTES != self.bytes:
            self.damaged("the footer does not agree with what was read")
        else:
            self.footer = footer


class Foundation:
    """What the segments go on from: the newest snapshot that is whole, or nothing, which is before the first fact."""

    __slots__ = ("damages", "snapshot")

    def __init__(self, snapshot: SnapshotReader | None, damages: list[Damage]) -> None:
        self.snapshot = snapshot
        self.damages = damages  # of newer snapshots, that could not be used

    @property
    def number(self) -> int:
        """The last segment in it."""
        return 0 if self.snapshot is None else self.snapshot.number

    @property
    def next_fact(self) -> int:
        return 1 if self.snapshot is None else self.snapshot.next_fact

    @property
    def at_us(self) -> int:
        return 0 if self.snapshot is None else self.snapshot.at_us


def foundation(disk: Disk, store_id: bytes) -> Foundation:
    """Raises JournalDamaged where a snapshot is damaged and what it was made from is no longer there."""
    found = newest_whole(disk, store_id)
    if found.damages and not _is_replaceable(disk, found):
        raise JournalDamaged(found.damages[0])
    return found


def reach(disk: Disk) -> int:
    """The last segment that need not be there: the newest snapshot, be it whole or not, has it, and nothing else does.

    Raises JournalDamaged for a snapshot of a later version.
    """
    found = newest_whole(disk, b"")
    return found.number if _is_replaceable(disk, found) else snapshot_numbers(disk)[-1]


def is_founded(disk: Disk) -> bool:
    """There is something to start from. Raises JournalDamaged for a snapshot of a later version."""
    return _is_replaceable(disk, newest_whole(disk, b""))


def _is_replaceable(disk: Disk, found: Foundation) -> bool:
    """What newer snapshots that are damaged were made from is still there."""
    newest = snapshot_numbers(disk)[-1] if found.damages else 0
    return set(segment_numbers(disk)).issuperset(range(found.number + 1, newest + 1))


def newest_whole(disk: Disk, store_id: bytes) -> Foundation:
    """Whatever segments are there. Raises JournalDamaged for a snapshot of a later version."""
    damages: list[Damage] = []
    for number in reversed(snapshot_numbers(disk)):
        reader = SnapshotReader(disk, number, store_id)
        reader.check()
        if reader.damage is None:
            return Foundation(reader, damages)
        if reader.header is not None and reader.header.version > VERSION:
            raise JournalDamaged(reader.damage)
        damages.append(reader.damage)
    return Foundation(None, damages)


def write_snapshot(disk: Disk, header: Header, pid: int, blocks: Iterable[Rows]) -> SnapshotReader:
    """As it was read back. It gets its name once all of it was synced and found the same. Raises OSError."""
    temporary = f"{snapshot_name(header.number)}.{pid}"
    if temporary in disk.names():
        disk.remove(temporary)
    try:
        digest = _write(disk, temporary, header, blocks)
        back = SnapshotReader(disk, header.number, header.store_id, temporary)
        back.check()
        if back.damage is not None or back.digest() != digest:
            raise OSError(errno.EIO, f"{temporary} was not read back as it was written")
    except OSError:
        remove_leftovers(disk)
        raise
    disk.rename(temporary, snapshot_name(header.number))
    disk.sync_names()
    return back


def remove_leftovers(disk: Disk) -> None:
    """What was left unfinished. Nobody else may be at work."""
    for name in disk.names():
        if is_unfinished(name):
            disk.remove(name)


def snapshot_name(number: int) -> str:
    return f"{number:0{_DIGITS}}{_SUFFIX}"


def snapshot_numbers(disk: Disk) -> list[int]:
    """The numbers of the snapshots that are there, in order."""
    stems = [name.removesuffix(_SUFFIX) for name in disk.names() if name.endswith(_SUFFIX)]
    return sorted(int(stem) for stem in stems if len(stem) == _DIGITS and stem.isdecimal())


def is_unfinished(name: str) -> bool:
    stem, _, pid = name.rpartition(".")
    return stem.endswith(_SUFFIX) and pid.isdecimal()


def _write(disk: Disk, name: str, header: Header, blocks: Iterable[Rows]) -> bytes:
    """A digest of every byte."""
    head = encode_header(header.number, header.first, header.opened_us, header.store_id)
    digest = hashlib.blake2b()
    handle = disk.create(name, 0)
    try:
        at = 0
        for piece in _pieces(head, blocks):
            disk.write(handle, at, piece)
            digest.update(piece)
            at += len(piece)
        disk.sync(handle)
        disk.doubt(handle)
    finally:
        disk.close(handle)
    return digest.digest()


def _pieces(head: bytes, blocks: Iterable[Rows]) -> Iterator[bytes]:
    """Header, blocks that are not empty, footer."""
    seed = seed_of(head)
    yield head
    footer = Footer(0, 0, 0, 0, len(head))
    for rows in blocks:
        if rows.count:
            block = encode_block(seed, footer.blocks, rows)
            yield block
            _count(footer, rows, len(block))
    yield encode_footer(seed, footer)


def _count(footer: Footer, rows: Rows, size: int) -> None:
    footer.blocks += 1
    footer.messages += rows.count if rows.kind == MESSAGES else 0
    footer.queues += rows.count if rows.kind == QUEUES else 0
    footer.live_bytes += rows.live_bytes
    footer.content_bytes += size
