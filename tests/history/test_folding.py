"""The fold's promise: a snapshot is worth the segments in it, and nothing goes before that is certain."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from penstock.broker.embedded import Embedded
from penstock.engine.engine import Engine
from penstock.engine.rules import PolicyBook
from penstock.engine.state import State
from penstock.history import folding
from penstock.history.folding import Folder, Keeping
from penstock.journal.disk import Disk
from penstock.journal.journal import Journal
from penstock.journal.recovery import Recovery, recover
from penstock.journal.segment import JournalDamaged, segment_name, segment_numbers
from penstock.journal.snapshot import newest_whole, snapshot_name, snapshot_numbers
from penstock.model import stages
from penstock.model.contract import Session
from penstock.model.options import Publishing, Reserving
from penstock.model.policy import Policy
from tests.engine.clients import Recorder
from tests.engine.test_snapshots import assert_same
from tests.journal.simdisk import PowerCut, SimDisk

STORE_ID = b"the fold's store"
START_US = 1_700_000_000_000_000
SEGMENT_BYTES = 2_048
BOOK = PolicyBook([(b"*", Policy(dedup_us=60_000_000))])
SMALL = Keeping(snapshot_bytes=1)


class Quiet(Session):
    """Hears everything, answers nothing."""

    def __init__(self) -> None:
        super().__init__(4)
        self.got: list[int] = []

    def answered(self, token: int, code: int, message: Any, number: int) -> None:
        if message is not None:
            self.got.append(int(message.order))


def lived(disk: Disk, turns: int = 60, seed: int = 1) -> None:
    """A server's life by chance: messages come, are handed out, finished or returned; it ends without a word."""
    embedded = Embedded(disk, STORE_ID, BOOK, stages.WRITE, SEGMENT_BYTES)
    embedded.open(START_US, "test")
    chance, session, now_us = Random(seed), Quiet(), int(embedded.now_us())
    broker = embedded.broker
    for turn in range(turns):
        now_us += chance.choice((1, 1_000, 400_000))
        embedded.begin(now_us)
        queue = chance.choice((b"one", b"two"))
        options = Publishing(key=chance.choice((None, b"k")), priority=chance.randint(0, 2), create=True)
        broker.publish(session, turn, queue, chance.randbytes(chance.randint(0, 200)), -1, options, stages.WRITE)
        if chance.random() < 0.6:
            broker.reserve(session, turn, queue, Reserving(lease_us=5_000_000), stages.WRITE)
        if session.got and chance.random() < 0.8:
            broker.finish(session, turn, queue, session.got.pop(), 0, 0, stages.WRITE)
        embedded.commit()


def replayed(disk: Disk) -> tuple[State, Recovery]:
    """What a start finds; the disk is a copy."""
    engine = Engine(BOOK, Recorder())
    copy = SimDisk({name: disk.read(name) for name in disk.names()})
    _, recovery = recover(copy, STORE_ID, engine.replay, START_US, SEGMENT_BYTES, engine.restore)
    return engine.state(), recovery


def folder(disk: Disk, keeping: Keeping = SMALL, said: list[tuple[str, dict[str, object]]] | None = None) -> Folder:
    heard = [] if said is None else said
    return Folder(disk, BOOK, keeping, 77, lambda event, fields: heard.append((event, fields)))


def fold(disk: Disk, sealed_below: int = 0, keeping: Keeping = SMALL) -> Folder:
    made = folder(disk, keeping)
    for _ in made.fold(sealed_below or segment_numbers(disk)[-1]):
        pass
    return made


@pytest.fixture(scope="module")
def contents() -> dict[str, bytes]:
    disk = SimDisk()
    lived(disk)
    return disk.contents()


@pytest.fixture
def disk(contents: dict[str, bytes]) -> SimDisk:
    return SimDisk(contents)


# -- what a snapshot is worth


