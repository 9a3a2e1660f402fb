"""The archive's directories: where files stand, what is left behind, what goes with time."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.history.archive import Archive, file_name, is_file_name, partition_of
from penstock.history.files import Told
from penstock.history.shelves import OsShelves
from penstock.model.limits import DAY_US
from tests.history.simshelves import Power, SimShelves
from tests.journal.simdisk import PowerCut

NOON_US = 1_700_049_600_000_000  # 2023-11-15


def unheard(file: str, why: str) -> None:
    raise AssertionError(f"{file}: {why}")


def told(first: int, at_us: int) -> Told:
    return Told(bytes(16), first, first, first, at_us, at_us, {}, {})


def test_a_file_stands_in_the_partition_of_its_first_fact_in_utc() -> None:
    assert partition_of(0) == "date=1970-01-01"
    assert partition_of(NOON_US) == "date=2023-11-15"
    assert partition_of(NOON_US + int(DAY_US) // 2 - 1) == "date=2023-11-15"
    assert partition_of(NOON_US + int(DAY_US) // 2) == "date=2023-11-16"


def test_names_sort_as_their_numbers_do() -> None:
    assert file_name(7) == "00000000000000000007.parquet"
    assert file_name(9) < file_name(10) < file_name(1 << 62)
    assert is_file_name(file_name(1 << 62))
    assert not any(map(is_file_name, ["_lock", "_00000000000000000007.parquet.12", "7.parquet", "x" * 20 + ".parquet"]))


def test_on_a_real_disk_it_makes_what_is_missing_for_its_owner_alone(tmp_path: Path) -> None:
    archive = Archive(OsShelves(str(tmp_path / "archive")), 12, unheard)
    assert archive.last() is None
    path = archive.put(told(5, NOON_US), b"content")
    assert path == "date=2023-11-15/00000000000000000005.parquet"
    assert (tmp_path / "archive" / path).read_bytes() == b"content"
    assert (tmp_path / "archive" / path).stat().st_mode & 0o777 == 0o600
    assert [file.name for file in (tmp_path / "archive" / "date=2023-11-15").iterdir()] == [file_name(5)]


def test_what_was_left_unfinished_is_removed_and_nothing_else() -> None:
    name = file_name(1)
    shelves = SimShelves(disks={"date=2023-11-15": {f"_{name}.12": b"", name: b"x"}, "elsewhere": {"_mine": b""}})
    Archive(shelves, 13, unheard).tidy()
    assert shelves.files() == {f"date=2023-11-15/{name}": b"x", "elsewhere/_mine": b""}


def week() -> dict[str, dict[str, bytes]]:
    return {f"date=2023-11-{day}": {file_name(day): b"x", file_name(day + 100): b"y"} for day in range(10, 16)}


@pytest.mark.parametrize(("keep_days", "left"), [(1, [14, 15]), (3, [12, 13, 14, 15]), (30, [10, 11, 12, 13, 14, 15])])
def test_whole_partitions_go_once_they_are_too_old(keep_days: int, left: list[int]) -> None:
    shelves = SimShelves(disks=week())
    gone = Archive(shelves, 13, unheard).sweep(NOON_US, keep_days)
    assert sorted(shelves.disks) == [f"date=2023-11-{day}" for day in left]
    assert gone == [f"date=2023-11-{day}" for day in range(10, 16) if day not in left]


def test_the_newest_partition_stays_however_old_it_is() -> None:
    shelves = SimShelves(disks=week())
    Archive(shelves, 13, unheard).sweep(NOON_US + 1_000 * int(DAY_US), 1)
    assert sorted(shelves.disks) == ["date=2023-11-15"]


def test_a_removal_that_was_killed_is_done_again() -> None:
    moment = 1
    while True:
        shelves = SimShelves(Power(cut_before=moment), week())
        try:
            Archive(shelves, 13, unheard).sweep(NOON_US, 1)
            break
        except PowerCut:
            left = shelves.after_kill()
            Archive(left, 14, unheard).sweep(NOON_US, 1)
            assert sorted(left.disks) == ["date=2023-11-14", "date=2023-11-15"]
            moment += 1
    assert moment > 8


def test_on_a_real_disk_a_partition_goes_with_its_directory(tmp_path: Path) -> None:
    archive = Archive(OsShelves(str(tmp_path)), 12, unheard)
    for day in range(3):
        archive.put(told(day + 1, NOON_US + day * int(DAY_US)), b"x")
    assert archive.sweep(NOON_US + 9 * int(DAY_US), 2) == ["date=2023-11-15", "date=2023-11-16"]
    assert [path.name for path in tmp_path.iterdir()] == ["date=2023-11-17"]
