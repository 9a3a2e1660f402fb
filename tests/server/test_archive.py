"""The server's side of the archive: when segments are sealed, when the archivist is started, told and started again."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from penstock.journal.journal import Journal, JournalDead
from penstock.model.limits import SECOND_US
from penstock.server import exits
from penstock.server.archive import (
    AGAIN_MAX_US,
    AGAIN_PRESSED_US,
    AGAIN_US,
    LEFTOVERS_US,
    PRESSED_SEAL_US,
    Archive,
    Archiving,
    archiving,
)
from penstock.server.config import load
from penstock.server.log import Log
from tests.journal.simdisk import SimDisk
from tests.journal.story import START_US, STORE_ID, batch_of
from tests.server.fakes import run, until

SEAL_US = 30 * int(SECOND_US)

# Archivists: one that answers each number as if it had archived all below it, and some that end.
ECHO = """
import json, sys
def say(**fields): print(json.dumps(fields), flush=True)
say(level="info", event="archive opened", segment=0, last=0, last_at_us=0)
for line in sys.stdin:
    number = int(line.split()[0])
    say(level="info", event="segment archived", segment=number - 1, last=number - 1, last_at_us=5)
"""
FAILING = "import sys; print('Traceback: oops'); sys.exit(1)"
DAMAGED = """
import json, sys
print(json.dumps({"level": "error", "event": "archive stopped", "why": "segment 1 is damaged"}))
sys.exit(4)
"""
KEEPING = """
import json, sys
kept = dict(snapshot=3, snapshot_bytes=11_000, bytes=16_000)
print(json.dumps(dict(level="debug", event="journal kept", **kept)), flush=True)
sys.stdin.read()
"""
PARROT = """
import json, sys
for line in sys.stdin:
    print(json.dumps(dict(level="debug", event="heard", line=line.strip())), flush=True)
