"""Writing the journal: what `written` and `synced` promise, segments, spares, syncs on a thread, and its death."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.codecs.segments import FOOTER_BYTES, HEADER_BYTES
from penstock.journal import check
from penstock.journal.disk import OsDisk
from penstock.journal.journal import ROOM_LEAST, Journal, JournalDead
from penstock.journal.segment import SPARE_NAME, segment_name, segment_readers
from tests.journal.simdisk import SimDisk
from tests.journal.story import SEGMENT_BYTES, START_US, STORE_ID, batch_of, recovered, rows

ONE = segment_name(1)


def new_journal(disk: SimDisk | OsDisk, segment_bytes: int = SEGMENT_BYTES) -> Journal:
    return Journal(disk, STORE_ID, 1, 1, START_US, segment_bytes)


def bodies(disk: SimDisk | OsDisk) -> list[bytes]:
    return [fact.body for fact in check.read(disk)]


def test_a_new_journal_has_a_segment_with_a_header_and_nothing_in_it() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    assert (journal.next_fact, journal.synced, journal.segment) == (1, 1, 1)
    assert len(disk.contents()[ONE]) == SEGMENT_BYTES
    assert bodies(disk) == []


def test_an_appended_batch_is_written_with_one_write() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    before = len(disk.operations)
    journal.append(batch_of((7, b"a"), (8, b"bb")), START_US + 5)
    assert disk.operations[before:] == ["write"]
    assert (journal.next_fact, journal.synced) == (3, 1)
    assert rows(check.read(disk)) == [(1, START_US + 5, 7, b"a"), (2, START_US + 5, 8, b"bb")]


def test_what_is_noted_is_written_together_each_batch_at_its_own_time() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    before = len(disk.operations)
    journal.note(batch_of((7, b"a")), START_US + 5)
    journal.note(batch_of((8, b"bb")), START_US + 6)
    assert (journal.next_fact, journal.written, disk.operations[before:]) == (3, 1, [])
    assert journal.unwritten() > 0
    journal.write()
    journal.write()
    assert (journal.written, journal.unwritten(), disk.operations[before:]) == (3, 0, ["write"])
    assert rows(check.read(disk)) == [(1, START_US + 5, 7, b"a"), (2, START_US + 6, 8, b"bb")]


def test_a_sync_writes_first_what_is_only_noted() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    journal.note(batch_of((1, b"a")), START_US)
    journal.sync()
    assert (journal.written, journal.synced) == (2, 2)
    assert all(bodies(state) == [b"a"] for state in disk.crash_states())


def test_what_is_only_noted_goes_into_the_segment_that_has_room_for_it() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    for number in range(200):
        journal.note(batch_of((number, b"x" * 100)), START_US)
    journal.write()
    assert bodies(disk) == [b"x" * 100] * 200
    assert journal.segment > 2


def test_a_sync_covers_what_was_written_before_it() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    journal.append(batch_of((1, b"a")), START_US)
    journal.sync()
    assert (journal.synced, journal.syncs) == (2, 1)
    assert all(bodies(state) == [b"a"] for state in disk.crash_states())


def test_a_sync_under_way_does_not_cover_what_is_written_meanwhile() -> None:
    journal = new_journal(SimDisk())
    journal.append(batch_of((1, b"a")), START_US)
    ticket = journal.start_sync()
    journal.append(batch_of((2, b"b")), START_US)
    ticket.run()
    assert journal.synced == 1
    journal.finish_sync(ticket)
    assert (journal.synced, journal.next_fact) == (2, 3)


def test_every_batch_says_how_much_was_synced_when_it_was_written() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    for body in (b"a", b"b"):
        journal.append(batch_of((1, body)), START_US)
        journal.sync()
    reader = next(segment_readers(disk, STORE_ID, shared=True))
    assert [batch.synced for batch in reader.batches()] == [1, 2]


def test_the_bytes_written_are_counted() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    journal.append(batch_of((1, b"12345678")), START_US)
    assert journal.written_bytes == HEADER_BYTES + 40 + 64 + 8
    journal.close(START_US)
    assert journal.written_bytes == len(disk.contents()[ONE])


# -- segments


def test_a_batch_that_does_not_fit_begins_a_new_segment() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    for body in (bytes(1200), bytes(800)):
        journal.append(batch_of((1, body)), START_US)
    assert (journal.segment, journal.synced, journal.next_fact) == (2, 2, 3)
    assert [(one.first, one.facts, one.state) for one in check.info(disk)] == [(1, 1, "sealed"), (2, 1, "in use")]


def test_a_sealed_segment_ends_with_its_footer() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    journal.append(batch_of((1, b"12345678")), START_US)
    journal.rotate(START_US + 9)
    assert len(disk.contents()[ONE]) == HEADER_BYTES + 40 + 64 + 8 + FOOTER_BYTES
    assert check.verify(disk) == []


def test_until_it_is_cut_a_byte_stays_behind_the_footer_of_the_fullest_segment() -> None:
    """A segment that ends with its footer is taken for synced, so no other may look like it."""
    around = HEADER_BYTES + 40 + 64 + FOOTER_BYTES
    for spare_bytes, segment in ((0, 2), (1, 1)):
        journal = new_journal(SimDisk(), around + 8 + spare_bytes)
        journal.append(batch_of((1, b"12345678")), START_US)
        assert journal.segment == segment


def test_a_batch_larger_than_a_segment_gets_one_of_its_own() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    for body in (b"small", bytes(3 * SEGMENT_BYTES), b"small again"):
        journal.append(batch_of((1, body)), START_US)
    assert [one.facts for one in check.info(disk)] == [1, 1, 1]
    assert bodies(disk) == [b"small", bytes(3 * SEGMENT_BYTES), b"small again"]


def test_a_segment_may_be_sealed_at_any_time_but_not_an_empty_one() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    journal.rotate(START_US)
    assert journal.segment == 1
    journal.append(batch_of((1, b"a")), START_US)
    journal.rotate(START_US)
    assert (journal.segment, journal.synced) == (2, 2)


def test_a_closed_journal_is_sealed_and_takes_nothing_more() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    journal.append(batch_of((1, b"a")), START_US)
    journal.prepare_spare()
    journal.close(START_US)
    assert disk.handles == {}
    assert disk.names() == [ONE]
    with pytest.raises(JournalDead, match="closed"):
        journal.append(batch_of((2, b"b")), START_US)
    facts, _, recovery = recovered(disk)
    assert (len(facts), recovery.clean, recovery.cut_bytes) == (1, True, 0)


def test_a_segment_is_ripe_once_its_first_fact_is_old_and_the_next_is_ready() -> None:
    journal = new_journal(SimDisk())
    journal.prepare_spare()
    assert not journal.is_ripe(START_US + 1_000, 10)
    journal.append(batch_of((1, b"")), START_US + 100)
    journal.append(batch_of((2, b"")), START_US + 105)
    assert [journal.is_ripe(START_US + 100 + later, 10) for later in (0, 9, 10, 11)] == [False, False, True, True]
    journal.rotate(START_US + 110)
    journal.append(batch_of((3, b"")), START_US + 110)
    assert not journal.is_ripe(START_US + 200, 10)
    journal.prepare_spare()
    assert journal.is_ripe(START_US + 120, 10)
    assert not journal.is_ripe(START_US + 119, 10)


# -- spares


def test_a_spare_is_wanted_until_there_is_one() -> None:
    journal = new_journal(SimDisk())
    wanted = [journal.wants_spare]
    journal.prepare_spare()
    wanted.append(journal.wants_spare)
    journal.append(batch_of((1, b"a")), START_US)
    journal.rotate(START_US)
    wanted.append(journal.wants_spare)
    assert wanted == [True, False, True]


def test_what_is_taken_beside_what_is_sealed_is_told_with_the_spare_that_comes_next() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    size = disk.size(segment_name(1))
    assert journal.ahead_bytes() == 3 * size
    journal.prepare_spare()
    assert journal.ahead_bytes() == 3 * size
    journal.reserve_bytes = 10 * size
    journal.append(batch_of((1, b"a")), START_US)
    journal.rotate(START_US)
    journal.prepare_spare()
    assert journal.ahead_bytes() == size + 2 * 10 * size


def test_a_spare_spares_the_making() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    journal.append(batch_of((1, b"a")), START_US)
    journal.prepare_spare()
    journal.prepare_spare()
    before = len(disk.operations)
    journal.rotate(START_US)
    assert not any(operation.startswith(("create", "reserve")) for operation in disk.operations[before:])


def made(disk: SimDisk, name: str) -> list[str]:
    """How files of that name were made."""
    return [operation.split()[0] for operation in disk.operations if operation in (f"create {name}", f"reserve {name}")]


def test_zeros_are_written_beforehand_where_syncs_are_often() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    journal.prepare_spare()
    for number in range(3):
        journal.append(batch_of((number, b"a")), START_US)
        journal.sync()
    journal.rotate(START_US)
    journal.prepare_spare()
    assert (made(disk, "fresh.journal"), made(disk, SPARE_NAME)) == (["create"], ["create", "create"])


def test_zeros_are_not_written_where_much_is_written_between_two_syncs() -> None:
    disk = SimDisk()
    journal = new_journal(disk, 4 << 20)
    journal.append(batch_of((1, bytes(1 << 20))), START_US)
    journal.rotate(START_US)
    journal.prepare_spare()
    assert made(disk, SPARE_NAME) == ["reserve"]
    journal.append(batch_of((2, b"a")), START_US)
    journal.rotate(START_US)
    journal.prepare_spare()
    assert made(disk, SPARE_NAME) == ["reserve", "create"]


def test_whoever_expects_few_syncs_has_no_zeros_written_at_the_start() -> None:
    disk = SimDisk()
    journal = Journal(disk, STORE_ID, 1, 1, START_US, SEGMENT_BYTES, syncs_often=False)
    journal.prepare_spare()
    assert (made(disk, "fresh.journal"), made(disk, SPARE_NAME)) == (["reserve"], ["reserve"])


def test_nobody_waits_until_zeros_are_written() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    journal.append(batch_of((1, b"a")), START_US)
    journal.rotate(START_US)
    assert made(disk, "fresh.journal") == ["create", "reserve"]


def test_after_a_segment_that_was_hardly_filled_the_next_is_made_small_until_one_is_full() -> None:
    disk = SimDisk()
    journal = new_journal(disk, 8 * ROOM_LEAST)
    sizes = []
    for body in (b"a", bytes(ROOM_LEAST // 2), bytes(3 * ROOM_LEAST)):
        journal.append(batch_of((1, body)), START_US)
        journal.rotate(START_US)
        journal.prepare_spare()
        sizes.append(len(disk.contents()[SPARE_NAME]) / ROOM_LEAST)
    assert sizes == [1, pytest.approx(2, abs=0.01), 8]
    journal.append(batch_of((1, b"a")), START_US)
    journal.rotate(START_US)
    journal.append(batch_of((1, bytes(9 * ROOM_LEAST))), START_US)
    journal.prepare_spare()
    assert len(disk.contents()[SPARE_NAME]) == 8 * ROOM_LEAST


def test_a_spare_is_kept_while_a_larger_segment_is_made() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    journal.prepare_spare()
    journal.append(batch_of((1, bytes(2 * SEGMENT_BYTES))), START_US)
    assert not journal.wants_spare
    journal.append(batch_of((2, b"a")), START_US)
    assert len(disk.contents()[segment_name(journal.segment)]) == SEGMENT_BYTES
    assert check.verify(disk) == []


class SlowDisk(SimDisk):
    """Stops in the making of a spare, or in a sync, until it is let go on."""

    def __init__(self, slow: str) -> None:
        super().__init__()
        self.slow = slow
        self.reached = threading.Event()
        self.go_on = threading.Event()

    def create(self, name: str, size: int) -> int:
        if self.slow == "create" and name == "spare.journal":
            self._wait()
        return super().create(name, size)

    def sync(self, handle: int) -> None:
        if self.slow == "sync" and threading.current_thread() is not threading.main_thread():
            self._wait()
        super().sync(handle)

    def _wait(self) -> None:
        self.reached.set()
        assert self.go_on.wait(10)


def run_beside(disk: SlowDisk, slow: Callable[[], None], meanwhile: Callable[[], None]) -> None:
    """`slow` stops half-way until `meanwhile` is likely to wait for it; should it not, all must be well just so."""
    thread = threading.Thread(target=slow)
    thread.start()
    assert disk.reached.wait(10)
    threading.Timer(0.02, disk.go_on.set).start()
    meanwhile()
    thread.join(10)
    assert not thread.is_alive()


def test_a_rotation_waits_for_the_spare_that_is_being_made() -> None:
    disk = SlowDisk("create")
    journal = new_journal(disk)
    journal.append(batch_of((1, b"a")), START_US)
    run_beside(disk, journal.prepare_spare, lambda: journal.rotate(START_US))
    journal.append(batch_of((2, b"b")), START_US)
    assert sorted(disk.names()) == [ONE, segment_name(2)]
    assert bodies(disk) == [b"a", b"b"]
    journal.close(START_US)


class HastyDisk(SimDisk):
    """Before a spare gets its own name, a thread asks for the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: threading.Thread | None = None
        self.ask: Callable[[], None] = lambda: None

    def rename(self, old: str, new: str) -> None:
        if old == "spare.journal":
            self.asked = threading.Thread(target=self.ask)
            self.asked.start()
            self.asked.join(0.02)
        super().rename(old, new)


