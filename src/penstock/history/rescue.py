"""What can be had of a journal whose only snapshot is damaged: every block of it that can be read, and every later fact
that can follow on those. It lists what is given up before anything is changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from penstock.codecs import snapshots
from penstock.codecs.facts import BadFact, Fact
from penstock.codecs.segments import Header
from penstock.codecs.snapshots import BLOCK_HEADER_BYTES, FOOTER_BYTES, HEADER_BYTES, BadBlock, Block
from penstock.engine.replay import Silence, apply
from penstock.engine.rules import PolicyBook
from penstock.engine.snapshots import blocks_of, restore
from penstock.engine.state import State
from penstock.journal.disk import Disk, put_in_place
from penstock.journal.repair import Loss, RepairPlan, keep_beside, salvage_rows
from penstock.journal.segment import FRESH_NAME, Damage, JournalDamaged, SegmentReader, facts_of, segment_readers
from penstock.journal.snapshot import SnapshotReader, snapshot_name, snapshot_numbers, write_snapshot
from penstock.model import facts
from penstock.model.limits import START_JUMP
from penstock.model.policy import Policy

_WORD: Final = 8
_MAGIC: Final = b"PSNB"
_UNREADABLE: Final = "a block cannot be read"


class Rescue:
    """Reads, and changes nothing. Raises JournalDamaged where the header is lost, or a segment is damaged too."""

    def __init__(self, disk: Disk, pid: int) -> None:
        self._disk = disk
        self._pid = pid
        self._number: int = snapshot_numbers(disk)[-1]
        self._name = snapshot_name(self._number)
        self._data = disk.read(self._name)
        self._given_up: list[Fact] = []
        self._tail: SegmentReader | None = None  # the last segment, if it has no footer
        self._state = State(PolicyBook(), Silence())
        self.plan = RepairPlan()
        self._header = self._readable_header()
        self._state.now_us = self._header.opened_us
        self._at = HEADER_BYTES  # where the block stands that is looked at
        for block, payload in self._blocks():
            self._restore(block, payload)
        self._count_lost()
        self._state.next_queue_id = max([self._state.next_queue_id, *[int(number) + 1 for number in self._state.by_id]])
        self._last, self._next_fact = self._replay()
        self._state.next_seq += START_JUMP  # the numbers of what is lost are not given again
        self._list_given_up()

    def put_back(self) -> None:
        """After each step the journal is still refused or already sound."""
        keep_beside(self._disk, self._name, "damaged", self._data)
        if self._given_up:
            keep_beside(self._disk, self._name, "salvaged.jsonl", salvage_rows(self._given_up))
        if self._tail is not None:
            put_in_place(self._disk, FRESH_NAME, self._tail.name, self._tail.sealed_copy(self._tail.last_at_us))
        store_id, at_us = self._header.store_id, int(self._state.now_us)
        header = Header(0, 0, self._last, self._next_fact, at_us, store_id)
        write_snapshot(self._disk, header, self._pid, blocks_of(self._state))
        if self._last != self._number:
            self._disk.remove(self._name)
            self._disk.sync_names()

    # -- the snapshot

    def _readable_header(self) -> Header:
        reader = SnapshotReader(self._disk, self._number, b"")
        if reader.header is None or reader.header.version != snapshots.VERSION:
            raise JournalDamaged(reader.damage) if reader.damage else reader.damaged("it cannot be read")
        return reader.header

    def _blocks(self) -> Iterator[tuple[Block, bytes]]:
        """Those that hold; what lies between them is noted as lost."""
        data, seed = self._data, snapshots.seed_of(self._data[:HEADER_BYTES])
        at, lost_at = HEADER_BYTES, -1
        while at < len(data) - FOOTER_BYTES:
            block = snapshots.block_at(data[at : at + BLOCK_HEADER_BYTES])
            end = at + BLOCK_HEADER_BYTES + (block.padded if block else 0)
            padded = data[at + BLOCK_HEADER_BYTES : end]
            if block is None or end > len(data) or not snapshots.block_holds(data[at:], padded, seed):
                lost_at = at if lost_at < 0 else lost_at
                at = _next_magic(data, at)
                continue
            self._lose(lost_at, at, _UNREADABLE)
            self._at, lost_at = at, -1
            yield block, padded[: block.bytes]
            at = end
        self._lose(lost_at, len(data), _UNREADABLE)

    def _lose(self, begin: int, end: int, why: str) -> None:
        if begin >= 0:
            self.plan.damages.append(Damage(self._name, begin, 0, why, False))
            self.plan.losses.append(Loss(self._name, begin, end - begin, 0))

    def _count_lost(self) -> None:
        """The footer knows how many messages there were; where it is all that is damaged, none is lost."""
        footer = snapshots.decode_footer(self._data[-FOOTER_BYTES:], snapshots.seed_of(self._data[:HEADER_BYTES]))
        if footer is not None and self.plan.losses:
            self.plan.losses[0].messages = footer.messages - len(self._state.messages)
        if not self.plan.damages:
            reason = "the footer does not agree with what was read"
            self.plan.damages.append(Damage(self._name, len(self._data) - FOOTER_BYTES, 0, reason, False))

    def _restore(self, block: Block, payload: bytes) -> None:
        """A message whose queue is lost is kept, in one that is named by its number."""
        try:
            if block.kind == snapshots.MESSAGES:
                for message, _ in snapshots.read_messages(block.rows, payload):
                    self._have_queue(message.queue_id)
                    self._state.next_seq = max(self._state.next_seq, message.order + 1)
            restore(self._state, block.kind, block.rows, payload)
        except (BadBlock, BadFact) as error:
            self._lose(self._at, self._at + BLOCK_HEADER_BYTES + block.padded, str(error))

    def _have_queue(self, queue_id: int) -> None:
        if queue_id not in self._state.by_id:
            following = self._state.next_queue_id
            self._state.declared(queue_id, b"recovered-%d" % queue_id, 0, Policy())
            self._state.next_queue_id = following

    # -- the facts after it

    def _replay(self) -> tuple[int, int]:
        last, next_fact = self._number, self._header.first
        for reader in segment_readers(self._disk, b"", False, self._number, self._header.first):
            for batch in reader.batches():
                for fact in facts_of(reader.data, batch):
                    self._apply(fact)
            if reader.damage is not None:
                raise JournalDamaged(reader.damage)
            if reader.header is not None:
                last, next_fact = reader.number, reader.next_fact
                self._tail = None if reader.footer is not None else _kept(reader)
        return last, next_fact

    def _apply(self, fact: Fact) -> None:
        if fact.queue_id and fact.kind != facts.DECLARED:
            self._have_queue(int(fact.queue_id))
        try:
            apply(self._state, fact)
        except BadFact:
            self._given_up.append(fact)

    def _list_given_up(self) -> None:
        if self._given_up:
            loss = Loss("facts of messages that are lost", 0, 64 * len(self._given_up), 0)
            loss.first, loss.last = int(self._given_up[0].seq), int(self._given_up[-1].seq)
            loss.facts = len(self._given_up)
            self.plan.losses.append(loss)


def _next_magic(data: bytes, at: int) -> int:
    place = data.find(_MAGIC, at + 1)
    while place >= 0 and place % _WORD:
        place = data.find(_MAGIC, place + 1)
    return place if place >= 0 else len(data)


def _kept(reader: SegmentReader) -> SegmentReader:
    """The same, that may be asked when the reading has gone on."""
    copy = SegmentReader(reader.data, reader.number, reader.first, b"", reader.last)
    copy.check()
    return copy
