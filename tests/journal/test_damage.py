"""Any flipped bit is found: never a wrong fact, never a silent loss."""

from __future__ import annotations

from penstock.codecs.facts import Fact
from penstock.journal import check
from penstock.journal.disk import Disk
from penstock.journal.repair import plan_repair, repair
from penstock.journal.segment import JournalDamaged, segment_name
from tests.journal.simdisk import SimDisk
from tests.journal.story import START_US, Row, batch_of, recovered, rows

BODIES = (b"first", b"", b"x" * 300, b"with zeros" + bytes(20), b"y" * 90, b"z", b"last")


def files(sealed: bool) -> tuple[dict[str, bytes], list[Row], int]:
    """Several segments, the last one sealed or in use; with all facts, and how many of them were synced."""
    disk = SimDisk()
    _, journal, _ = recovered(disk)
    for turn, body in enumerate(BODIES):
        journal.append(batch_of((turn, body), (turn + 50, body[::-1])), START_US + turn)
        if turn in (0, 3):
            journal.rotate(START_US + turn)
        if turn == 5:
            journal.sync()
    synced = journal.synced - 1
    if sealed:
        journal.close(START_US)
    return disk.contents(), rows(check.read(disk)), synced


def flips(content: dict[str, bytes]) -> list[tuple[str, int, dict[str, bytes]]]:
    """Every byte that was written, and every seventh of the zeros behind, with one bit flipped."""
    found = []
    for name, data in content.items():
        written = len(data.rstrip(b"\0"))
        for at in [*range(written), *range(written, len(data), 7)]:
            flipped = bytearray(data)
            flipped[at] ^= 1 << at % 8
            found.append((name, at, {**content, name: bytes(flipped)}))
    return found


def read_back(disk: Disk) -> tuple[list[Row], bool]:
    """The facts that come back, and whether anything was noticed."""
    try:
        facts, _, recovery = recovered(disk)
    except JournalDamaged:
        return [], True
    return facts, recovery.cut_bytes > 0


def test_a_flipped_bit_in_a_sealed_journal_is_noticed_and_costs_no_fact_silently() -> None:
    content, facts, _ = files(sealed=True)
    for name, at, spoiled in flips(content):
        assert check.verify(SimDisk(spoiled)), (name, at)
        found, noticed = read_back(SimDisk(spoiled))
        assert noticed, (name, at)
        # Only the footer of the last segment may go unmissed, and no fact with it.
        assert found in ([], facts), (name, at)


def test_a_flipped_bit_in_the_segment_in_use_is_noticed_and_brings_no_wrong_fact() -> None:
    content, facts, synced = files(sealed=False)
    for name, at, spoiled in flips(content):
        assert check.verify(SimDisk(spoiled)), (name, at)
        found, noticed = read_back(SimDisk(spoiled))
        assert noticed, (name, at)
        assert found == facts[: len(found)], (name, at)
        assert found == [] or len(found) >= synced, (name, at)


def test_reading_for_people_shows_no_wrong_fact_either() -> None:
    content, facts, _ = files(sealed=True)
    for name, at, spoiled in flips(content)[::5]:
        found: list[Fact] = []
        try:
            found.extend(check.read(SimDisk(spoiled)))
        except JournalDamaged:
            assert rows(found) == facts[: len(found)], (name, at)
        else:
            assert (name, rows(found)) == (segment_name(3), facts), at


def test_any_flipped_bit_can_be_repaired_to_a_prefix_with_nothing_readable_destroyed() -> None:
    content, facts, _ = files(sealed=True)
    for name, at, spoiled in flips(content)[::3]:
        disk = SimDisk(spoiled)
        plan = plan_repair(disk)
        repair(disk, plan)
        found, noticed = read_back(disk)
        assert found == facts[: len(found)], (name, at)
        lost = sum(loss.facts for loss in plan.losses)
        assert len(facts) - len(found) - lost in (0, 2), (name, at)  # but for the batch that was hit
        assert noticed == (plan.damages == []), (name, at)