def test_a_spare_asked_for_while_the_last_one_is_taken_is_made_after_it() -> None:
    disk = HastyDisk()
    journal = new_journal(disk)
    disk.ask = journal.prepare_spare
    journal.append(batch_of((1, b"a")), START_US)
    journal.prepare_spare()
    journal.rotate(START_US)
    assert disk.asked is not None
    disk.asked.join(10)
    assert (journal.dead, journal.wants_spare) == ("", False)
    assert sorted(disk.names()) == [ONE, segment_name(2), "spare.journal"]


def test_a_journal_may_close_while_a_spare_is_being_made() -> None:
    disk = SlowDisk("create")
    journal = new_journal(disk)
    run_beside(disk, journal.prepare_spare, lambda: journal.close(START_US))
    assert disk.names() == [ONE]
    with pytest.raises(JournalDead, match="closed"):
        journal.prepare_spare()


# -- syncs on a thread


def test_a_rotation_sees_a_sync_on_a_thread_to_its_end() -> None:
    disk = SlowDisk("sync")
    journal = new_journal(disk)
    journal.append(batch_of((1, b"a")), START_US)
    ticket = journal.start_sync()
    run_beside(disk, ticket.run, lambda: journal.rotate(START_US))
    assert ticket.error is None
    journal.append(batch_of((2, b"b")), START_US)
    journal.finish_sync(ticket)
    assert (journal.synced, journal.next_fact) == (2, 3)
    journal.close(START_US)


