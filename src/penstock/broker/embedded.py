"""The embedded broker: engine, journal and outbox. One commit per tick, one sync for all that wait for it.

It is told the time and driven by whoever owns the loop; it starts no thread and asks no clock.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from penstock.broker.driven import Driven
from penstock.broker.outbox import Entry, Outbox, say
from penstock.engine import looking
from penstock.engine.engine import Engine
from penstock.engine.rules import PolicyBook
from penstock.journal.disk import Disk
from penstock.journal.journal import Journal, SyncTicket
from penstock.journal.recovery import Recovery, recover
from penstock.model import stages
from penstock.model.contract import Broker
from penstock.model.limits import NEVER_US, SEGMENT_BYTES
from penstock.model.views import Counts

INLINE_SYNC_US: Final[i64] = 1_000  # a sync quicker than this is not worth a thread
# What nobody waits for is written with what comes after it, but not later or more than this.
BEHIND_US: Final[i64] = 5_000
BEHIND_BYTES: Final[i64] = 64 << 10


def _nothing() -> None:
    pass


class Embedded(Driven):
    """Law: what is said has been written, or synced, as far as it was asked."""

    def __init__(
        self, disk: Disk, store_id: bytes, book: PolicyBook, confirm: i64, segment_bytes: int = SEGMENT_BYTES
    ) -> None:
        self._disk = disk
        self._store_id = store_id
        self._segment_bytes = segment_bytes
        self._syncs_often: bool = confirm == stages.SYNC
        self._outbox = Outbox(confirm)
        self._engine = Engine(book, self._outbox)
        self.broker: Broker = self._engine
        self._paused: bool = False
        self._waited: bool = False
        self._behind_us: i64 = NEVER_US  # when what is noted has to be written, asked or not
        self._covered: list[Entry] = []  # said when the sync that is under way is done
        self._ticket: SyncTicket | None = None  # that sync
        self._segment: int = 0  # the journal's, when it was last looked at
        self.on_segment: Callable[[], None] = _nothing  # called when the journal has begun another
        self.asked: list[Callable[[], None]] = []  # called once, in a commit, when the journal has all that is true

    def open(self, wall_us: int, version: str) -> Recovery:
        """Reads the past, then notes the start; when it returns, both are synced."""
        journal, recovery = recover(
            self._disk,
            self._store_id,
            self._engine.replay,
            now_us=wall_us,
            segment_bytes=self._segment_bytes,
            restore=self._engine.restore,
            syncs_often=self._syncs_often,
        )
        self.journal: Journal = journal
        note = {"version": version, "clean": recovery.clean, "cut_bytes": recovery.cut_bytes}
        self._engine.start(wall_us, json.dumps(note).encode())
        self._note()
        journal.sync()
        return recovery

    # -- a tick

    def begin(self, now_us: i64) -> None:
        quick = not self._covered and not self.wants_sync() and self.journal.last_sync_us < INLINE_SYNC_US
        self._outbox.reach = stages.SYNC if quick else stages.WRITE
        self._waited = False
        self._advance(now_us)

    def move(self, now_us: i64) -> None:
        self._note()
        self._advance(now_us)

    def _advance(self, now_us: i64) -> None:
        if self._paused:
            self._paused = False
            self._engine.woken(now_us)
        self._engine.advance(now_us)

    def woken(self) -> None:
        self._paused = True

    def commit(self) -> None:
        self._note()
        if self.asked:
            self._call_asked()
        if self.journal.segment != self._segment:
            self._segment = self.journal.segment
            self.on_segment()
        if self._outbox.waits_for_write() or self._is_behind():
            self._write()
        if self._outbox.promised == stages.SYNC and self.unsynced():
            self._sync()
        self._outbox.promised = stages.READY
        synced: list[Entry] = []
        if self.wants_sync():
            if self.unsynced() and self.journal.last_sync_us < INLINE_SYNC_US:
                self._sync()
            if not self.unsynced():
                synced = self._outbox.take_synced()  # before anybody is told anything, and asks for more
        self._outbox.say_written()
        say(synced)

    def _sync(self) -> None:
        self.journal.sync()
        self._waited = True

    def waited(self) -> bool:
        return self._waited

    def next_due_us(self) -> i64:
        return min(self._engine.next_due(), self._behind_us)

    def now_us(self) -> i64:
        return self._engine.now_us()

    def _note(self) -> None:
        """What has happened since the last time this was called was at one instant, and is one batch."""
        record = self._engine.record
        if record.count:
            now_us = self._engine.now_us()
            self.journal.note(record, now_us)
            record.clear()
            self._behind_us = min(self._behind_us, now_us + BEHIND_US)

    def _call_asked(self) -> None:
        asked, self.asked = self.asked, []
        for call in asked:
            call()

    def _is_behind(self) -> bool:
        return self._engine.now_us() >= self._behind_us or self.journal.unwritten() > BEHIND_BYTES

    def _write(self) -> None:
        self.journal.write()
        self._behind_us = NEVER_US

    # -- syncing on a thread

    def wants_sync(self) -> bool:
        return self._outbox.waits_for_sync() and not self._covered

    def unsynced(self) -> bool:
        return self.journal.synced != self.journal.next_fact

    def start_sync(self) -> Callable[[], None]:
        self._covered = self._outbox.take_synced()
        self._ticket = ticket = self.journal.start_sync()
        return ticket.run

    def finish_sync(self) -> None:
        ticket, self._ticket = self._ticket, None
        if ticket is not None:
            self.journal.finish_sync(ticket)
        self._waited = True
        covered, self._covered = self._covered, []
        say(covered)

    def wants_spare(self) -> bool:
        return self.journal.wants_spare

    def prepare_spare(self) -> None:
        self.journal.prepare_spare()

    def client_counts(self) -> dict[str, int]:
        """Clients with names, and what could not be kept for those that are gone."""
        return self._outbox.client_counts()

    def refuse(self, full: bool) -> None:
        """Whether publishing is refused, for want of room; everything else goes on."""
        self._engine.full = full

    def live_messages(self) -> int:
        return int(self._engine.state().messages.count)

    def live_bytes(self) -> int:
        """What a snapshot of now would take for the messages."""
        return int(self._engine.state().live_bytes())

    def counts(self) -> dict[bytes, Counts]:
        """What each queue counts, by its name."""
        return {queue.name: looking.counts((queue,)) for queue in self._engine.state().by_id.values()}

    def rebook(self, book: PolicyBook) -> None:
        self._engine.rebook(book)

    def close(self) -> None:
        """A clean stop: everything written, synced and sealed, and said."""
        self.commit()
        self.journal.close(int(self._engine.now_us()))
        covered, self._covered = self._covered, []
        say(covered)
        say(self._outbox.take_synced())
