"""The disk whose power can be cut: what was synced is there afterwards, what was not is gone."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from torture.power import loopdisk
from torture.power.loopdisk import DiskBusy, LoopDisk


@pytest.fixture
def disk() -> Iterator[LoopDisk]:
    if why := loopdisk.possible():
        pytest.skip(f"no power was cut: {why}")
    with LoopDisk() as made:
        yield made


def put(path: Path, data: bytes, sync: bool) -> int:
    handle = os.open(path, os.O_RDWR | os.O_CREAT)
    os.pwrite(handle, data, 0)
    if sync:
        os.fsync(handle)
    return handle


def refused(call: object, *arguments: object) -> bool:
    try:
        call(*arguments)  # type: ignore[operator]
    except OSError as error:
        return error.errno == errno.EIO
    return False


def test_after_a_cut_what_was_synced_is_there_and_nothing_else(disk: LoopDisk) -> None:
    kept = put(disk.place / "kept", b"old", sync=True)
    os.pwrite(kept, b"new", 0)
    handles = [kept, put(disk.place / "lost", b"x", sync=False)]
    disk.cut()
    for handle in handles:
        os.close(handle)
    disk.remount()
    assert (disk.place / "kept").read_bytes() == b"old"
    assert not (disk.place / "lost").exists()


def test_from_the_cut_on_every_write_and_sync_fails(disk: LoopDisk) -> None:
    handle = put(disk.place / "file", b"x", sync=True)
    disk.cut()
    assert refused(os.pwrite, handle, b"y", 0)
    assert refused(os.fdatasync, handle)
    assert refused(os.open, disk.place / "other", os.O_RDWR | os.O_CREAT)
    os.close(handle)


def test_it_can_be_cut_again_and_again(disk: LoopDisk) -> None:
    for number in range(3):
        os.close(put(disk.place / f"file {number}", b"x", sync=True))
        os.close(put(disk.place / f"other {number}", b"x", sync=False))
        disk.cut()
        disk.remount()
    assert {path.name for path in disk.place.glob("*e*r*[0-9]")} == set()
    assert len([*disk.place.glob("file *")]) == 3


def test_it_is_not_taken_from_under_those_who_use_it(disk: LoopDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopdisk, "RELEASE_S", 0.1)
    handle = put(disk.place / "file", b"x", sync=True)
    with pytest.raises(DiskBusy, match="python"):
        disk.remount()
    os.close(handle)
    disk.remount()


def test_nothing_is_left_of_it(disk: LoopDisk) -> None:
    with LoopDisk() as other:
        home = other.place.parent
        other.cut()
    assert not home.exists()
    assert str(home) not in Path("/proc/mounts").read_text(encoding="utf-8")
    loops = subprocess.run(["losetup", "--all"], capture_output=True, text=True, check=True).stdout
    assert str(home) not in loops


def test_why_it_cannot_be_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1_000)
    assert loopdisk.possible() == "only root may mount a file system"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(loopdisk, "COMMANDS", ("mkfs.nothing",))
    assert loopdisk.possible() == "not installed: mkfs.nothing"