def test_a_sync_that_has_not_begun_when_its_segment_is_sealed_does_nothing_later(tmp_path: Path) -> None:
    disk = OsDisk(str(tmp_path))
    journal = new_journal(disk)
    journal.append(batch_of((1, b"a")), START_US)
    ticket = journal.start_sync()
    journal.rotate(START_US)
    ticket.run()
    journal.finish_sync(ticket)
    assert ticket.error is None
    journal.close(START_US)


def test_the_failure_of_a_sync_is_not_hidden_by_a_later_one_that_works() -> None:
    """An operating system tells of lost pages once, to whichever sync comes first."""
    for later in ("sync", "rotate"):
        disk = SimDisk()
        journal = new_journal(disk)
        journal.append(batch_of((1, b"a")), START_US)
        ticket = journal.start_sync()
        disk.fail_at = len(disk.operations) + 1
        ticket.run()
        with pytest.raises(JournalDead, match=f"could not sync {ONE}: Input/output error"):
            journal.sync() if later == "sync" else journal.rotate(START_US)
        assert journal.synced == 1


# -- death


def calls(journal: Journal) -> list[Callable[[], object]]:
    ticket = journal.start_sync()
    return [
        lambda: journal.append(batch_of((9, b"x")), START_US),
        journal.sync,
        journal.start_sync,
        lambda: journal.finish_sync(ticket),
        lambda: journal.rotate(START_US),
        journal.prepare_spare,
        lambda: journal.close(START_US),
    ]