def test_a_start_from_a_snapshot_finds_what_a_start_from_all_facts_finds(disk: SimDisk) -> None:
    whole, all_of_them = replayed(disk)
    fold(disk).sweep(1 << 60)
    state, recovery = replayed(disk)
    assert_same(state, whole)
    assert recovery.snapshot == segment_numbers(disk)[0] - 1
    assert (recovery.next_fact, recovery.segments) == (all_of_them.next_fact, 1)
    assert recovery.facts < all_of_them.facts
    assert recovery.clean == all_of_them.clean


def test_a_snapshot_is_made_from_the_one_before_and_the_segments_since(disk: SimDisk) -> None:
    whole, _ = replayed(disk)
    for sealed_below in segment_numbers(disk)[1:]:
        made = fold(disk, sealed_below)
        made.sweep(1 << 60)
        assert snapshot_numbers(disk) == [sealed_below - 1]
        assert segment_numbers(disk)[0] == sealed_below
        assert_same(replayed(disk)[0], whole)


def test_a_server_goes_on_from_a_snapshot_and_is_folded_again(disk: SimDisk) -> None:
    for seed in range(2, 6):
        fold(disk).sweep(1 << 60)
        lived(disk, 30, seed)
    whole, _ = replayed(disk)
    fold(disk).sweep(1 << 60)
    assert_same(replayed(disk)[0], whole)


def test_after_all_segments_went_into_a_snapshot_the_numbers_go_on(disk: SimDisk) -> None:
    journal, _ = recover(disk, STORE_ID, lambda fact: None, START_US, SEGMENT_BYTES)
    journal.close(START_US)
    last, next_fact = segment_numbers(disk)[-1], journal.next_fact
    fold(disk, last + 1).sweep(1 << 60)
    assert segment_numbers(disk) == []
    _, recovery = replayed(disk)
    assert (recovery.next_segment, recovery.next_fact, recovery.segments) == (last + 1, next_fact, 0)
    lived(disk, 1)
    assert segment_numbers(disk) == [last + 1]


def test_its_queues_have_their_names(disk: SimDisk) -> None:
    fold(disk)
    found = newest_whole(disk, STORE_ID).snapshot
    assert found is not None
    assert sorted(found.queue_names().values()) == [b"one", b"two"]


def test_it_says_what_it_did(disk: SimDisk) -> None:
    said: list[tuple[str, dict[str, object]]] = []
    made = folder(disk, said=said)
    for _ in made.fold(3):
        pass
    made.tell_kept()
    assert [event for event, _ in said] == ["snapshot written", "journal kept"]
    assert said[0][1]["segment"] == 2
    assert said[1][1]["snapshot"] == 2
    assert said[1][1]["snapshot_bytes"] == said[0][1]["bytes"] == disk.size(snapshot_name(2))


# -- when there is one


def due(disk: SimDisk, keeping: Keeping, live_bytes: int, sealed_below: int = 0, ahead_bytes: int = 0) -> bool:
    return folder(disk, keeping).is_due(sealed_below or segment_numbers(disk)[-1], live_bytes, ahead_bytes)


def padded(disk: SimDisk, numbers: list[int], size: int) -> int:
    """Segments of that size, as far as anybody asks."""
    for number in numbers:
        disk.files[segment_name(number)].content.extend(bytes(size - disk.size(segment_name(number))))
    return len(numbers) * size


def test_there_is_one_when_enough_was_sealed_and_as_much_as_lives(disk: SimDisk) -> None:
    sealed = padded(disk, segment_numbers(disk)[:-1], 8_192)
    assert due(disk, Keeping(sealed), 0)
    assert not due(disk, Keeping(sealed + 1), 0)
    assert due(disk, Keeping(1), sealed)
    assert not due(disk, Keeping(1), sealed + 1)
    assert not due(disk, Keeping(1), 0, sealed_below=1), "nothing is sealed"


def test_what_is_made_ready_counts_with_what_is_sealed(disk: SimDisk) -> None:
    sealed = padded(disk, segment_numbers(disk)[:-1], 8_192)
    assert due(disk, Keeping(sealed + 1_000), 0, ahead_bytes=1_000)
    assert not due(disk, Keeping(sealed + 1_000), 0, ahead_bytes=999)
    assert not due(disk, Keeping(1), sealed + 1, ahead_bytes=1 << 40), "less is sealed than lives: not worth it yet"


