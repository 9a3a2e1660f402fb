"""Writing the journal: batches appended to segments of zeros, synced when asked, sealed when full.

It must not read, and must not go on after a failure: once an operation on the disk has failed, nobody can say what is
there, so every later call raises JournalDead.
"""

from __future__ import annotations

import errno
import threading
import time
from typing import Final

from mypy_extensions import i64

from penstock.codecs.facts import FactBatch
from penstock.codecs.segments import FOOTER_BYTES, HEADER_BYTES, encode_batch, encode_footer, encode_header, seed_of
from penstock.journal.disk import Disk
from penstock.journal.segment import FRESH_NAME, SPARE_NAME, segment_name
from penstock.model.limits import SEGMENT_BYTES

_NONE: Final = -1
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
_SPARE_LEAST: Final[i64] = 4_096
ROOM_LEAST: Final[i64] = 1 << 20  # no segment is made smaller, where they may be this large
# Zeros that were written beforehand make a sync a third cheaper; written for nothing, they cost more than all else.
# They pay where no more than this is written, on the average, from one sync to the next.
_OFTEN_BYTES: Final[i64] = 256 << 10

# What stands around the batches. At least a byte stays behind the footer until it is cut off: a segment that ends with
# its footer is one that was synced.
_AROUND: Final = HEADER_BYTES + FOOTER_BYTES + 1


class JournalDead(Exception):
    """An operation on the disk failed, for good: nothing may be acknowledged any more."""


class SyncTicket:
    """One sync that may run on any thread. The first to call `run` does it, whoever else calls it waits for it."""

    def __init__(self, disk: Disk, handle: int, reach: i64) -> None:
        self._disk = disk
        self._handle = handle
        self._lock = threading.Lock()
        self._done: bool = False
        self.reach = reach  # facts below this are synced when it is done
        self.took_us: i64 = 0
        self.error: OSError | None = None

    def run(self) -> None:
        with self._lock:
            if self._done:
                return
            began = time.perf_counter_ns()
            try:
                self._disk.sync(self._handle)
            except OSError as error:
                self.error = error
            self.took_us = (time.perf_counter_ns() - began) // 1_000
            self._done = True