def test_once_dead_it_answers_nothing_and_touches_nothing() -> None:
    for fatal in (0, 1, 4, 5, 6):
        disk = SimDisk()
        journal = new_journal(disk)
        journal.append(batch_of((1, b"a")), START_US)
        every = calls(journal)
        disk.fail_at = len(disk.operations) + 1
        with pytest.raises(JournalDead):
            every[fatal]()
        told, synced, before = journal.dead, journal.synced, len(disk.operations)
        for call in every:
            with pytest.raises(JournalDead) as again:
                call()
            assert str(again.value) == told
        assert (journal.synced, len(disk.operations), journal.wants_spare) == (synced, before, False)


@pytest.mark.parametrize(
    ("call", "operation", "words"),
    [
        (0, "write", f"could not append to {ONE}: No space left on device"),
        (1, "sync", f"could not sync {ONE}: No space left on device"),
        (4, "cut", f"could not seal {ONE}: No space left on device"),
        (4, "rename", f"could not begin {segment_name(2)}: No space left on device"),
        (4, "sync_names", f"could not begin {segment_name(2)}: No space left on device"),
        (4, "write", f"could not seal {ONE}: No space left on device"),
    ],
)
def test_it_says_what_it_died_of(call: int, operation: str, words: str) -> None:
    rehearsal, disk = SimDisk(), SimDisk()
    for step in (rehearsal, disk):
        journal = new_journal(step)
        journal.append(batch_of((1, b"a")), START_US)
        every = calls(journal)
        if step is rehearsal:
            before = len(step.operations)
            every[call]()
            disk.fail_at = next(
                place
                for place, what in enumerate(rehearsal.operations, 1)
                if place > before and what.startswith(operation)
            )
            disk.fail_errno = errno.ENOSPC
        else:
            with pytest.raises(JournalDead) as dead:
                every[call]()
            assert str(dead.value) == journal.dead == words


