"""Checks of the data directory, the server and its addresses, each well and not."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path
from typing import Any

import pytest

from penstock.cli import premises
from penstock.cli.machine import FAIL, OK, WARN
from penstock.cli.program import Failure
from penstock.journal.lock import DirectoryLock
from penstock.server.kinds import Address
from tests.cli.journals import AT_US, flip, three_segments

STATUS: dict[str, Any] = {
    "version": "1.2.3",
    "pid": 4711,
    "uptime_s": 65.2,
    "confirm": "sync",
    "ready": True,
    "listeners": [{"name": "deferred", "address": "127.0.0.1:12000"}],
}


def test_a_directory_of_ones_own_is_well(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    assert premises.check_directory(str(tmp_path)).verdict == OK


def test_a_directory_open_to_others_is_warned_about(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    check = premises.check_directory(str(tmp_path))
    assert (check.verdict, check.advice) == (WARN, f"Keep others out: chmod 700 {tmp_path}")


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert premises.check_directory(str(tmp_path / "file")).verdict == FAIL


def test_a_directory_that_is_not_there_yet_is_well(tmp_path: Path) -> None:
    assert premises.check_directory(str(tmp_path / "deep" / "down")).verdict == OK


def test_space_is_judged_by_what_the_journal_needs(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    assert premises.check_space(str(tmp_path), free).verdict == FAIL
    assert premises.check_space(str(tmp_path / "not" / "there"), 1).verdict in (OK, WARN)


def test_a_sync_is_measured_and_leaves_nothing_behind(tmp_path: Path) -> None:
    check = premises.check_sync(str(tmp_path))
    assert check.verdict in (OK, WARN)
    assert check.found.endswith("the median of 50")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_measured_fails(tmp_path: Path) -> None:
    assert premises.check_sync(str(tmp_path / "nowhere")).verdict == FAIL


def test_the_holder_of_a_directory_is_found(tmp_path: Path) -> None:
    assert premises.holder(str(tmp_path)) is None
    lock = DirectoryLock(str(tmp_path))
    pid = premises.holder(str(tmp_path))
    lock.release()
    assert pid is not None
    assert premises.holder(str(tmp_path)) is None


@pytest.mark.parametrize(
    ("holder", "answers", "verdict"), [(None, False, OK), (4711, True, OK), (4711, False, WARN), (0, False, WARN)]
)
def test_a_holder_that_does_not_answer_is_warned_about(holder: int | None, answers: bool, verdict: str) -> None:
    assert premises.check_lock(holder, answers).verdict == verdict


def test_a_server_tells_of_itself() -> None:
    check = premises.check_server(STATUS, None)
    assert (check.verdict, check.found) == (OK, "version 1.2.3, process 4711, up 1m 5s, confirm sync")


def test_a_server_that_is_not_ready_fails() -> None:
    assert premises.check_server(STATUS | {"ready": False}, None).verdict == FAIL


def test_why_a_server_does_not_answer_is_told_with_what_to_do() -> None:
    check = premises.check_server(None, Failure("it is late.", "Wait."))
    assert check[1:] == (WARN, "it is late.", "Wait.")
    assert premises.check_server(None, None).found == "not running"


def test_a_journal_is_looked_over(tmp_path: Path) -> None:
    assert premises.check_journal(str(tmp_path), AT_US).found == "none yet"
    written = three_segments(tmp_path)
    check = premises.check_journal(str(tmp_path), AT_US)
    assert (check.verdict, check.found) == (OK, "3 segments, 7 facts, the last at 2026-01-02T03:04:10.678Z")
    flip(written.segment(2), 120)
    assert premises.check_journal(str(tmp_path), AT_US).verdict == FAIL


def test_facts_from_the_future_are_warned_about(tmp_path: Path) -> None:
    three_segments(tmp_path)
    assert premises.check_journal(str(tmp_path), AT_US - 3_600_000_000).verdict == WARN


def test_an_address_is_free_ours_picked_later_or_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        taken = premises.check_address("deferred", Address("127.0.0.1", port), None)
        assert (taken.verdict, taken.found) == (FAIL, f"127.0.0.1:{port}: address already in use")
        ours = STATUS | {"listeners": [{"address": f"127.0.0.1:{port}"}]}
        assert premises.check_address("deferred", Address("127.0.0.1", port), ours).verdict == OK
    assert premises.check_address("deferred", Address("127.0.0.1", port), None).found.endswith("free")
    assert premises.check_address("deferred", Address("127.0.0.1", 0), None).verdict == OK
