"""One contract for every disk, then what only the real one can show."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.journal.disk import Disk, OsDisk, make_directory, put_in_place
from tests.journal.simdisk import SimDisk


@pytest.fixture(params=["os", "simulated"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Disk:
    return OsDisk(str(tmp_path)) if request.param == "os" else SimDisk()


def test_a_new_file_is_all_zeros(disk: Disk) -> None:
    disk.close(disk.create("a", 3 << 20 | 5))
    assert disk.read("a") == bytes(3 << 20 | 5)
    assert disk.names() == ["a"]


def test_room_that_is_reserved_reads_as_zeros(disk: Disk) -> None:
    handle = disk.reserve("a", 3 << 20 | 5)
    disk.write(handle, 1, b"x")
    disk.close(handle)
    assert disk.read("a") == b"\0x" + bytes((3 << 20 | 5) - 2)
    assert disk.names() == ["a"]


def test_a_file_is_never_created_over_another(disk: Disk) -> None:
    disk.close(disk.create("a", 1))
    for make in (disk.create, disk.reserve):
        with pytest.raises(FileExistsError):
            make("a", 2)


def test_writes_stand_where_they_were_put(disk: Disk) -> None:
    handle = disk.create("a", 8)
    disk.write(handle, 2, b"xyz")
    disk.write(handle, 3, b"!")
    disk.sync(handle)
    assert disk.read("a") == b"\0\0x!z\0\0\0"


def test_a_cut_file_ends_where_it_was_cut(disk: Disk) -> None:
    handle = disk.create("a", 8)
    disk.write(handle, 0, b"12345678")
    disk.cut(handle, 3)
    assert disk.read("a") == b"123"


def test_an_opened_file_can_be_written(disk: Disk) -> None:
    disk.close(disk.create("a", 2))
    handle = disk.open("a")
    disk.write(handle, 0, b"hi")
    disk.close(handle)
    assert disk.read("a") == b"hi"


def test_a_renamed_file_takes_the_place_of_another(disk: Disk) -> None:
    disk.close(disk.create("old", 1))
    disk.close(disk.create("new", 2))
    disk.rename("old", "new")
    disk.sync_names()
    assert (disk.names(), disk.read("new")) == (["new"], b"\0")


def test_a_removed_file_is_gone(disk: Disk) -> None:
    disk.close(disk.create("a", 1))
    disk.remove("a")
    assert disk.names() == []


@pytest.mark.parametrize(
    "missing",
    [
        lambda disk: disk.read("a"),
        lambda disk: disk.open("a"),
        lambda disk: disk.remove("a"),
        lambda disk: disk.rename("a", "b"),
    ],
    ids=["read", "open", "remove", "rename"],
)
def test_what_is_not_there_is_an_error(disk: Disk, missing: Callable[[Disk], object]) -> None:
    with pytest.raises(FileNotFoundError):
        missing(disk)


def test_content_put_in_place_replaces_a_file_and_leftovers(disk: Disk) -> None:
    disk.close(disk.create("a", 100))
    disk.close(disk.create("temporary", 100))
    put_in_place(disk, "temporary", "a", b"content")
    assert (disk.names(), disk.read("a")) == (["a"], b"content")


@pytest.mark.parametrize("make", [OsDisk.create, OsDisk.reserve])
def test_room_is_really_allocated(tmp_path: Path, make: Callable[[OsDisk, str, int], int]) -> None:
    handle = make(OsDisk(str(tmp_path)), "a", 1 << 20)
    assert os.fstat(handle).st_blocks * 512 >= 1 << 20
    os.close(handle)


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda handle, data, at: whole(handle, bytes(data)[:3], at))
    disk = OsDisk(str(tmp_path))
    handle = disk.create("a", 12)
    disk.write(handle, 1, b"0123456789")
    disk.close(handle)
    assert disk.read("a") == b"\x000123456789\0"


def test_a_disk_that_takes_nothing_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = OsDisk(str(tmp_path))
    handle = disk.create("a", 12)
    monkeypatch.setattr(os, "pwrite", lambda handle, data, at: 0)
    with pytest.raises(OSError, match="nothing more"):
        disk.write(handle, 0, b"x")
    disk.close(handle)


def test_a_creation_that_fails_keeps_no_handle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(os, "pwrite", lambda handle, data, at: 0)
    with pytest.raises(OSError, match="nothing more"):
        OsDisk(str(tmp_path)).create("a", 12)
    with pytest.raises(OSError, match="Invalid argument"):
        OsDisk(str(tmp_path)).reserve("b", -1)
    assert len(os.listdir("/proc/self/fd")) == before


def test_directories_are_made_with_those_above_them(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c"
    make_directory(str(path))
    make_directory(str(path))
    assert path.is_dir()


def test_a_part_of_a_file_can_be_read_and_its_size_asked(tmp_path: Path) -> None:
    disk = OsDisk(str(tmp_path))
    handle = disk.create("a", 0)
    disk.write(handle, 0, b"0123456789")
    disk.sync(handle)
    disk.doubt(handle)
    disk.close(handle)
    assert (disk.size("a"), disk.read_part("a", 3, 4), disk.read_part("a", 8, 9)) == (10, b"3456", b"89")
    with pytest.raises(FileNotFoundError):
        disk.read_part("b", 0, 1)