def test_a_spare_that_cannot_be_removed_spoils_the_stop_but_not_the_journal() -> None:
    disk = SimDisk()
    journal = new_journal(disk)
    journal.append(batch_of((1, b"a")), START_US)
    journal.prepare_spare()
    disk.fail_at = len(disk.operations) + 7
    with pytest.raises(JournalDead, match=r"could not remove spare\.journal"):
        journal.close(START_US)
    assert disk.operations[-1] == "remove spare.journal"
    facts, _, recovery = recovered(disk.after_kill())
    assert (len(facts), recovery.clean) == (1, True)


# -- a full disk


class SmallDisk(SimDisk):
    """Has room for so many bytes."""

    room = 0

    def create(self, name: str, size: int) -> int:
        self._fit(name, size)
        return super().create(name, size)

    def reserve(self, name: str, size: int) -> int:
        self._fit(name, size)
        return super().reserve(name, size)

    def _fit(self, name: str, size: int) -> None:
        if sum(len(file.content) for file in self.files.values()) + size > self.room:
            super().create(name, 0)
            raise OSError(errno.ENOSPC, "No space left on device")


def small_journal(room: int) -> tuple[SmallDisk, Journal]:
    disk = SmallDisk()
    disk.room = room
    return disk, Journal(disk, STORE_ID, 1, 1, START_US, SEGMENT_BYTES)


