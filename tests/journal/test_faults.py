"""Every operation of a journal's life, and of its repair, fails in turn; writes take only a part.

Law: what was promised is there afterwards; whoever could not go on said so, and nothing after that.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.journal.disk import OsDisk
from penstock.journal.journal import JournalDead
from penstock.journal.repair import plan_repair, repair
from tests.journal.simdisk import SimDisk
from tests.journal.story import Story, recovered
from tests.journal.test_crashes import MOMENTS, assert_promise, sample
from tests.journal.test_repair import kept, salvaged, wounded

ERRORS = (errno.EIO, errno.ENOSPC)


@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for good"])
def test_a_full_disk_is_survived_where_a_segment_is_made_and_final_anywhere_else(for_good: bool) -> None:
    """A segment that does not fit is made smaller. What any other failure does is in test_crashes."""
    survived = 0
    for moment in MOMENTS[:-1]:
        disk, story = SimDisk(), Story()
        disk.fail_at, disk.fail_errno, disk.fails_for_good = moment, errno.ENOSPC, for_good
        died = life_of(story, disk)
        if not died:
            survived += 1
            assert disk.operations[moment - 1].split()[0] in ("create", "fill", "reserve")
            assert recovered(disk.after_kill())[0] == story.attempted
            continue
        assert "no space left" in died.lower()
        for state in [disk.after_kill(), *sample(disk, 3, moment)]:
            assert_promise(recovered(state)[0], story, story.synced)
    assert (survived > 0) is not for_good


def life_of(story: Story, disk: SimDisk) -> str:
    """Why it ended; empty: of itself."""
    try:
        story.live(disk)
    except JournalDead as dead:
        return str(dead)
    return ""


@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for good"])
@pytest.mark.parametrize("number", ERRORS)
def test_a_repair_on_a_disk_that_fails_can_be_done_again(number: int, for_good: bool) -> None:
    whole = wounded()
    repair(whole, plan_repair(whole))
    for moment in range(1, len(whole.operations) + 1):
        disk = wounded()
        disk.fail_at, disk.fail_errno, disk.fails_for_good = moment, number, for_good
        with pytest.raises(OSError, match=os.strerror(number)):
            repair(disk, plan_repair(disk))
        disk.after_kill()
        repair(disk, plan_repair(disk))
        assert salvaged(disk) == {fact: b"body %d" % fact for fact in range(6, 13)}
        assert kept(disk) == [1, 2, 3, 4]


# -- writes that take a part


def short(monkeypatch: pytest.MonkeyPatch, is_short: Callable[[int], bool], take: Callable[[int], int]) -> list[int]:
    """The n-th write takes less; the list grows with each."""
    whole, writes = os.pwrite, list[int]()

    def pwrite(handle: int, data: bytes, at: int) -> int:
        writes.append(len(data))
        return whole(handle, bytes(data)[: take(len(data))] if is_short(len(writes)) else data, at)

    monkeypatch.setattr(os, "pwrite", pwrite)
    return writes


def test_writes_that_take_only_a_part_are_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for sync in ("fsync", "fdatasync"):  # nothing is cut off here, and they take their time
        monkeypatch.setattr(os, sync, lambda handle: None)
    sound = Story()
    writes = short(monkeypatch, lambda number: False, lambda size: size)
    sound.live(OsDisk(folder(tmp_path, 0)))
    for number in range(1, len(writes) + 1):
        with monkeypatch.context() as patched:
            short(patched, number.__eq__, lambda size: -(-size // 2))
            assert_lived(tmp_path, number, sound)
    with monkeypatch.context() as patched:
        short(patched, lambda number: True, lambda size: -(-size // 3))
        assert_lived(tmp_path, len(writes) + 1, sound)


def assert_lived(tmp_path: Path, number: int, sound: Story) -> None:
    story, disk = Story(), OsDisk(folder(tmp_path, number))
    story.live(disk)
    assert recovered(disk)[0] == story.attempted == sound.attempted


def folder(tmp_path: Path, number: int) -> str:
    made = tmp_path / str(number)
    made.mkdir()
    return str(made)


def test_a_write_of_which_the_disk_took_a_part_before_it_was_full_is_final_and_torn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, story = OsDisk(str(tmp_path)), Story()
    _, journal, _ = recovered(disk)
    story.append(journal, (300,))
    whole, taken = os.pwrite, list[int]()

    def pwrite(handle: int, data: bytes, at: int) -> int:
        if taken:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken.append(whole(handle, data[:100], at))
        return taken[0]

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", pwrite)
        with pytest.raises(JournalDead, match="No space left on device"):
            story.append(journal, (200,))
    facts, _, recovery = recovered(disk)
    assert facts == story.attempted[:1]
    assert recovery.cut_bytes > 0
