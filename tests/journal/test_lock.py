"""One directory, one owner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.journal.lock import LOCK_NAME, DirectoryLock, DirectoryLocked

HOLDER = """
import sys
from penstock.journal.lock import DirectoryLock
lock = DirectoryLock(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def test_the_lock_names_its_holder(tmp_path: Path) -> None:
    DirectoryLock(str(tmp_path))
    assert (tmp_path / LOCK_NAME).read_text() == f"{os.getpid()}\n"


def test_a_second_owner_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    lock = DirectoryLock(str(tmp_path))
    with pytest.raises(DirectoryLocked, match=f"is in use by process {os.getpid()}$") as refused:
        DirectoryLock(str(tmp_path))
    assert refused.value.pid == os.getpid()
    lock.release()


def test_a_holder_that_has_not_yet_said_who_it_is_holds_it_all_the_same(tmp_path: Path) -> None:
    lock = DirectoryLock(str(tmp_path))
    (tmp_path / LOCK_NAME).write_bytes(b"")
    with pytest.raises(DirectoryLocked, match=r"is in use by another process$"):
        DirectoryLock(str(tmp_path))
    lock.release()


def test_a_released_lock_can_be_taken(tmp_path: Path) -> None:
    DirectoryLock(str(tmp_path)).release()
    DirectoryLock(str(tmp_path)).release()


def test_a_shorter_pid_leaves_nothing_of_a_longer_one(tmp_path: Path) -> None:
    (tmp_path / LOCK_NAME).write_text("99999999999\n")
    DirectoryLock(str(tmp_path)).release()
    assert (tmp_path / LOCK_NAME).read_text() == f"{os.getpid()}\n"


def test_the_lock_ends_with_its_process(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(DirectoryLocked, match=f"process {holder.pid}$"):
            DirectoryLock(str(tmp_path))
        holder.send_signal(signal.SIGKILL)
    DirectoryLock(str(tmp_path)).release()