def test_a_disk_without_room_for_the_next_segment_is_no_death() -> None:
    disk, journal = small_journal(SEGMENT_BYTES)
    journal.prepare_spare()
    assert (journal.full, journal.wants_spare, journal.dead) == (True, False, "")
    assert SPARE_NAME not in disk.files
    journal.append(batch_of((1, b"a")), START_US)
    disk.room = 3 * SEGMENT_BYTES
    journal.full = False
    assert journal.wants_spare
    journal.prepare_spare()
    assert (journal.full, disk.size(SPARE_NAME)) == (False, SEGMENT_BYTES)


def test_where_a_whole_segment_does_not_fit_a_smaller_one_does() -> None:
    disk, journal = small_journal(SEGMENT_BYTES + 600)
    journal.append(batch_of((1, b"a" * 1_000)), START_US)
    journal.append(batch_of((2, b"b" * 1_000)), START_US)
    assert (journal.segment, journal.full, journal.dead) == (2, True, "")
    assert disk.size(segment_name(2)) < SEGMENT_BYTES
    assert [fact.body[:1] for fact in check.read(disk)] == [b"a", b"b"]


def test_where_a_whole_spare_does_not_fit_a_smaller_one_lets_the_segment_be_sealed() -> None:
    disk = SmallDisk()
    disk.room = 40_000
    journal = Journal(disk, STORE_ID, 1, 1, START_US, 32_768)
    journal.append(batch_of((1, b"a")), START_US)
    journal.prepare_spare()
    assert (journal.full, journal.has_spare, journal.wants_spare) == (True, True, False)
    assert journal.is_ripe(START_US, 0)
    journal.rotate(START_US)
    journal.append(batch_of((2, b"b")), START_US)
    assert [fact.message for fact in check.read(disk)] == [1, 2]


def test_a_spare_that_was_made_small_is_made_anew_when_there_is_room() -> None:
    disk = SmallDisk()
    disk.room = 40_000
    journal = Journal(disk, STORE_ID, 1, 1, START_US, 32_768)
    journal.prepare_spare()
    assert disk.size(SPARE_NAME) < 32_768
    disk.room = 80_000
    journal.full = False
    assert journal.wants_spare
    journal.prepare_spare()
    assert (journal.full, journal.wants_spare, disk.size(SPARE_NAME)) == (False, False, 32_768)


def test_a_small_spare_still_holds_the_ends_of_all_that_lives() -> None:
    disk = SmallDisk()
    disk.room = 40_000
    journal = Journal(disk, STORE_ID, 1, 1, START_US, 32_768)
    journal.reserve_bytes = 10_000
    journal.prepare_spare()
    assert not journal.has_spare, "40,000 bytes less a segment are not 10,000"
    disk.room = 43_000
    journal.full = False
    journal.prepare_spare()
    assert disk.size(SPARE_NAME) == 10_000


def test_where_not_even_one_batch_fits_it_says_so_and_dies() -> None:
    disk, journal = small_journal(SEGMENT_BYTES)
    journal.append(batch_of((1, b"a" * 1_000)), START_US)
    disk.room = 0
    with pytest.raises(JournalDead, match=r"could not begin .*: no space left"):
        journal.append(batch_of((2, b"b" * 1_000)), START_US)
    assert [fact.message for fact in check.read(disk)] == [1]


def test_the_next_segment_is_made_as_large_as_the_reserve_asks() -> None:
    disk, journal = small_journal(1 << 20)
    journal.reserve_bytes = 5 * SEGMENT_BYTES
    journal.prepare_spare()
    assert disk.size(SPARE_NAME) == 5 * SEGMENT_BYTES
    journal.append(batch_of((1, b"a")), START_US)
    journal.rotate(START_US)
    for number in range(4 * SEGMENT_BYTES // 1_200):
        journal.append(batch_of((number + 2, bytes(1_000))), START_US)
    assert journal.segment == 2


def test_a_server_starts_on_a_disk_that_is_nearly_full() -> None:
    disk = SmallDisk()
    disk.room = SEGMENT_BYTES // 4 + 10
    _, journal, _ = recovered(disk)
    journal.append(batch_of((1, b"a")), START_US)
    assert journal.full
