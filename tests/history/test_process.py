"""The archivist as a real process: what it is told, what it says, and that no kill makes it lose or repeat a fact."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.engine.engine import Engine
from penstock.engine.rules import PolicyBook
from penstock.engine.state import State
from penstock.history import process
from penstock.journal.disk import OsDisk
from penstock.journal.recovery import recover
from penstock.journal.segment import segment_numbers
from penstock.journal.snapshot import snapshot_numbers
from penstock.model.limits import DAY_US
from tests.engine.clients import Recorder
from tests.engine.test_snapshots import assert_same
from tests.history.histories import START_US, STORE_ID, journal_of, lives, read, told_by
from tests.journal.simdisk import SimDisk

SOURCE = Path(penstock.__file__).parents[1]
PATIENCE_S = 30.0
DIALECTS = ["--dialect", "0=server", "--dialect", "4=deferred"]
NAMES = {0: "server", 4: "deferred"}

# Starts an archivist that has this process's stdin, says its number, and waits to be killed.
PARENT = """
import os, subprocess, sys, time
command = [sys.executable, "-m", "penstock.history", "--data", sys.argv[1], "--parent", str(os.getpid())]
child = subprocess.Popen(command, stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with a journal of several sealed segments."""
    (tmp_path / "journal").mkdir()
    for name, content in journal_of(lives(40), 4_096).contents().items():
        (tmp_path / "journal" / name).write_bytes(content)
    return tmp_path


def journal(data: Path) -> OsDisk:
    return OsDisk(str(data / "journal"))


def sealed_below(data: Path) -> int:
    return segment_numbers(journal(data))[-1] + 1


class Running:
    """An archivist that was started; killed at the end of the block."""

    def __init__(self, data: Path, *flags: str) -> None:
        command = [sys.executable, "-m", "penstock.history", "--data", str(data), *DIALECTS, *flags]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
        )

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.communicate(timeout=PATIENCE_S)

    def tell(self, sealed_below: int, now_us: int = START_US, pressed: int = 0) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(" ".join(map(str, process.Told(sealed_below, 0, 0, pressed, now_us))) + "\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        said: dict[str, Any] = json.loads(self.process.stdout.readline())
        return said

    def rest(self) -> list[dict[str, Any]]:
        """What it says after it was told that there is no more; waits for its end."""
        out, _ = self.process.communicate(timeout=PATIENCE_S)
        said = [json.loads(line) for line in out.splitlines()]
        return [event for event in said if event["event"] != "journal kept"]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SOURCE)}


def archived(data: Path) -> list[dict[str, Any]]:
    files = sorted((data / "archive").glob("date=*/*.parquet"), key=lambda path: path.name)
    return [row for path in files for row in read(path.read_bytes())]


def unfinished(data: Path) -> list[Path]:
    return [path for path in (data / "archive").glob("date=*/*") if path.name.startswith("_")]


def test_it_archives_what_it_is_told_is_sealed_and_ends_when_there_is_no_more(data: Path) -> None:
    with Running(data) as running:
        assert running.hear()["event"] == "archive opened"
        running.tell(3)
        events = running.rest()
        assert running.process.returncode == process.DONE
    assert [event["segment"] for event in events] == [1, 2]
    assert {row["segment"] for row in archived(data)} == {1, 2}
    with Running(data) as running:
        assert running.hear() == {"level": "info", "event": "archive opened", **reach(events[-1])}
        running.tell(sealed_below(data))
        running.rest()
    assert archived(data) == told_by(journal(data), NAMES)


def reach(event: dict[str, Any]) -> dict[str, Any]:
    return {name: event[name] for name in ("segment", "last", "last_at_us")}


def test_killed_at_any_moment_it_loses_and_repeats_nothing(data: Path) -> None:
    """Each life is a little longer than the one before, from the moment it is told what there is to do."""
    for turn in range(12):
        with Running(data) as running:
            running.hear()
            running.tell(sealed_below(data))
            time.sleep(turn * 0.004)
    with Running(data) as running:
        running.hear()
        running.tell(sealed_below(data))
        running.rest()
    assert archived(data) == told_by(journal(data), NAMES)
    assert unfinished(data) == []


def test_a_second_archivist_is_refused(data: Path) -> None:
    with Running(data) as first:
        first.hear()
        with Running(data) as second:
            said = second.hear()
            assert second.process.wait(PATIENCE_S) == process.IN_USE
        assert (said["level"], said["event"]) == ("error", "archive in use")
        assert f"in use by process {first.process.pid}" in said["why"]


def test_damage_is_said_and_ends_it(data: Path) -> None:
    path = data / "journal" / "00000000000000000002.journal"
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    path.write_bytes(content)
    with Running(data) as running:
        running.hear()
        running.tell(sealed_below(data))
        *_, said = running.rest()
        assert running.process.returncode == process.DAMAGED
    assert said["event"] == "archive stopped"
    assert "00000000000000000002.journal, byte" in said["why"]
    assert {row["segment"] for row in archived(data)} == {1}


def test_it_ends_with_its_parent(data: Path) -> None:
    """Its stdin stays open all the while: only the death of the parent can be what it noticed."""
    reading, writing = os.pipe()
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(data)], stdin=reading, stdout=subprocess.PIPE, env=environment()
    )
    os.close(reading)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait(PATIENCE_S)
    parent.stdout.close()
    deadline = time.monotonic() + PATIENCE_S
    while is_alive(child):
        assert time.monotonic() < deadline, "the archivist outlived its parent"
        time.sleep(0.01)
    os.close(writing)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_parent_that_is_gone_already_is_not_worked_for(data: Path) -> None:
    with Running(data, "--parent", "1") as running:
        assert running.rest() == []
        assert running.process.returncode == process.DONE
    assert not (data / "archive").exists()
    assert not (data / "archivist.lock").exists()


def test_it_gives_way_to_everybody(data: Path) -> None:
    """Its niceness is the server's to see to."""
    with Running(data) as running:
        running.hear()
        assert os.sched_getscheduler(running.process.pid) == os.SCHED_BATCH


def test_it_starts_no_thread_that_spins(data: Path) -> None:
    """Those of numpy's linear algebra would, one for each processor; an allocator's sleeps."""
    with Running(data) as running:
        running.hear()
        threads = [path.read_text() for path in Path(f"/proc/{running.process.pid}/task").glob("*/comm")]
        assert len([name for name in threads if not name.startswith("jemalloc")]) == 1


def test_old_partitions_go_when_it_is_told_to_keep_few_days(data: Path) -> None:
    old = data / "archive" / "date=2001-01-01"
    old.mkdir(parents=True)
    (old / "00000000000000000001.parquet").touch()
    with Running(data, "--keep-days", "30", "--without-bodies", "ord*") as running:
        running.hear()
        running.tell(sealed_below(data))
        events = running.rest()
    assert events[-1]["partition"] == "date=2001-01-01"
    assert not old.exists()
    assert archived(data) == told_by(journal(data), NAMES, silent=[b"orders"])


@pytest.mark.parametrize(("days", "goes"), [(39, False), (41, True)])
def test_how_old_a_partition_is_the_servers_clock_says(data: Path, days: int, goes: bool) -> None:
    """Whatever the wall clock says meanwhile."""
    partition = data / "archive" / f"date={datetime.fromtimestamp(START_US // 10**6, UTC).date() - timedelta(days=10)}"
    partition.mkdir(parents=True)
    (partition / "00000000000000000001.parquet").touch()
    with Running(data, "--keep-days", "50") as running:
        running.hear()
        running.tell(sealed_below(data), START_US + days * int(DAY_US))
        running.rest()
    assert partition.exists() == (not goes)


# -- snapshots

FOLDS = ("--snapshot-bytes", "1")


def state_of(data: Path) -> State:
    """What a server that started now would find; it works on a copy."""
    engine = Engine(PolicyBook(), Recorder())
    copy = SimDisk({path.name: path.read_bytes() for path in (data / "journal").iterdir()})
    recover(copy, STORE_ID, engine.replay, START_US, 4_096, engine.restore)
    return engine.state()


def test_what_is_archived_is_folded_into_a_snapshot_and_goes(data: Path) -> None:
    rows, state, below = told_by(journal(data), NAMES), state_of(data), sealed_below(data)
    with Running(data, *FOLDS) as running:
        running.hear()
        running.tell(below)
        eventually(lambda: segment_numbers(journal(data)) == [])
    assert snapshot_numbers(journal(data)) == [below - 1]
    assert archived(data) == rows
    assert_same(state_of(data), state)


def test_a_snapshot_does_not_wait_for_an_archive_that_is_behind(data: Path) -> None:
    with Running(data, *FOLDS) as running:
        running.hear()
        running.tell(sealed_below(data))
        said = [running.hear()["event"] for _ in range(3)]
    assert said == ["journal kept", "snapshot written", "segment archived"]


def test_without_an_archive_there_are_snapshots_only(data: Path) -> None:
    state = state_of(data)
    with Running(data, *FOLDS, "--no-archive") as running:
        running.tell(sealed_below(data))
        eventually(lambda: segment_numbers(journal(data)) == [])
    assert not (data / "archive").exists()
    assert_same(state_of(data), state)


def test_an_archive_that_was_not_there_from_the_first_begins_behind_the_snapshot(data: Path) -> None:
    rows, below = told_by(journal(data), NAMES), sealed_below(data)
    with Running(data, *FOLDS, "--no-archive") as running:
        running.tell(3)
        eventually(lambda: segment_numbers(journal(data))[0] == 3)
    with Running(data) as running:
        running.hear()
        running.tell(below)
        said = running.rest()
    found = archived(data)
    assert found == [row for row in rows if row["segment"] >= 3]
    assert {row["queue"] for row in found} == {"orders"}
    assert (said[0]["event"], said[0]["level"]) == ("facts never archived", "warning")
    assert (said[0]["first"], said[0]["last"]) == (1, found[0]["seq"] - 1)


def test_killed_at_any_moment_of_a_fold_it_loses_nothing(data: Path) -> None:
    rows, state, below = told_by(journal(data), NAMES), state_of(data), sealed_below(data)
    for turn in range(16):
        with Running(data, *FOLDS) as running:
            running.hear()
            running.tell(min(below, turn + 2))
            time.sleep(turn % 8 * 0.004)
        assert_same(state_of(data), state)
    with Running(data, *FOLDS) as running:
        running.hear()
        running.tell(below)
        eventually(lambda: segment_numbers(journal(data)) == [])
    assert archived(data) == rows
    assert_same(state_of(data), state)
    assert [path.name for path in (data / "journal").iterdir()] == [f"{below - 1:020}.snapshot"]


def test_nothing_long_is_begun_once_the_server_is_on_its_way_out(data: Path) -> None:
    with Running(data, *FOLDS) as running:
        running.hear()
        running.tell(sealed_below(data))
        running.rest()
    assert snapshot_numbers(journal(data)) == []


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