"""
DEAF = "import time; time.sleep(600)"


class Scene:
    """An archive upon a journal in memory, at a time that is set by hand."""

    def __init__(self, program: str, *, enabled: bool = True, first_segment: int = 1) -> None:
        self.disk = SimDisk()
        self.journal = Journal(self.disk, STORE_ID, first_segment, first_segment, START_US, 4_096)
        self.written = StringIO()
        self.now_us = START_US
        self.live_bytes = 0
        wanted = Archiving(enabled, SEAL_US, [sys.executable, "-c", program], snapshot_bytes=1_000)
        log = Log(self.written, "json", "debug")
        self.archive = Archive(wanted, self.journal, lambda: self.live_bytes, log, START_US)

    def publish(self) -> None:
        self.journal.append(batch_of((1, b"body")), self.now_us)

    def beat(self, later_us: int = 0, pressed: bool = False) -> None:
        self.now_us += later_us
        self.archive.beat(self.now_us, pressed)

    def status(self) -> dict[str, Any]:
        return self.archive.status(self.now_us)

    def is_alone(self) -> bool:
        self.beat()
        return self.status()["pid"] is None

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.written.getvalue().splitlines()]

    def said(self, event: str) -> int:
        return [told["event"] for told in self.events()].count(event)

    async def beat_until_said(self, event: str, times: int, pressed: bool = False) -> None:
        """At the same moment again and again."""

        def said() -> bool:
            self.beat(pressed=pressed)
            return self.said(event) >= times

        await until(said)


@asynccontextmanager
async def scene(program: str = ECHO, **settings: Any) -> AsyncIterator[Scene]:
    made = Scene(program, **settings)
    try:
        yield made
    finally:
        await made.archive.end(sealed=False)


def test_a_segment_is_sealed_once_its_first_fact_is_old_enough() -> None:
    async def scenario() -> None:
        async with scene(DEAF) as world:
            world.journal.prepare_spare()
            world.beat(10 * SEAL_US)
            assert world.journal.segment == 1, "it is empty, and stays"
            world.publish()
            world.beat(SEAL_US - 1)
            world.publish()
            assert world.journal.segment == 1
            world.beat(1)
            assert world.journal.segment == 2
            world.beat(SEAL_US)
            assert world.journal.segment == 2, "there was no traffic since"

    run(scenario())


def test_nothing_is_sealed_while_the_next_segment_is_not_ready() -> None:
    async def scenario() -> None:
        async with scene(DEAF) as world:
            world.publish()
            world.beat(2 * SEAL_US)
            assert world.journal.segment == 1
            world.journal.prepare_spare()
            world.beat()
            assert world.journal.segment == 2

    run(scenario())


def test_a_disk_that_dies_while_sealing_is_told() -> None:
    async def scenario() -> None:
        async with scene(DEAF) as world:
            world.publish()
            world.journal.prepare_spare()
            world.disk.fail_at = len(world.disk.operations) + 1
            with pytest.raises(JournalDead):
                world.beat(SEAL_US)

    run(scenario())


def test_without_an_archive_there_are_snapshots_and_nothing_is_sealed_before_one_is_worth_while() -> None:
    async def scenario() -> None:
        async with scene(KEEPING, enabled=False, first_segment=7) as world:
            world.publish()
            world.journal.prepare_spare()
            world.live_bytes = 5_000
            world.beat(10 * SEAL_US)
            await world.beat_until_said("journal kept", 1)
            assert world.archive.snapshot_status() == {"segment": 3, "bytes": 11_000, "sealed_bytes": 16_000}
            assert (world.status()["enabled"], world.journal.segment) == (False, 7)
            world.live_bytes = 4_999
            world.beat()
            assert world.journal.segment == 8

    run(scenario())


def test_with_the_number_of_the_segment_it_is_told_how_much_lives_and_is_ready_and_what_time_it_is() -> None:
    async def scenario() -> None:
        async with scene(PARROT, first_segment=2) as world:
            world.live_bytes = 12_345
            world.beat(LEFTOVERS_US)
            await world.beat_until_said("heard", 1)
            assert world.events()[-1]["line"] == f"2 12345 {3 * 4_096} 0 {world.now_us}"

    run(scenario())


def test_where_the_disk_lacks_room_what_there_is_is_sealed_and_told_once() -> None:
    async def scenario() -> None:
        async with scene(PARROT, first_segment=2) as world:
            world.beat(LEFTOVERS_US)
            await world.beat_until_said("heard", 1)
            world.publish()
            world.journal.prepare_spare()
            world.beat(pressed=True)
            assert world.journal.segment == 3
            world.publish()
            world.beat(pressed=True)
            assert world.journal.segment == 3
            await until(lambda: world.said("heard") == 2)
            assert world.events()[-1]["line"].split()[:4] == ["3", "0", str(3 * 4_096), "1"]

    run(scenario())


def test_rules_that_have_changed_are_known_to_the_next_one_at_once() -> None:
    async def scenario() -> None:
        async with scene(DEAF, first_segment=2) as world:
            world.beat(LEFTOVERS_US)
            first = world.status()["pid"]
            world.archive.reload(Archiving(True, SEAL_US, [sys.executable, "-c", DEAF], snapshot_bytes=1_000))
            world.beat()
            assert world.status()["pid"] == first, "nothing has changed"
            world.archive.reload(Archiving(True, SEAL_US, [sys.executable, "-c", ECHO], snapshot_bytes=1_000))
            await world.beat_until_said("segment archived", 1)
            assert world.status()["pid"] != first
            assert world.said("archivist ended") == 0

    run(scenario())


def test_the_archivist_is_started_with_the_first_sealed_segment_and_told_of_each() -> None:
    async def scenario() -> None:
        async with scene() as world:
            world.publish()
            world.beat()
            assert world.status()["pid"] is None
            for number in (2, 3):
                world.publish()
                world.journal.rotate(world.now_us)
                await world.beat_until_said("segment archived", number - 1)
                assert world.status()["segment"] == number - 1
            assert isinstance(world.status()["pid"], int)

    run(scenario())


def test_what_an_earlier_server_left_is_seen_to_after_a_while() -> None:
    async def scenario() -> None:
        async with scene(first_segment=5) as world:
            world.beat(LEFTOVERS_US - 1)
            assert world.status()["pid"] is None
            world.beat(1)
            await until(lambda: world.said("segment archived") == 1)
            assert world.status()["segment"] == 4

    run(scenario())


def test_the_status_tells_how_far_behind_the_archive_is() -> None:
    async def scenario() -> None:
        async with scene() as world:
            assert (world.status()["behind_facts"], world.status()["behind_s"]) == (None, None)
            world.publish()
            world.journal.rotate(world.now_us)
            await world.beat_until_said("segment archived", 1)
            assert (world.status()["behind_facts"], world.status()["behind_s"]) == (0, 0.0)
            world.publish()
            world.now_us = 5 + 3_500_000
            assert (world.status()["behind_facts"], world.status()["behind_s"]) == (1, 3.5)

    run(scenario())


def test_one_that_ends_is_started_again_later_and_later() -> None:
    async def scenario() -> None:
        async with scene(FAILING, first_segment=2) as world:
            world.beat(LEFTOVERS_US)
            again_us = AGAIN_US
            for times in range(1, 9):
                await world.beat_until_said("archivist ended", times)
                assert world.events()[-1]["again_s"] == again_us / SECOND_US
                world.beat(again_us - 1)
                assert world.status()["pid"] is None
                world.beat(1)
                assert world.status()["pid"] is not None
                again_us = min(2 * again_us, AGAIN_MAX_US)
            assert again_us == AGAIN_MAX_US
            assert world.events()[0]["line"] == "Traceback: oops"

    run(scenario())


def test_one_that_was_killed_is_started_again() -> None:
    async def scenario() -> None:
        async with scene(first_segment=2) as world:
            world.beat(LEFTOVERS_US)
            await until(lambda: world.said("segment archived") == 1)
            pid = world.status()["pid"]
            assert isinstance(pid, int)
            kill = await asyncio.create_subprocess_exec("kill", "-9", str(pid))
            await kill.wait()
            await world.beat_until_said("archivist ended", 1)
            assert world.events()[-1]["exit_code"] == -9
            world.beat(AGAIN_US)
            await until(lambda: world.said("segment archived") == 2)

    run(scenario())


def test_damage_stops_it_for_good_and_the_status_says_why() -> None:
    async def scenario() -> None:
        async with scene(DAMAGED, first_segment=2) as world:
            world.beat(LEFTOVERS_US)
            await world.beat_until_said("archive stopped", 1)
            await until(world.is_alone)
            world.beat(10 * AGAIN_MAX_US)
            assert world.status()["pid"] is None
            assert world.status()["stopped"] == "segment 1 is damaged"

    run(scenario())


def test_a_command_that_cannot_be_run_is_tried_again() -> None:
    async def scenario() -> None:
        async with scene(first_segment=2) as world:
            wanted = Archiving(True, SEAL_US, ["/nowhere/python"])
            world.archive = Archive(wanted, world.journal, lambda: 0, Log(world.written, "json"), START_US)
            world.beat(LEFTOVERS_US)
            world.beat(AGAIN_US)
            assert world.said("archivist not started") == 2

    run(scenario())


def test_a_deaf_one_is_not_waited_for() -> None:
    async def scenario() -> None:
        async with scene(DEAF, first_segment=2) as world:
            world.beat(LEFTOVERS_US)
            for _ in range(20_000):
                world.archive._told = 0
                world.beat()
            assert world.status()["pid"] is not None

    run(scenario())


@pytest.mark.parametrize("enabled", [False, True], ids=["snapshots only", "an archive too"])
def test_where_room_lacks_what_could_not_be_sealed_at_once_is_sealed_as_soon_as_it_can_be(enabled: bool) -> None:
    async def scenario() -> None:
        async with scene(DEAF, enabled=enabled) as world:
            world.publish()
            world.beat(pressed=True)
            assert world.journal.segment == 1, "the next segment is not ready"
            world.journal.prepare_spare()
            world.beat(pressed=True)
            assert world.journal.segment == 2
            world.publish()
            world.journal.prepare_spare()
            world.beat(PRESSED_SEAL_US - 1, pressed=True)
            assert world.journal.segment == 2
            world.beat(1, pressed=True)
            assert world.journal.segment == 3, "what ended since may make room"

    run(scenario())


def test_where_room_lacks_it_is_started_again_soon_however_often_it_failed() -> None:
    async def scenario() -> None:
        async with scene(FAILING, first_segment=2) as world:
            world.beat(LEFTOVERS_US, pressed=True)
            for turn in range(1, 6):
                await world.beat_until_said("archivist ended", turn, pressed=True)
                world.beat(AGAIN_PRESSED_US, pressed=True)
                assert world.status()["pid"] is not None

    run(scenario())


def test_at_a_clean_stop_it_may_finish_what_was_sealed_last() -> None:
    async def scenario() -> None:
        async with scene(first_segment=2) as world:
            world.beat(LEFTOVERS_US)
            await until(lambda: world.said("segment archived") == 1)
            world.publish()
            world.journal.close(world.now_us)
            await world.archive.end(sealed=True)
            assert world.status()["segment"] == 2

    run(scenario())


def test_the_configuration_decides_what_the_archivist_is_told() -> None:
    said = {"data": "here", "archive.keep_days": 9, "archive.without_bodies": ["secret*", "%FF"], "archive.seal_s": 5}
    wanted = archiving(load(said, {}, None))
    assert (wanted.enabled, wanted.seal_us) == (True, 5_000_000)
    words = " ".join(wanted.command)
    assert "-m penstock.history --data here" in words
    assert "--keep-days 9" in words
    assert "--dialect 0=server" in words
    assert "--without-bodies secret* --without-bodies %FF" in words
    assert "--snapshot-bytes 268435456 --keep-bytes 0" in words
    without = archiving(load({}, {"PENSTOCK_ARCHIVE_ENABLED": "false"}, None))
    assert not without.enabled
    assert "--no-archive" in without.command


def test_the_archivist_forgets_dedup_ids_when_the_server_does(tmp_path: Path) -> None:
    """A snapshot holds those within their window: the one thing in it that policies decide."""
    file = tmp_path / "penstock.toml"
    file.write_text('[[policy]]\nmatch = "or=ders*"\ndedup_s = 90\n[[policy]]\nmatch = "x"\nlease_s = 5\n')
    words = " ".join(archiving(load({}, {}, str(file))).command)
    assert "--dedup or=ders*=90000000" in words
    assert words.count("--dedup ") == 1


def test_exit_codes_mean_the_same_on_both_sides() -> None:
    from penstock.history import process

    assert (process.DONE, process.FAILED) == (exits.CLEAN, exits.DISK_DIED)
    assert (process.IN_USE, process.DAMAGED) == (exits.IN_USE, exits.DAMAGED)