@pytest.mark.parametrize("live", [1 << 14, 1 << 20, 1 << 24])
@pytest.mark.parametrize("ahead_bytes", [0, 1 << 16, 1 << 22])
def test_where_none_is_due_the_journal_is_within_its_bound(disk: SimDisk, live: int, ahead_bytes: int) -> None:
    """Three times what lives and what is sealed before a snapshot, as long as what is made ready is not more itself."""
    sealed = padded(disk, segment_numbers(disk)[:-1], 4_096)
    made = folder(disk, Keeping(1 << 22))
    sealed_below = segment_numbers(disk)[-1]
    for kept in range(0, 8 * live + (1 << 24), 1 << 14):
        made._last = made._last._replace(bytes=kept)
        if not made.is_due(sealed_below, live, ahead_bytes):
            assert kept + sealed + ahead_bytes <= 3 * live + (1 << 22)


def test_there_is_one_when_far_less_lives_than_is_kept(disk: SimDisk) -> None:
    """Few facts end large messages: they may never be as many bytes as were alive."""
    live = 1 << 20
    fold(disk, segment_numbers(disk)[-2])
    snapshot = disk.files[snapshot_name(segment_numbers(disk)[-3])]
    beside = folder(disk)._last.beside
    assert len(snapshot.content) - beside > 0
    made = folder(disk, Keeping(live))
    made._last = made._last._replace(bytes=10 * live)
    sealed_below = segment_numbers(disk)[-1]
    assert not made.is_due(sealed_below, 4 * live)
    assert made.is_due(sealed_below, 2 * live)


