"""A journal whose only snapshot is damaged: what can be read is kept, what cannot is listed, and the server starts."""

from __future__ import annotations

import pytest

from penstock.codecs.snapshots import DEDUP_IDS, HEADER_BYTES, MARKS, MESSAGES, NUMBERS, QUEUES
from penstock.history.rescue import Rescue
from penstock.journal import check
from penstock.journal.segment import JournalDamaged, segment_name, segment_numbers
from penstock.journal.snapshot import SnapshotReader, is_founded, snapshot_name, snapshot_numbers
from tests.engine.test_snapshots import assert_same
from tests.history.test_folding import fold, lived, replayed, spoiled
from tests.journal.simdisk import PowerCut, SimDisk


@pytest.fixture(scope="module")
def contents() -> dict[str, bytes]:
    """A snapshot, and several segments after it."""
    disk = SimDisk()
    lived(disk)
    fold(disk, 5).sweep(1 << 60)
    return disk.contents()


def block_places(disk: SimDisk) -> dict[int, int]:
    """Where the first block of each kind begins."""
    reader = SnapshotReader(disk, snapshot_numbers(disk)[0], b"")
    places: dict[int, int] = {}
    at = reader.at
    for block, _ in reader.blocks():
        places.setdefault(block.kind, at)
        at = reader.at
    return places


def broken(contents: dict[str, bytes], kind: int) -> SimDisk:
    disk = SimDisk(contents)
    return spoiled(disk, snapshot_name(snapshot_numbers(disk)[0]), block_places(disk)[kind] + 40)


def rescued(disk: SimDisk) -> Rescue:
    rescue = Rescue(disk, 77)
    rescue.put_back()
    return rescue


def test_numbers_that_are_lost_are_found_again(contents: dict[str, bytes]) -> None:
    whole, _ = replayed(SimDisk(contents))
    disk = broken(contents, NUMBERS)
    rescue = rescued(disk)
    state, _ = replayed(disk)
    assert [loss.facts for loss in rescue.plan.losses] == [0]
    assert state.next_seq > whole.next_seq
    assert state.next_queue_id == whole.next_queue_id
    state.next_seq = whole.next_seq
    assert_same(state, whole)


def test_messages_that_are_lost_are_missed_and_the_facts_about_them_are_listed(contents: dict[str, bytes]) -> None:
    whole, _ = replayed(SimDisk(contents))
    disk = broken(contents, MESSAGES)
    rescue = rescued(disk)
    state, _ = replayed(disk)
    kept = {int(message.order) for message in state.messages.values()}
    assert kept < {int(message.order) for message in whole.messages.values()}
    assert len(kept) > 0, "those that were published after it"
    assert rescue.plan.losses[-1].facts > 0
    salvaged = [name for name in disk.files if name.endswith("salvaged.jsonl")]
    assert len(salvaged) == 1
    assert disk.read(salvaged[0]).count(b"\n") == rescue.plan.losses[-1].facts


def test_messages_whose_queues_are_lost_are_kept_under_their_numbers(contents: dict[str, bytes]) -> None:
    whole, _ = replayed(SimDisk(contents))
    disk = broken(contents, QUEUES)
    rescued(disk)
    state, _ = replayed(disk)
    assert sorted(state.queues) == [b"recovered-1", b"recovered-2"]
    assert {int(one.order) for one in state.messages.values()} == {int(one.order) for one in whole.messages.values()}


@pytest.mark.parametrize("kind", [NUMBERS, QUEUES, MESSAGES])
def test_a_rescued_journal_is_sound_and_its_server_goes_on(contents: dict[str, bytes], kind: int) -> None:
    disk = broken(contents, kind)
    assert not is_founded(disk)
    rescued(disk)
    assert is_founded(disk)
    assert check.verify(disk) == []
    lived(disk, 10, seed=9)
    assert check.verify(disk) == []


def test_a_lost_footer_costs_nothing_and_is_damage_all_the_same(contents: dict[str, bytes]) -> None:
    whole, _ = replayed(SimDisk(contents))
    sound = SimDisk(contents)
    name = snapshot_name(snapshot_numbers(sound)[0])
    disk = spoiled(sound, name, sound.size(name) - 20)
    assert not is_founded(disk)
    rescue = rescued(disk)
    assert [damage.file for damage in rescue.plan.damages] == [name]
    assert rescue.plan.losses == []
    state, _ = replayed(disk)
    state.next_seq = whole.next_seq
    assert_same(state, whole)


def test_whichever_byte_is_spoiled_nothing_is_lost_that_is_not_listed(contents: dict[str, bytes]) -> None:
    """But for the header, without which there is no repair."""
    sound = SimDisk(contents)
    whole = orders(sound)
    name = snapshot_name(snapshot_numbers(sound)[0])
    for at in range(HEADER_BYTES, sound.size(name), 67):
        disk = spoiled(sound, name, at)
        rescue = rescued(disk)
        listed = sum(loss.messages for loss in rescue.plan.losses)
        assert any(damage.offset <= at for damage in rescue.plan.damages), at
        assert check.verify(disk) == [], at
        assert orders(disk) <= whole, at
        assert len(whole - orders(disk)) <= listed, at


def test_how_many_messages_are_lost_is_told(contents: dict[str, bytes]) -> None:
    """Some of them had ended since: the facts that say so are among those that are salvaged."""
    disk = broken(contents, MESSAGES)
    sound = SnapshotReader(SimDisk(contents), snapshot_numbers(disk)[0], b"")
    sound.check()
    assert sound.footer is not None
    assert [loss.messages for loss in Rescue(disk, 77).plan.losses] == [sound.footer.messages, 0]


def orders(disk: SimDisk) -> set[int]:
    return {int(message.order) for message in replayed(disk)[0].messages.values()}


def test_a_rescue_changes_nothing_before_it_is_told_to(contents: dict[str, bytes]) -> None:
    disk = broken(contents, MESSAGES)
    before = disk.contents()
    Rescue(disk, 77)
    assert disk.contents() == before


def test_a_rescue_that_was_killed_is_done_again(contents: dict[str, bytes]) -> None:
    expected = broken(contents, MESSAGES)
    rescued(expected)
    state, _ = replayed(expected)
    moment = 1
    while True:
        disk = broken(contents, MESSAGES)
        rescue = Rescue(disk, 77)
        disk.operations.clear()
        disk.cut_before = moment
        try:
            rescue.put_back()
            break
        except PowerCut:
            left = disk.after_kill()
        if not is_founded(left):
            rescued(left)
        assert_same(replayed(left)[0], state)
        moment += 1
    assert moment > 8


def test_where_a_segment_is_damaged_too_it_is_refused(contents: dict[str, bytes]) -> None:
    disk = broken(contents, MESSAGES)
    with pytest.raises(JournalDamaged, match=r"\.journal"):
        Rescue(spoiled(disk, segment_name(segment_numbers(disk)[1]), 300), 77)


def test_the_kinds_of_blocks_in_these_tests_are_those_there_are(contents: dict[str, bytes]) -> None:
    assert set(block_places(SimDisk(contents))) <= {NUMBERS, QUEUES, MESSAGES, DEDUP_IDS, MARKS}
