"""Repair: told before it is done, nothing readable destroyed, safe to kill and to repeat."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import pytest
from crc32c import crc32c

from penstock.journal import check
from penstock.journal.repair import Loss, plan_repair, repair
from penstock.journal.segment import JournalDamaged, segment_name
from tests.journal.simdisk import PowerCut, SimDisk
from tests.journal.story import START_US, batch_of, recovered

ONE, TWO, THREE, FOUR = map(segment_name, range(1, 5))

# A batch of one fact with a body of 5 to 8 bytes takes 112 bytes; a segment's first begins at byte 64.
STEP = 112


def four_segments() -> SimDisk:
    """Three facts in each, the last segment in use; the body of fact 7 is `body 7`."""
    disk = SimDisk()
    _, journal, _ = recovered(disk)
    for number in range(1, 13):
        journal.append(batch_of((number, b"body %d" % number)), START_US + number)
        journal.sync()
        if number % 3 == 0 and number < 12:
            journal.rotate(START_US + number)
    return disk


def spoil(disk: SimDisk, name: str, at: int) -> None:
    disk.files[name].content[at] ^= 0x10


def told(loss: Loss) -> tuple[str, int, int, int, int]:
    return loss.file, loss.offset, loss.first, loss.last, loss.facts


def kept(disk: SimDisk) -> list[int]:
    """The numbers of the facts that a server finds, after a check that each is right."""
    facts, _, _ = recovered(disk)
    assert [body for _, _, _, body in facts] == [b"body %d" % number for number, *_ in facts]
    return [number for number, *_ in facts]


def salvaged(disk: SimDisk) -> dict[int, bytes]:
    lines = [
        json.loads(line)
        for name, content in disk.contents().items()
        if name.endswith(".salvaged.jsonl")
        for line in content.splitlines()
    ]
    return {line["fact"]: base64.b64decode(line["body"]) for line in lines}


def test_a_sound_journal_needs_no_repair() -> None:
    disk = four_segments()
    before = disk.contents()
    plan = plan_repair(disk)
    assert (plan.damages, plan.losses) == ([], [])
    repair(disk, plan)
    assert disk.contents() == before


def test_a_torn_tail_is_left_to_the_next_start() -> None:
    disk = four_segments()
    spoil(disk, FOUR, 64 + 2 * STEP + 50)
    assert plan_repair(disk).damages == []


def test_a_plan_tells_exactly_what_would_be_given_up_and_changes_nothing() -> None:
    disk = four_segments()
    spoil(disk, TWO, 64 + STEP + 50)
    before = disk.contents()
    plan = plan_repair(disk)
    assert [str(damage) for damage in plan.damages] == [
        f"{TWO}, byte {64 + STEP}, where fact 5 is expected: the checksum of the batch is wrong"
    ]
    assert [told(loss) for loss in plan.losses] == [
        (TWO, 64 + STEP, 5, 6, 1),
        (THREE, 0, 7, 9, 3),
        (FOUR, 0, 10, 12, 3),
    ]
    footer = disk.contents()[TWO][-56:].rstrip(b"\0")
    assert [loss.bytes for loss in plan.losses] == [2 * STEP + len(footer), 64 + 3 * STEP + 56, 2048]
    assert disk.contents() == before


def test_what_is_before_the_damage_is_kept_and_what_is_readable_behind_it_salvaged() -> None:
    disk = four_segments()
    spoil(disk, TWO, 64 + STEP + 50)
    before = disk.contents()
    repair(disk, plan_repair(disk))
    assert check.verify(disk) == []
    assert salvaged(disk) == {number: b"body %d" % number for number in range(6, 13)}
    for name in (TWO, THREE, FOUR):
        assert disk.contents()[f"{name}.damaged"] == before[name]
    assert kept(disk) == [1, 2, 3, 4]


def test_salvaged_facts_are_whole_rows() -> None:
    disk = four_segments()
    fact = next(check.read(disk, 12))
    spoil(disk, FOUR, 64 + 50)
    repair(disk, plan_repair(disk))
    line = disk.contents()[f"{FOUR}.salvaged.jsonl"].splitlines()[-1]
    row = check.fact_row(fact)
    assert json.loads(line) == {**row, "body": base64.b64encode(fact.body).decode(), "extra": ""}


def test_a_lost_footer_costs_no_fact() -> None:
    disk = four_segments()
    spoil(disk, TWO, 64 + 3 * STEP + 20)
    plan = plan_repair(disk)
    assert [told(loss) for loss in plan.losses] == [(TWO, 64 + 3 * STEP, 0, 0, 0)]
    repair(disk, plan)
    assert kept(disk) == list(range(1, 13))


@pytest.mark.parametrize("name", [ONE, TWO, FOUR])
def test_a_lost_header_costs_no_fact(name: str) -> None:
    disk = four_segments()
    disk.files[name].content[:64] = bytes(64)
    plan = plan_repair(disk)
    assert [(damage.file, damage.reason) for damage in plan.damages] == [(name, "the segment's header cannot be read")]
    assert [(loss.bytes, loss.facts) for loss in plan.losses] == [(0, 0)]
    repair(disk, plan)
    assert kept(disk) == list(range(1, 13))


def test_the_header_of_an_only_segment_can_be_made_anew_while_it_shows_the_store() -> None:
    disk = SimDisk()
    _, journal, _ = recovered(disk)
    journal.append(batch_of((1, b"body 1")), START_US)
    spoil(disk, ONE, 33)
    repair(disk, plan_repair(disk))
    assert kept(disk) == [1]


def test_several_harmless_wounds_are_healed_at_once() -> None:
    disk = four_segments()
    spoil(disk, ONE, 64 + 3 * STEP + 20)
    spoil(disk, THREE, 64 + 3 * STEP + 20)
    plan = plan_repair(disk)
    assert [told(loss) for loss in plan.losses] == [(name, 64 + 3 * STEP, 0, 0, 0) for name in (ONE, THREE)]
    repair(disk, plan)
    assert kept(disk) == list(range(1, 13))


def test_a_missing_segment_takes_all_later_ones_with_it() -> None:
    disk = four_segments()
    disk.remove(TWO)
    plan = plan_repair(disk)
    assert [damage.reason for damage in plan.damages] == ["the segment is missing"]
    assert [told(loss) for loss in plan.losses] == [(THREE, 0, 7, 9, 3), (FOUR, 0, 10, 12, 3)]
    repair(disk, plan)
    assert sorted(salvaged(disk)) == list(range(7, 13))
    assert kept(disk) == [1, 2, 3]


def test_when_a_repair_is_done_it_is_done_for_good() -> None:
    for at in (64 + STEP + 50, 64 + 50):
        disk = four_segments()
        spoil(disk, TWO, at)
        disk = SimDisk(disk.contents())
        repair(disk, plan_repair(disk))
        states = list(disk.crash_states())
        assert [check.verify(state) for state in states] == [[] for _ in states]


def test_a_segment_without_a_sound_fact_leaves_the_journal_whole() -> None:
    disk = four_segments()
    spoil(disk, THREE, 64 + 50)
    plan = plan_repair(disk)
    assert [told(loss) for loss in plan.losses] == [(THREE, 0, 7, 9, 2), (FOUR, 0, 10, 12, 3)]
    repair(disk, plan)
    assert kept(disk) == list(range(1, 7))


def test_damage_in_the_middle_of_the_segment_in_use_is_repaired() -> None:
    disk = four_segments()
    spoil(disk, FOUR, 64 + 50)
    with pytest.raises(JournalDamaged):
        recovered(SimDisk(disk.contents()))
    repair(disk, plan_repair(disk))
    assert sorted(salvaged(disk)) == [11, 12]
    assert kept(disk) == list(range(1, 10))


def test_what_is_missing_or_empty_behind_the_damage_is_in_nobodys_way() -> None:
    disk = four_segments()
    spoil(disk, TWO, 64 + STEP + 50)
    disk.remove(THREE)
    disk.files[FOUR].content.clear()
    repair(disk, plan_repair(disk))
    assert f"{FOUR}.damaged" in disk.names()
    assert kept(disk) == [1, 2, 3, 4]


def test_what_an_earlier_repair_kept_is_kept() -> None:
    disk = four_segments()
    first = disk.contents()[FOUR]
    for name in (f"{FOUR}.damaged", f"{FOUR}.salvaged.jsonl"):
        disk.close(disk.create(name, 5))
    spoil(disk, FOUR, 64 + STEP + 50)
    spoiled = disk.contents()[FOUR]
    repair(disk, plan_repair(disk))
    contents = disk.contents()
    assert (contents[f"{FOUR}.damaged"], contents[f"{FOUR}.2.damaged"]) == (bytes(5), spoiled)
    assert contents[f"{FOUR}.salvaged.jsonl"] == bytes(5)
    assert b'"fact":12' in contents[f"{FOUR}.2.salvaged.jsonl"]
    assert first != spoiled


def test_a_journal_of_a_later_version_is_not_touched() -> None:
    disk = four_segments()
    head = disk.files[TWO].content
    head[8] = 2
    head[60:64] = crc32c(bytes(head[:60])).to_bytes(4, "little")
    with pytest.raises(JournalDamaged, match="it is of version 2, not 1"):
        plan_repair(disk)


def wounded() -> SimDisk:
    disk = four_segments()
    spoil(disk, ONE, 64 + 3 * STEP + 20)
    spoil(disk, TWO, 64 + STEP + 50)
    return SimDisk(disk.contents())


def test_a_repair_that_is_stopped_anywhere_can_be_done_again() -> None:
    """Killed or without power before any operation: then done again, it ends as if nothing had happened."""
    whole = wounded()
    plan = plan_repair(whole)
    planned = len(whole.operations)
    repair(whole, plan)
    for moment in range(planned + 1, len(whole.operations) + 1):
        disk = wounded()
        plan = plan_repair(disk)
        disk.cut_before = moment
        with pytest.raises(PowerCut):
            repair(disk, plan)
        for state in [*disk.crash_states(moment), disk.after_kill()]:
            repair(state, plan_repair(state))
            assert salvaged(state) == {number: b"body %d" % number for number in range(6, 13)}
            originals = {content for name, content in state.contents().items() if name.endswith(".damaged")}
            assert originals >= {wounded().contents()[name] for name in (TWO, THREE, FOUR)}
            assert not any(".2." in name for name in state.names())
            assert kept(state) == [1, 2, 3, 4]


def looks_torn(at: int) -> SimDisk:
    """Its second segment has a hole and no footer: were it the last one, it would pass for one that was torn."""
    disk = SimDisk()
    _, journal, _ = recovered(disk)
    for number in range(1, 13):
        journal.append(batch_of((number, b"body %d" % number)), START_US + number)
        if number % 3 == 0 and number < 12:
            journal.rotate(START_US + number)
    spoil(disk, TWO, at)
    spoil(disk, TWO, 64 + 3 * STEP + 20)
    return SimDisk(disk.contents())


@pytest.mark.parametrize(
    ("broken", "lost"),
    [(wounded, 5), (lambda: looks_torn(64 + STEP + 50), 5), (lambda: looks_torn(64 + 50), 4)],
    ids=["in the middle", "torn in the middle", "torn from the start"],
)
def test_a_server_may_start_on_a_half_repaired_journal_only_once_all_is_salvaged(
    broken: Callable[[], SimDisk], lost: int
) -> None:
    whole = broken()
    repair(whole, plan_repair(whole))
    started = 0
    for moment in range(1, len(whole.operations) + 2):
        disk = broken()
        disk.cut_before = moment
        try:
            repair(disk, plan_repair(disk))
        except PowerCut:
            pass
        for state in disk.crash_states(moment):
            try:
                assert kept(state) == list(range(1, lost))
            except JournalDamaged:
                continue
            started += 1
            assert sorted(salvaged(state)) == list(range(lost + 1, 13))
    assert started > 0