class Journal:
    """The open end of the journal. All but `prepare_spare` and a ticket's `run` belong to one thread."""

    def __init__(
        self,
        disk: Disk,
        store_id: bytes,
        segment: int,
        next_fact: int,
        at_us: int,
        segment_bytes: int = SEGMENT_BYTES,
        syncs_often: bool = True,
    ) -> None:
        """Begins the segment with that number; everything below `next_fact` must have been synced before.

        `syncs_often`: what to expect of the first segments; afterwards each tells what to expect of those to come.
        """
        self._disk = disk
        self._store_id = store_id
        self._seed: int = seed_of(store_id)
        self._segment_bytes = segment_bytes
        self._handle: int = _NONE
        self._at: i64 = 0
        self._size: i64 = 0
        self._first: i64 = 0
        self._syncs_before: i64 = 0  # how many there had been when the segment began
        self._syncs_often: bool = syncs_often
        self._first_at_us: i64 = 0  # when the first fact of the segment was; of an empty one, nobody asks
        self._noted: list[bytes] = []  # batches that are still to be written
        self._noted_bytes: i64 = 0
        self._ticket: SyncTicket | None = None
        self._spare: int = _NONE
        self._spare_bytes: i64 = 0
        self._spare_is_small: bool = False  # for want of room; to be made anew when there is some
        self._made_bytes: i64 = 0  # of the file of zeros that was made last
        self._room: i64 = segment_bytes  # how large the next segment is made
        self._spare_lock = threading.Lock()
        self.segment = segment
        self.next_fact: i64 = next_fact
        self.written: i64 = next_fact  # facts below this survive the end of the process
        self.synced: i64 = next_fact  # facts below this survive a power cut
        self.written_bytes: i64 = 0
        self.syncs: i64 = 0
        self.last_sync_us: i64 = 0
        self.dead: str = ""  # why, once it is
        self.full: bool = False  # the disk had no room for the next segment; whoever knows that it has may say so
        self.reserve_bytes: i64 = 0  # what the next segment is to hold at least: the ends of all that lives
        self._begin(at_us, 0)

    # -- facts

    def append(self, batch: FactBatch, at_us: i64) -> None:
        """Afterwards everything below `next_fact` is written."""
        self.note(batch, at_us)
        self.write()

    def note(self, batch: FactBatch, at_us: i64) -> None:
        """The facts of one instant, to be written with the next `write`."""
        self._alive()
        count = batch.count
        data = encode_batch(self._seed, self.next_fact, at_us, self.synced, count, batch.heap_bytes(), batch.payload())
        if self._at + self._noted_bytes + len(data) + FOOTER_BYTES >= self._size:
            self._room = self._segment_bytes
            self._seal(at_us)
            self._begin(at_us, len(data))
        if self.next_fact == self._first:
            self._first_at_us = at_us
        self._noted.append(data)
        self._noted_bytes += len(data)
        self.next_fact += count

    def unwritten(self) -> i64:
        """Bytes that were noted and not yet written."""
        return self._noted_bytes

    def write(self) -> None:
        """Afterwards everything that was noted is written: it survives the end of the process."""
        self._alive()
        noted = self._noted
        if not noted:
            return
        data = noted[0] if len(noted) == 1 else b"".join(noted)
        try:
            self._disk.write(self._handle, self._at, data)
        except OSError as error:
            raise self._died("append to", self._name(), error) from error
        self._noted = []
        self._noted_bytes = 0
        self._at += len(data)
        self.written_bytes += len(data)
        self.written = self.next_fact

    def sync(self) -> None:
        """Afterwards everything that was noted survives a power cut."""
        ticket = self.start_sync()
        ticket.run()
        self.finish_sync(ticket)

    def start_sync(self) -> SyncTicket:
        """A sync to be run elsewhere. One at a time: a failure is told to one sync only, and another would hide it."""
        self._settle()
        self.write()
        self._ticket = SyncTicket(self._disk, self._handle, self.written)
        return self._ticket

    def finish_sync(self, ticket: SyncTicket) -> None:
        """Takes note of a sync that has run, where a later one or a new segment has not already done so."""
        self._alive()
        if ticket is self._ticket:
            self._settle()

    # -- segments

    def rotate(self, at_us: int) -> None:
        """Seals the segment and begins the next, unless there is nothing in it.

        The one after that is made as large as this one lets expect: zeros that nobody needs wear the disk out.
        """
        self._alive()
        if self.next_fact != self._first:
            self._room = min(self._segment_bytes, max(ROOM_LEAST, 4 * (self._at + self._noted_bytes)))
            self._seal(at_us)
            self._begin(at_us, 0)

    def is_ripe(self, now_us: i64, age_us: i64) -> bool:
        """It holds a fact that is older than that, and the zeros of the next segment are ready: to rotate is quick."""
        aged = self.next_fact != self._first and now_us - self._first_at_us >= age_us
        return aged and self.has_spare and not self.dead

    def is_fresh(self) -> bool:
        """The segment in use holds nothing yet: every fact is in a sealed one."""
        return self.next_fact == self._first

    def ahead_bytes(self) -> i64:
        """On the disk, beside what is sealed: the segment in use, the one made ready for it, and the next, which is
        made as soon as this one is sealed."""
        ready: i64 = self._spare_bytes if self.has_spare else max(self._room, self.reserve_bytes)
        return self._size + 2 * ready

    @property
    def has_spare(self) -> bool:
        return self._spare != _NONE

    @property
    def wants_spare(self) -> bool:
        lacking = not self.has_spare or self._spare_is_small
        return lacking and not self.full and not self.dead and not self._spare_lock.locked()

    def prepare_spare(self) -> None:
        """Makes the next segment's zeros ahead of time, on any thread. A full disk is no failure, yet.

        Where it has less room they are fewer: with any at all, the segment in use can be sealed, and room be made.
        """
        with self._spare_lock:
            self._alive()
            if self._spare_is_small:
                self._drop_spare()
            if self._spare == _NONE:
                wanted: i64 = max(self._room, self.reserve_bytes)
                least: i64 = min(wanted, max(_SPARE_LEAST, self.reserve_bytes))
                try:
                    self._spare = self._create_fitting(SPARE_NAME, wanted, least, self._syncs_often)
                except OSError as error:
                    raise self._died("prepare", SPARE_NAME, error) from error
                self._spare_bytes = self._made_bytes
                self._spare_is_small = self._spare != _NONE and self._spare_bytes < wanted

    def close(self, at_us: int) -> None:
        """The clean stop: all is synced and sealed."""
        self._alive()
        self._seal(at_us)
        with self._spare_lock:
            if self._spare != _NONE:
                self._drop_spare()
            self.dead = "the journal is closed"

    # -- inside

    def _begin(self, at_us: i64, room: i64) -> None:
        name = segment_name(self.segment)
        header = encode_header(self.segment, self.next_fact, at_us, self._store_id)
        try:
            with self._spare_lock:  # until it has its own name, no other spare may be made
                made = self._take_zeros(room + _AROUND)
                self._disk.write(self._handle, 0, header)
                self._disk.sync(self._handle)
                self._disk.rename(made, name)
                self._disk.sync_names()
        except OSError as error:
            raise self._died("begin", name, error) from error
        self._first = self.next_fact
        self._syncs_before = self.syncs
        self._at = HEADER_BYTES
        self.written_bytes += HEADER_BYTES

    def _take_zeros(self, least: i64) -> str:
        """A file of zeros for the next segment: the spare one if there is one and it is large enough.

        Else somebody waits for it, and zeros are written only before there is anybody.
        """
        if self._spare == _NONE or least > self._spare_bytes:
            writes = self._syncs_often and self._handle == _NONE
            self._handle = self._create_fitting(FRESH_NAME, max(least, self._room), least, writes)
            self._size = self._made_bytes
            if self._handle == _NONE:
                raise OSError(errno.ENOSPC, "no space left on the disk")
            return FRESH_NAME
        self._size = self._spare_bytes
        self._handle = self._spare
        self._spare = _NONE
        self._spare_is_small = False
        return SPARE_NAME

    def _create_fitting(self, name: str, size: i64, least: i64, writes: bool) -> int:
        """None where not even the least fits. How large it was made stands in `_made_bytes`; `writes`: the zeros."""
        handle = self._create(name, size, writes)
        while handle == _NONE:
            self.full = True
            if size == least:
                break
            size = max(least, size // 4)
            handle = self._create(name, size, writes)
        self._made_bytes = size
        return handle

    def _create(self, name: str, size: i64, writes: bool) -> int:
        """None where the disk has no room for so much; then nothing is left of it."""
        try:
            return self._disk.create(name, size) if writes else self._disk.reserve(name, size)
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
        if name in self._disk.names():
            self._disk.remove(name)
        return _NONE

    def _seal(self, at_us: i64) -> None:
        # Synced before the footer is written: a footer says that all before it was.
        self.sync()
        self._syncs_often = (self.syncs - self._syncs_before) * _OFTEN_BYTES >= self._at
        facts = self.next_fact - self._first
        footer = encode_footer(self._seed, self.next_fact, at_us, self.synced, facts, self._at)
        try:
            self._disk.write(self._handle, self._at, footer)
            self._disk.sync(self._handle)
            self._disk.cut(self._handle, self._at + FOOTER_BYTES)
            self._disk.close(self._handle)
        except OSError as error:
            raise self._died("seal", self._name(), error) from error
        self.written_bytes += FOOTER_BYTES
        self.segment += 1

    def _drop_spare(self) -> None:
        try:
            self._disk.close(self._spare)
            self._disk.remove(SPARE_NAME)
        except OSError as error:
            raise self._died("remove", SPARE_NAME, error) from error
        self._spare = _NONE
        self._spare_is_small = False

    def _settle(self) -> None:
        """Sees the sync under way to its end."""
        self._alive()
        ticket = self._ticket
        if ticket is None:
            return
        ticket.run()
        self._ticket = None
        if ticket.error is not None:
            raise self._died("sync", self._name(), ticket.error) from ticket.error
        self.synced = ticket.reach
        self.syncs += 1
        self.last_sync_us = ticket.took_us

    def _name(self) -> str:
        return segment_name(self.segment)

    def _alive(self) -> None:
        if self.dead:
            raise JournalDead(self.dead)

    def _died(self, operation: str, name: str, error: OSError) -> JournalDead:
        self.dead = f"could not {operation} {name}: {error.strerror or error}"
        return JournalDead(self.dead)
