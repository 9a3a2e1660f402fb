"""Room on the disk and in memory: when publishing is refused, and that it resumes by itself."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

from penstock.broker.embedded import Embedded
from penstock.engine.rules import PolicyBook
from penstock.model import codes, stages
from penstock.model.contract import Session
from penstock.model.limits import ENDING_BYTES
from penstock.model.options import Publishing, Reserving
from penstock.server.log import Log
from penstock.server.room import DISK, MEMORY, Limits, Machine, Room
from tests.journal.simdisk import SimDisk

START_US = 1_700_000_000_000_000
SEGMENT = 1 << 20
MUCH = 1 << 40


class FakeMachine(Machine):
    def __init__(self) -> None:
        self.free = MUCH
        self.resident = 0

    def free_bytes(self) -> int:
        return self.free

    def resident_bytes(self) -> int:
        return self.resident

    def memory_bytes(self) -> int:
        return 1_000_000


class Heard(Session):
    def __init__(self) -> None:
        super().__init__(4)
        self.codes: list[int] = []

    def answered(self, token: int, code: int, message: Any, number: int) -> None:
        self.codes.append(int(code))

    def answered_with(self, token: int, code: int, value: Any) -> None:
        self.codes.append(int(code))


class Scene:
    def __init__(self, disk_bytes: int = 0, memory_bytes: int = 0) -> None:
        self.disk = SimDisk()
        self.embedded = Embedded(self.disk, b"the room's store", PolicyBook(), stages.WRITE, SEGMENT)
        self.embedded.open(START_US, "test")
        self.machine = FakeMachine()
        self.written = StringIO()
        limits = Limits(SEGMENT, disk_bytes, memory_bytes)
        self.room = Room(limits, self.machine, self.embedded, Log(self.written, "json", "info"))
        self.session = Heard()

    def do(self, verb: str, *arguments: Any) -> int:
        self.embedded.begin(START_US)
        getattr(self.embedded.broker, verb)(self.session, 1, *arguments, stages.WRITE)
        self.embedded.commit()
        return self.session.codes.pop()

    def publish(self, body: bytes = b"body") -> int:
        return self.do("publish", b"q", body, -1, Publishing())

    def beat(self) -> str:
        self.room.beat(START_US)
        return self.room.lacks

    def needed(self) -> int:
        needed: Any = self.room.status()["needed_bytes"]
        return int(needed)

    def events(self) -> list[str]:
        return [json.loads(line)["event"] for line in self.written.getvalue().splitlines()]


def test_publishing_stops_before_less_than_two_segments_and_a_snapshot_fit() -> None:
    scene = Scene()
    assert scene.publish(bytes(1_000)) == codes.OK
    live = scene.embedded.live_bytes()
    assert scene.needed() == 2 * SEGMENT + live * 5 // 4 + ENDING_BYTES
    scene.machine.free = scene.needed()
    assert scene.beat() == ""
    scene.machine.free -= 1
    assert scene.beat() == DISK
    assert scene.publish() == codes.FULL


def test_what_ends_a_message_is_never_refused() -> None:
    scene = Scene()
    for _ in range(3):
        scene.publish()
    scene.machine.free = 0
    assert scene.beat() == DISK
    assert scene.do("reserve", b"q", Reserving(lease_us=1_000_000)) == codes.OK
    first = min(message.order for message in scene.embedded._engine.state().messages.values())
    assert scene.do("extend", b"q", first, 5_000_000, 0, 0) == codes.OK
    assert scene.do("release", b"q", first, 0, False, 0, 0) == codes.OK
    assert scene.do("finish", b"q", first, 0, 0) == codes.OK
    assert scene.do("delete", b"q", first + 1) == codes.OK
    assert scene.do("purge", b"q") == codes.OK
    assert scene.publish() == codes.FULL


def test_publishing_resumes_at_the_next_beat_after_space_has_returned() -> None:
    scene = Scene()
    scene.machine.free = 0
    assert scene.beat() == DISK
    scene.machine.free = scene.needed() + SEGMENT // 4 - 1
    assert scene.beat() == DISK, "not to and fro"
    scene.machine.free += 1
    assert scene.beat() == ""
    assert scene.publish() == codes.OK
    assert scene.events() == ["publishing refused", "publishing resumed"]


def test_what_is_to_stay_free_for_others_is_needed_too() -> None:
    assert Scene(disk_bytes=12_345).needed() == Scene().needed() + 12_345


def test_the_next_segment_has_room_for_the_ends_of_all_that_lives() -> None:
    scene = Scene()
    count = SEGMENT // ENDING_BYTES + 10
    for _ in range(count):
        scene.publish(b"")
    scene.beat()
    scene.embedded.prepare_spare()
    assert scene.disk.size("spare.journal") == count * ENDING_BYTES > SEGMENT


def test_a_disk_that_has_no_room_for_the_next_segment_ends_nothing() -> None:
    scene = Scene()
    scene.publish()
    scene.disk.fail_at, scene.disk.fail_errno = len(scene.disk.operations) + 1, 28
    scene.embedded.prepare_spare()
    assert not scene.embedded.wants_spare(), "it is not tried at every tick"
    assert scene.disk.size("spare.journal") < SEGMENT, "a small one, so that the segment in use can be sealed"
    scene.machine.free = SEGMENT // 16 - 1
    assert scene.beat() == DISK
    assert scene.do("reserve", b"q", Reserving(lease_us=1_000_000)) == codes.OK
    scene.machine.free = MUCH
    assert scene.beat() == ""
    assert scene.embedded.wants_spare()
    scene.embedded.prepare_spare()
    assert scene.disk.size("spare.journal") == SEGMENT
    assert scene.publish() == codes.OK


def test_publishing_is_refused_while_messages_take_too_much_memory() -> None:
    scene = Scene(memory_bytes=100_000)
    for _ in range(100):
        scene.publish(bytes(300))
    scene.machine.resident = 100_000
    assert scene.beat() == ""
    scene.machine.resident += 1
    assert scene.beat() == MEMORY
    assert scene.publish() == codes.FULL
    assert scene.do("purge", b"q") == codes.OK
    assert scene.beat() == "", "what they left is theirs to come back to"
    assert scene.publish() == codes.OK


def test_where_nobody_says_a_limit_it_is_four_fifths_of_what_there_is() -> None:
    assert Scene().room.status()["memory_limit_bytes"] == 800_000
    machine = Machine("/")
    assert machine.memory_bytes() > 1 << 20
    assert machine.resident_bytes() > 1 << 20
    assert machine.free_bytes() > 0


def test_a_batch_with_a_publish_is_refused_whole() -> None:
    from penstock.model.contract import FINISH, PUBLISH, Call

    scene = Scene()
    scene.publish()
    first = min(message.order for message in scene.embedded._engine.state().messages.values())
    scene.machine.free = 0
    scene.beat()
    finish, publish = Call(FINISH, b"q"), Call(PUBLISH, b"q")
    finish.seq = int(first)
    assert scene.do("batch", [finish, publish]) == codes.FULL
    assert scene.embedded.live_messages() == 1
    assert scene.do("batch", [finish]) == codes.OK
    assert scene.embedded.live_messages() == 0
