"""The process or the power may go before any operation: what comes back is a prefix, no shorter than promised."""

from __future__ import annotations

import random

import pytest

from penstock.journal.journal import JournalDead
from penstock.journal.segment import JournalDamaged
from tests.journal.simdisk import PowerCut, SimDisk
from tests.journal.story import Row, Story, recovered


def operations_of_a_story() -> int:
    disk = SimDisk()
    Story().live(disk)
    return len(disk.operations)


MOMENTS = range(1, operations_of_a_story() + 2)


def stopped_before(moment: int, disk: SimDisk | None = None) -> tuple[SimDisk, Story]:
    """A story that ends before that operation; one moment after the last operation it ends by itself."""
    disk, story = disk or SimDisk(), Story()
    disk.cut_before = moment
    try:
        story.live(disk)
    except PowerCut:
        pass
    return disk, story


def assert_promise(facts: list[Row], story: Story, least: int) -> None:
    assert facts == story.attempted[: len(facts)]
    assert len(facts) >= least


def test_a_killed_process_loses_nothing_it_has_written() -> None:
    for moment in MOMENTS:
        disk, story = stopped_before(moment)
        facts, _, _ = recovered(disk.after_kill())
        assert_promise(facts, story, story.written)


def test_a_power_cut_loses_nothing_that_was_synced() -> None:
    for moment in MOMENTS:
        disk, story = stopped_before(moment)
        for state in disk.crash_states(moment):
            facts, journal, recovery = recovered(state)
            assert_promise(facts, story, story.synced)
            assert (recovery.facts, recovery.next_fact) == (len(facts), len(facts) + 1)
            assert (journal.next_fact, journal.synced) == (len(facts) + 1, len(facts) + 1)


def test_a_power_cut_during_a_recovery_changes_nothing() -> None:
    for moment in MOMENTS[::3]:
        disk, _ = stopped_before(moment)
        for state in sample(disk, 2, moment):
            found = state.contents()
            expected, _, _ = recovered(state)
            for cut in range(1, len(state.operations) + 1):
                again = SimDisk(found)
                again.cut_before = cut
                with pytest.raises(PowerCut):
                    recovered(again)
                for left in sample(again, 2, cut):
                    assert recovered(left)[0] == expected


def test_what_a_killed_process_wrote_is_as_safe_as_synced_once_it_was_read_back() -> None:
    """The second process may tell others what it found: from then on a power cut must not take it."""
    for moment in MOMENTS:
        disk, story = stopped_before(moment)
        facts, _, _ = recovered(disk.after_kill())
        for state in sample(disk, 4, moment):
            assert recovered(state)[0] == facts
        assert_promise(facts, story, story.written)


def test_a_power_cut_in_a_second_life_keeps_the_first() -> None:
    for moment in MOMENTS[::2]:
        disk, _ = stopped_before(moment)
        for state in sample(disk, 2, moment):
            story = Story()
            story.go_on(state)
            for left in sample(state, 4, moment):
                assert_promise(recovered(left)[0], story, story.synced)


def test_a_disk_that_eats_its_syncs_is_found_out() -> None:
    """The test of this test: were nothing ever synced, these crash states must show it."""
    lost = 0
    for moment in MOMENTS[::8]:
        disk = SimDisk()
        disk.eats_syncs = True
        disk, story = stopped_before(moment, disk)
        for state in sample(disk, 5, moment):
            try:
                lost += len(recovered(state)[0]) < story.synced
            except JournalDamaged:
                lost += 1
    assert lost > 0


def test_every_failed_operation_is_final_and_costs_nothing_that_was_synced() -> None:
    for moment in MOMENTS[:-1]:
        for for_good in (False, True):
            disk, story = SimDisk(), Story()
            disk.fail_at, disk.fails_for_good = moment, for_good
            with pytest.raises(JournalDead):
                story.live(disk)
            for state in sample(disk, 3, moment):
                assert_promise(recovered(state)[0], story, story.synced)
            facts, _, _ = recovered(disk.after_kill())
            assert_promise(facts, story, story.synced)
            for state in sample(disk, 3, moment):
                assert recovered(state)[0] == facts


def sample(disk: SimDisk, count: int, seed: int) -> list[SimDisk]:
    states = list(disk.crash_states(seed))
    return random.Random(seed).sample(states, min(count, len(states)))
