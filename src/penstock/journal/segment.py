"""Reading segments: their batches in order, then precisely where and why they ended.

This module must not write, nor decide what is to be done about damage.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from penstock.codecs.facts import BadFact, Fact, read_facts
from penstock.codecs.segments import (
    FOOTER_BYTES,
    HEADER_BYTES,
    VERSION,
    Batch,
    Footer,
    Header,
    batch_at,
    batch_holds,
    batches_after,
    decode_header,
    encode_footer,
    footer_after,
    footer_at,
    payload_of,
    seed_of,
    why_unreadable,
)
from penstock.journal.disk import Disk
from penstock.model.facts import FACT_NAMES

# Files that are not yet part of the journal; a server that starts removes what an earlier one left of them.
SPARE_NAME: Final = "spare.journal"
FRESH_NAME: Final = "fresh.journal"
TEMPORARY_NAMES: Final = (SPARE_NAME, FRESH_NAME)

_SUFFIX: Final = ".journal"
_DIGITS: Final = 20
_ZEROS: Final = bytes(4096)


class Damage:
    """One place that cannot be what was written there; or, if `torn`, the traces of a write that was never promised."""

    __slots__ = ("expected", "file", "offset", "reason", "torn")

    def __init__(self, file: str, offset: int, expected: int, reason: str, torn: bool) -> None:
        self.file = file
        self.offset = offset
        self.expected = expected  # the number of the fact that should stand here; 0: none, it is a snapshot
        self.reason = reason
        self.torn = torn

    def __str__(self) -> str:
        where = f", where fact {self.expected} is expected" if self.expected else ""
        return f"{self.file}, byte {self.offset}{where}: {self.reason}"


class JournalDamaged(Exception):
    """The journal is not what was written; nothing may be built on it."""

    def __init__(self, damage: Damage) -> None:
        super().__init__(str(damage))
        self.damage = damage


class SegmentReader:
    """One segment's bytes. `batches` gives what can be read; after it the attributes tell how the segment ended.

    `first` and `store_id` are what must be found in the header; 0 and empty accept what is there.
    """

    def __init__(self, data: bytes, number: int, first: int, store_id: bytes, last: bool) -> None:
        self.data = data
        self.number = number
        self.name: str = segment_name(number)
        self.last = last
        self.written: int = written_end(data)
        self.at: int = 0  # the end of what was read
        self.next_fact = first
        self.last_at_us: int = 0
        self.header: Header | None = decode_header(data)
        self.footer: Footer | None = None
        self.damage: Damage | None = None
        self.missing: bool = False
        self.unused: bool = False  # the power went before anything could stand in it; the next takes its place
        self.cut_bytes: int = 0
        self.given_up_facts: int = 0  # readable, but behind a hole
        self.seed: int = 0
        if self.header is None:
            self._no_header()
        else:
            self._check_header(self.header, first, store_id)

    def batches(self) -> Iterator[Batch]:
        if self.at == 0:
            return
        while True:
            batch = batch_at(self.data, self.at)
            if batch is None or not batch_holds(self.data, batch, self.seed):
                break
            if batch.first != self.next_fact:
                self.damaged(f"the batch here begins with fact {batch.first}")
                return
            yield batch
            self.at = batch.end
            self.next_fact += batch.count
            self.last_at_us = batch.at_us
        self._end()

    def check(self) -> None:
        """Reads every byte to the end, the facts included."""
        try:
            for batch in self.batches():
                facts_of(self.data, batch)
        except BadFact as error:
            self.damaged(str(error))

    def damaged(self, reason: str) -> JournalDamaged:
        self.damage = Damage(self.name, self.at, self.next_fact, reason, False)
        return JournalDamaged(self.damage)

    @property
    def first(self) -> int:
        return self.next_fact if self.header is None else self.header.first

    @property
    def whole(self) -> bool:
        """Sealed, and cut after its footer: which is done once all of it is synced, so that nobody need do it again."""
        return self.footer is not None and len(self.data) == self.at + FOOTER_BYTES

    def sealed_copy(self, sealed_us: int) -> bytes:
        """What was read of it, as a whole segment."""
        facts = self.next_fact - self.first
        return self.data[: self.at] + encode_footer(
            self.seed, self.next_fact, sealed_us, self.next_fact, facts, self.at
        )

    def _no_header(self) -> None:
        # A header is synced before its segment gets a name: behind a torn one nothing can have been written.
        if self.last and self.written <= HEADER_BYTES:
            self.unused = True
            self.cut_bytes = self.written
        else:
            self.damaged("the segment's header cannot be read")

    def _check_header(self, header: Header, first: int, store_id: bytes) -> None:
        for wrong, reason in (
            (header.version != VERSION or header.flags != 0, f"it is of version {header.version}, not {VERSION}"),
            (header.number != self.number, f"its header says that it is segment {header.number}"),
            (store_id not in (b"", header.store_id), f"it is of another store, {header.store_id.hex()}"),
            (first not in (0, header.first), f"it begins with fact {header.first}"),
        ):
            if wrong:
                self.damaged(reason)
                return
        self.seed = seed_of(header.store_id)
        self.next_fact = header.first
        self.at = HEADER_BYTES

    def _end(self) -> None:
        footer = footer_at(self.data, self.at, self.seed)
        if footer is not None:
            self._check_footer(footer)
        elif self.at < self.written:
            self._unreadable(why_unreadable(self.data, self.at))
        elif not self.last:
            self.damaged("the segment ends without a footer")

    def _check_footer(self, footer: Footer) -> None:
        found = (self.next_fact, self.next_fact - self.first, self.at)
        if (footer.next_fact, footer.facts, footer.content_bytes) != found:
            self.damaged("the footer does not agree with what was read")
        elif self.at + FOOTER_BYTES < self.written:
            self.damaged("bytes follow the footer")
        else:
            self.footer = footer

    def _unreadable(self, reason: str) -> None:
        """A torn tail, unless it is not the last segment, or what stands behind proves that all was well here once."""
        if not self.last:
            self.damaged(reason)
            return
        if footer_after(self.data, self.at, self.seed) is not None:
            self.damaged(f"{reason}, and yet the segment was sealed")
            return
        for batch in batches_after(self.data, self.at, self.next_fact, self.seed):
            if batch.synced > self.next_fact:
                self.damaged(f"{reason}, and yet facts up to {batch.synced - 1} were synced")
                return
            self.given_up_facts += batch.count
        self.cut_bytes = self.written - self.at


def facts_of(data: bytes, batch: Batch) -> list[Fact]:
    found = read_facts(payload_of(data, batch), batch.count, batch.heap_bytes, batch.first, batch.at_us)
    for fact in found:
        if fact.kind not in FACT_NAMES:
            raise BadFact(f"fact {fact.seq} is of the unknown kind {fact.kind}")
    return found


def written_end(data: bytes) -> int:
    """Where the zeros at the end begin."""
    end = len(data)
    while end >= len(_ZEROS) and data.endswith(_ZEROS, 0, end):
        end -= len(_ZEROS)
    start = max(0, end - len(_ZEROS))
    return start + len(data[start:end].rstrip(b"\0"))


def segment_name(number: int) -> str:
    return f"{number:0{_DIGITS}}{_SUFFIX}"


def segment_numbers(disk: Disk) -> list[int]:
    """The numbers of the segments that are there, in order."""
    stems = [name.removesuffix(_SUFFIX) for name in disk.names() if name.endswith(_SUFFIX)]
    return sorted(int(stem) for stem in stems if len(stem) == _DIGITS and stem.isdecimal())


def segment_readers(
    disk: Disk, store_id: bytes, shared: bool, after: int = 0, first: int = 1
) -> Iterator[SegmentReader]:
    """A reader for each segment, to be done with before the next is asked for; one without bytes stands for a gap.

    An empty `store_id` accepts whichever comes first; `shared`: a server may be writing, and its archivist removing.
    `after`, `first`: the segment that a snapshot reaches to, and the fact that goes on from it; 0: whichever.
    """
    numbers = [number for number in segment_numbers(disk) if number > after]
    wanted = after + 1
    for number in numbers:
        if number != wanted:
            yield _missing(wanted, first)
            first = 0
        last = number == numbers[-1]
        data = _read_shared(disk, number, last) if shared else disk.read(segment_name(number))
        if data is None:
            first, wanted = 0, number + 1
            continue
        reader = SegmentReader(data, number, first, store_id, last)
        data = b""  # the reader alone has it: one segment in memory at a time
        yield reader
        reader.data = b""
        if reader.header is not None:
            store_id = store_id or reader.header.store_id
        first = 0 if reader.damage else reader.next_fact
        wanted = number + 1


def _missing(number: int, first: int) -> SegmentReader:
    reader = SegmentReader(b"", number, first, b"", False)
    reader.missing = True
    reader.damaged("the segment is missing")
    return reader


def _read_shared(disk: Disk, number: int, last: bool) -> bytes | None:
    """None: it has gone since its name was read, for a snapshot has taken it in.

    Of the last, what stood there at one moment: a second look shows whole what the first may have seen in the making.
    """
    name = segment_name(number)
    try:
        data = disk.read(name)
        if not last:
            return data
        seen = written_end(data)
        data = disk.read(name)
        return data[:seen].ljust(len(data), b"\0")
    except FileNotFoundError:
        return None