def test_there_is_one_when_segments_are_many_however_small(disk: SimDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    count = len(segment_numbers(disk)) - 1
    monkeypatch.setattr(folding, "SEGMENTS_MAX", count)
    assert due(disk, Keeping(1 << 40), 0)
    monkeypatch.setattr(folding, "SEGMENTS_MAX", count + 1)
    assert not due(disk, Keeping(1 << 40), 0)


def test_there_is_one_when_the_disk_lacks_room_and_it_would_make_some(disk: SimDisk) -> None:
    sealed = padded(disk, segment_numbers(disk)[:-1], 8_192)
    made = folder(disk, Keeping(1 << 40))
    assert made.is_due(segment_numbers(disk)[-1], sealed * 7 // 8, pressed=True)
    assert not made.is_due(segment_numbers(disk)[-1], sealed, pressed=True), "as much would live in it as there is"
    assert not made.is_due(1, 0, pressed=True), "nothing is sealed"


def test_right_after_one_there_is_no_other(disk: SimDisk) -> None:
    made = fold(disk)
    state, _ = replayed(disk)
    assert not made.is_due(segment_numbers(disk)[-1], int(state.live_bytes()))
    assert made._last.beside == disk.size(snapshot_name(made._last.number)) - state_bytes(disk)


def state_bytes(disk: SimDisk) -> int:
    found = newest_whole(disk, STORE_ID).snapshot
    assert found is not None
    assert found.footer is not None
    return found.footer.live_bytes


# -- what goes, and when


def test_segments_stay_until_they_are_archived_too(disk: SimDisk) -> None:
    made = fold(disk)
    before = segment_numbers(disk)
    made.sweep(archived_below=3)
    assert segment_numbers(disk) == before[2:]
    made.sweep(archived_below=1 << 60)
    assert segment_numbers(disk) == before[-1:]


def test_the_newest_of_what_is_spent_is_kept_as_far_as_asked(disk: SimDisk) -> None:
    before = segment_numbers(disk)
    made = fold(disk, keeping=Keeping(1, 3 * 4_096))
    made.sweep(1 << 60)
    assert segment_numbers(disk) == before[-4:]


def test_of_older_snapshots_one_stays_while_the_segments_after_it_do(disk: SimDisk) -> None:
    for sealed_below in (3, 5, 7):
        fold(disk, sealed_below).sweep(archived_below=5)
    assert snapshot_numbers(disk) == [4, 6]
    assert segment_numbers(disk)[0] == 5
    folder(disk).sweep(archived_below=6)
    assert snapshot_numbers(disk) == [6]


# -- crashes


def interrupted(contents: dict[str, bytes], every: int = 1) -> Iterator[tuple[int, SimDisk]]:
    """Disks as a fold that ends before each operation leaves them."""
    moment = 1
    while True:
        disk = SimDisk(contents)
        disk.cut_before = moment
        try:
            fold(disk).sweep(1 << 60)
            return
        except PowerCut:
            yield moment, disk
        moment += every


def test_killed_before_any_operation_it_has_changed_nothing_that_counts(contents: dict[str, bytes]) -> None:
    whole, _ = replayed(SimDisk(contents))
    moments = 0
    for _, disk in interrupted(contents):
        moments += 1
        left = disk.after_kill()
        assert_same(replayed(left)[0], whole)
        fold(left).sweep(1 << 60)
        assert_same(replayed(left)[0], whole)
        assert [name for name in left.files if "snapshot." in name] == []
        assert len(snapshot_numbers(left)) == 1
    assert moments > 30


def test_after_a_power_cut_at_any_operation_the_state_is_the_same(contents: dict[str, bytes]) -> None:
    whole, _ = replayed(SimDisk(contents))
    for moment, disk in interrupted(contents):
        for left in sample([*disk.crash_states(moment)], 6, moment):
            assert_same(replayed(left)[0], whole)


def test_a_disk_that_eats_its_syncs_is_found_out(contents: dict[str, bytes]) -> None:
    """The test of the one above: were nothing synced before the old goes, these crash states must show it."""
    whole, _ = replayed(SimDisk(contents))
    wrong = 0
    disk = SimDisk(contents)
    disk.eats_syncs = True
    fold(disk).sweep(1 << 60)
    for left in sample([*disk.crash_states(1)], 40, 1):
        try:
            wrong += len(replayed(left)[0].messages) != len(whole.messages)
        except JournalDamaged:
            wrong += 1
    assert wrong > 0


def test_every_failed_operation_costs_nothing(contents: dict[str, bytes]) -> None:
    whole, _ = replayed(SimDisk(contents))
    failures, moment = 0, 1
    while True:
        disk = SimDisk(contents)
        disk.fail_at, disk.fails_for_good = moment, moment % 2 == 0
        try:
            fold(disk).sweep(1 << 60)
            break
        except OSError:
            failures += 1
        for left in [disk.after_kill(), *sample([*disk.crash_states(moment)], 2, moment)]:
            assert_same(replayed(left)[0], whole)
        moment += 1
    assert failures > 30


def test_a_full_disk_leaves_no_half_snapshot_behind(disk: SimDisk) -> None:
    writing = next(place for place, what in enumerate(operations(disk), 1) if what.startswith("create"))
    disk.fail_at = writing + 1
    with pytest.raises(OSError, match="Input/output"):
        fold(disk)
    assert [name for name in disk.files if "snapshot" in name] == []


def operations(disk: SimDisk) -> list[str]:
    trial = SimDisk(disk.contents())
    fold(trial)
    return trial.operations


def test_what_is_not_read_back_as_it_was_written_never_counts(disk: SimDisk) -> None:
    class Forgetful(SimDisk):
        def doubt(self, handle: int) -> None:
            super().doubt(handle)
            self.handles[handle].content[200] ^= 1

    bad = Forgetful(disk.contents())
    with pytest.raises(OSError, match="not read back"):
        fold(bad)
    assert snapshot_numbers(bad) == []
    assert segment_numbers(bad) == segment_numbers(disk)


# -- damage


def spoiled(disk: SimDisk, name: str, at: int) -> SimDisk:
    files = disk.contents()
    data = bytearray(files[name])
    data[at] ^= 0x10
    return SimDisk({**files, name: bytes(data)})


def test_any_flipped_bit_of_the_only_snapshot_is_refused(disk: SimDisk) -> None:
    fold(disk).sweep(1 << 60)
    name = snapshot_name(snapshot_numbers(disk)[0])
    size = disk.size(name)
    for at in {*range(0, size, 41), *range(64), *range(size - 48, size)}:
        with pytest.raises(JournalDamaged, match=r"\.snapshot, byte"):
            replayed(spoiled(disk, name, at))


@pytest.mark.parametrize("cut", [0, 10, 64, 100, -1])
def test_a_snapshot_that_is_cut_short_is_refused(disk: SimDisk, cut: int) -> None:
    fold(disk).sweep(1 << 60)
    name = snapshot_name(snapshot_numbers(disk)[0])
    files = disk.contents()
    with pytest.raises(JournalDamaged, match=r"\.snapshot"):
        replayed(SimDisk({**files, name: files[name][:cut]}))


def test_of_two_snapshots_the_older_is_used_where_the_newer_is_damaged_and_its_segments_are_there(
    disk: SimDisk,
) -> None:
    whole, _ = replayed(disk)
    fold(disk, 4)
    fold(disk, 7)
    state, recovery = replayed(spoiled(disk, snapshot_name(6), 300))
    assert_same(state, whole)
    assert recovery.snapshot == 3
    assert len(recovery.passed_over) == 1
    assert "6.snapshot, byte" in recovery.passed_over[0]


def test_all_facts_are_as_good_as_a_snapshot_that_is_damaged(disk: SimDisk) -> None:
    whole, _ = replayed(disk)
    fold(disk, 4)
    state, recovery = replayed(spoiled(disk, snapshot_name(3), 300))
    assert_same(state, whole)
    assert (recovery.snapshot, len(recovery.passed_over)) == (0, 1)


def test_a_fold_replaces_a_damaged_snapshot(disk: SimDisk) -> None:
    whole, _ = replayed(disk)
    fold(disk, 4)
    bad = spoiled(disk, snapshot_name(3), 300)
    fold(bad, 4)
    assert_same(replayed(bad)[0], whole)
    assert replayed(bad)[1].snapshot == 3


def test_without_a_segment_that_it_needs_nothing_is_folded(disk: SimDisk) -> None:
    disk.remove(segment_name(3))
    with pytest.raises(JournalDamaged, match="the segment is missing"):
        fold(disk)
    assert snapshot_numbers(disk) == []


def test_a_segment_that_is_in_use_is_not_folded(disk: SimDisk) -> None:
    with pytest.raises(JournalDamaged, match="not sealed"):
        fold(disk, segment_numbers(disk)[-1] + 1)
    assert snapshot_numbers(disk) == []


def test_a_snapshot_of_a_later_version_is_refused_and_not_passed_over(disk: SimDisk) -> None:
    from crc32c import crc32c

    fold(disk)
    name = snapshot_name(snapshot_numbers(disk)[0])
    files = disk.contents()
    head = bytearray(files[name][:60])
    head[8] = 2
    files[name] = bytes(head) + crc32c(bytes(head)).to_bytes(4, "little") + files[name][64:]
    with pytest.raises(JournalDamaged, match="it is of version 2"):
        replayed(SimDisk(files))
    with pytest.raises(JournalDamaged, match="it is of version 2"):
        folder(SimDisk(files))


def test_the_snapshot_of_another_store_is_refused(disk: SimDisk) -> None:
    fold(disk).sweep(1 << 60)
    engine = Engine(BOOK, Recorder())
    with pytest.raises(JournalDamaged, match="another store"):
        recover(disk, b"another store id", engine.replay, START_US, SEGMENT_BYTES, engine.restore)


def sample(states: list[SimDisk], count: int, seed: int) -> list[SimDisk]:
    return Random(seed).sample(states, min(count, len(states)))


def test_the_life_in_these_tests_has_many_segments(contents: dict[str, bytes]) -> None:
    assert len(segment_numbers(SimDisk(contents))) >= 9
    assert isinstance(Journal, type)
