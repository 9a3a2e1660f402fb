"""The archivist's promise: every sealed segment in order, each once, whatever kills it and when."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from penstock.codecs.facts import FactBatch
from penstock.engine.rules import PolicyBook
from penstock.history.archive import Archive
from penstock.history.archivist import Archivist
from penstock.history.folding import Folder, Keeping
from penstock.history.saying import OtherVersion
from penstock.journal.disk import Disk
from penstock.journal.journal import Journal
from penstock.journal.segment import JournalDamaged, segment_name, segment_numbers
from tests.history.histories import START_US, STORE_ID, WORDS, batches, journal_of, lives, rows_of, told_by
from tests.history.simshelves import Power, SimShelves
from tests.history.test_files import resaid
from tests.journal.simdisk import PowerCut, SimDisk

SEGMENT_BYTES = 1_024
HOUR_US = 3_600_000_000
Said = list[tuple[str, dict[str, object]]]


def archive(journal: Disk, shelves: SimShelves, upto: int = 0) -> Said:
    """All that is sealed, or the segments below a number; what was said."""
    said: Said = []
    kept = Archive(shelves, 77, lambda file, why: said.append(("unreadable", {"file": file, "why": why})))
    archivist = Archivist(journal, kept, WORDS, lambda event, fields: said.append((event, fields)))
    for _ in archivist.upto(upto or segment_numbers(journal)[-1] + 1):
        pass
    return said


def story() -> SimDisk:
    """Several segments over two days; one of them is empty, as a crash just after its beginning leaves it."""
    disk = journal_of(lives(8), SEGMENT_BYTES, step_us=4 * HOUR_US)
    number = segment_numbers(disk)[-1] + 1
    Journal(disk, STORE_ID, number, 26, START_US + 40 * HOUR_US, SEGMENT_BYTES).close(START_US + 40 * HOUR_US)
    journal = Journal(disk, STORE_ID, number + 1, 26, START_US + 40 * HOUR_US, SEGMENT_BYTES)
    for batch in lives(2, first=100)[1:]:
        journal.append(batch, START_US + 41 * HOUR_US)
    journal.close(START_US + 41 * HOUR_US)
    return disk


@pytest.fixture(scope="module")
def journal() -> SimDisk:
    return story()


@pytest.fixture(scope="module")
def whole(journal: SimDisk) -> dict[str, bytes]:
    """The archive of a life without trouble."""
    shelves = SimShelves()
    archive(journal, shelves)
    return shelves.files()


def test_each_segment_with_facts_becomes_one_file_named_by_its_first_fact(
    journal: SimDisk, whole: dict[str, bytes]
) -> None:
    rows = told_by(journal)
    firsts = {row["segment"]: row["seq"] for row in reversed(rows)}
    assert len(firsts) >= 3
    named = sorted(path.partition("/")[2] for path in whole)
    assert named == sorted(f"{first:020}.parquet" for first in firsts.values())
    assert {path.partition("/")[0] for path in whole} == {"date=2023-11-14", "date=2023-11-15", "date=2023-11-16"}


def test_nothing_is_missing_and_nothing_is_twice(journal: SimDisk, whole: dict[str, bytes]) -> None:
    shelves = SimShelves()
    archive(journal, shelves)
    assert rows_of(shelves) == told_by(journal)
    assert archive(journal, shelves) == []
    assert shelves.files() == whole


@given(batches())
@settings(max_examples=30)
def test_any_history_comes_back_over_any_number_of_segments_and_restarts(made: list[FactBatch]) -> None:
    disk = journal_of(made)
    shelves = SimShelves()
    for number in segment_numbers(disk):
        archive(disk, shelves, upto=number + 1)
    assert rows_of(shelves) == told_by(disk)


def test_segments_that_are_not_said_to_be_sealed_are_not_touched(journal: SimDisk) -> None:
    shelves = SimShelves()
    archive(journal, shelves, upto=3)
    assert {row["segment"] for row in rows_of(shelves)} == {1, 2}


def test_killed_before_any_operation_it_ends_with_the_same_archive(journal: SimDisk, whole: dict[str, bytes]) -> None:
    moments = 0
    for shelves in interrupted(journal):
        moments += 1
        left = shelves.after_kill()
        archive(journal, left)
        assert left.files() == whole
    assert moments > 25


def test_after_a_power_cut_at_any_operation_it_ends_with_the_same_archive(
    journal: SimDisk, whole: dict[str, bytes]
) -> None:
    for moment, shelves in enumerate(interrupted(journal)):
        for left in shelves.after_power_cut(moment)[:3]:
            archive(journal, left)
            assert left.files() == whole


def test_killed_again_while_it_goes_on_it_still_ends_with_the_same_archive(
    journal: SimDisk, whole: dict[str, bytes]
) -> None:
    for first in interrupted(journal, every=7):
        for second in interrupted(journal, every=5, found=first):
            left = second.after_kill()
            archive(journal, left)
            assert left.files() == whole


def interrupted(journal: SimDisk, every: int = 1, found: SimShelves | None = None) -> list[SimShelves]:
    """The directories as a kill before each operation leaves them."""
    left: list[SimShelves] = []
    moment = 1
    while True:
        disks = {name: disk.contents() for name, disk in found.disks.items()} if found else None
        shelves = SimShelves(Power(cut_before=moment), disks)
        try:
            archive(journal, shelves)
            return left
        except PowerCut:
            shelves.power.cut_before = 0
            left.append(shelves)
            moment += every


def test_a_disk_that_fails_leaves_an_archive_that_goes_on(journal: SimDisk, whole: dict[str, bytes]) -> None:
    failures = 0
    for operation in range(1, 15):
        failing = SimShelves(disks={"date=2023-11-15": {}})
        failing.disks["date=2023-11-15"].fail_at = operation
        try:
            archive(journal, failing)
        except OSError:
            failures += 1
        left = failing.after_kill()
        archive(journal, left)
        assert left.files() == whole
    assert failures > 5


# -- what is wrong is said, and not passed over


def damaged(journal: SimDisk, number: int, at: int) -> SimDisk:
    files = journal.contents()
    data = bytearray(files[segment_name(number)])
    data[at] ^= 0x40
    return SimDisk({**files, segment_name(number): bytes(data)})


@pytest.mark.parametrize("at", [3, 30, 70, 150, 300, -1, -20])
def test_a_damaged_segment_is_reported_and_nothing_behind_it_is_archived(journal: SimDisk, at: int) -> None:
    shelves = SimShelves()
    for _ in range(2):
        with pytest.raises(JournalDamaged, match=r"2\.journal, byte"):
            archive(damaged(journal, 2, at), shelves)
        assert {row["segment"] for row in rows_of(shelves)} == {1}


def test_once_it_is_mended_the_archive_goes_on(journal: SimDisk, whole: dict[str, bytes]) -> None:
    shelves = SimShelves()
    with pytest.raises(JournalDamaged):
        archive(damaged(journal, 2, 300), shelves)
    archive(journal, shelves)
    assert shelves.files() == whole


def test_a_missing_segment_is_damage(journal: SimDisk) -> None:
    files = journal.contents()
    del files[segment_name(2)]
    with pytest.raises(JournalDamaged, match="the segment is missing"):
        archive(SimDisk(files), SimShelves())


def test_a_segment_in_use_is_not_taken_for_a_sealed_one() -> None:
    disk = SimDisk()
    journal = Journal(disk, STORE_ID, 1, 1, START_US, SEGMENT_BYTES)
    journal.append(lives(1)[0], START_US)
    with pytest.raises(JournalDamaged, match="without a footer"):
        archive(disk, SimShelves(), upto=2)


def test_a_journal_that_lost_what_was_archived_is_refused(journal: SimDisk) -> None:
    shelves = SimShelves()
    archive(journal, shelves)
    files = journal.contents()
    first = SimDisk({segment_name(1): files[segment_name(1)]})
    with pytest.raises(JournalDamaged, match="the archive holds facts up to"):
        archive(first, shelves)


def test_the_journal_of_another_store_is_refused(journal: SimDisk) -> None:
    shelves = SimShelves()
    archive(journal, shelves, upto=2)
    other = SimDisk()
    made = Journal(other, b"another store id", 1, 1, START_US, SEGMENT_BYTES)
    for batch in lives(8):
        made.append(batch, START_US)
    made.close(START_US)
    with pytest.raises(JournalDamaged, match="another store"):
        archive(other, shelves)


def test_a_newest_file_that_cannot_be_read_is_said_and_written_anew(journal: SimDisk, whole: dict[str, bytes]) -> None:
    shelves = SimShelves()
    archive(journal, shelves)
    newest = max(whole, key=lambda path: path.partition("/")[2])
    partition, _, name = newest.partition("/")
    left = shelves.after_kill()
    left.disks[partition].files[name].content[-4:] = b"oops"
    said = archive(journal, left)
    assert said[0][0] == "unreadable"
    assert said[0][1]["file"] == newest
    assert left.files() == whole


def test_the_file_of_a_later_version_is_never_replaced(journal: SimDisk, whole: dict[str, bytes]) -> None:
    newest = max(whole, key=lambda path: path.partition("/")[2])
    later = resaid(whole[newest], {b"penstock.version": b"2"})
    partition, _, name = newest.partition("/")
    shelves = SimShelves(disks={partition: {name: later}})
    with pytest.raises(OtherVersion):
        archive(journal, shelves)
    assert shelves.files() == {newest: later}


def test_it_says_what_it_archived(journal: SimDisk) -> None:
    said = archive(journal, SimShelves(), upto=3)
    assert [event for event, _ in said] == ["segment archived"] * 2
    fields = said[0][1]
    assert (fields["segment"], fields["first"]) == (1, 1)
    assert fields["file"] == "date=2023-11-14/00000000000000000001.parquet"


# -- what went into a snapshot before there was an archive


def folded(journal: SimDisk, sealed_below: int, sweep: bool = True) -> SimDisk:
    disk = SimDisk(journal.contents())
    folder = Folder(disk, PolicyBook(), Keeping(1), 77, lambda event, fields: None)
    for _ in folder.fold(sealed_below):
        pass
    if sweep:
        folder.sweep(sealed_below)
    return disk


def test_an_archive_begins_behind_a_snapshot_where_the_segments_are_gone(journal: SimDisk) -> None:
    shelves = SimShelves()
    said = archive(folded(journal, 3), shelves)
    assert rows_of(shelves) == [row for row in told_by(journal) if row["segment"] >= 3]
    assert said[0][0] == "facts never archived"
    assert (said[0][1]["first"], said[0][1]["segment"]) == (1, 2)
    assert archive(folded(journal, 3), shelves) == [], "and goes on from its own files"


def test_a_snapshot_changes_nothing_for_an_archive_that_has_the_segments(
    journal: SimDisk, whole: dict[str, bytes]
) -> None:
    shelves = SimShelves()
    archive(folded(journal, 3, sweep=False), shelves)
    assert shelves.files() == whole


def test_a_snapshot_that_does_not_reach_to_the_missing_segment_is_no_excuse(journal: SimDisk) -> None:
    shelves = SimShelves()
    disk = folded(journal, 2)
    disk.remove(segment_name(2))
    archive(SimDisk({name: data for name, data in journal.contents().items() if name == segment_name(1)}), shelves)
    with pytest.raises(JournalDamaged, match="the segment is missing"):
        archive(disk, shelves)
