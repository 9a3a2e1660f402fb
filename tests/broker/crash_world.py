"""The embedded broker and the model, side by side, on a disk that may lose its power at any operation.

On top of what every World compares: nothing is said before it is as durable as asked, everything is said in the end,
and what a crash leaves is the replay of a prefix that holds all that was promised.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from penstock.broker.embedded import INLINE_SYNC_US, Embedded
from penstock.engine.engine import Engine
from penstock.journal import check
from penstock.journal.segment import JournalDamaged
from penstock.model import codes, stages
from tests.engine.audit import Broken, law
from tests.engine.clients import Client, Event, answer
from tests.engine.world import Configuration, World
from tests.journal.simdisk import PowerCut, SimDisk

STORE_ID = bytes(range(16))
SEGMENT_BYTES = 16 << 10

KILLED, POWER_CUT, KILLED_IN_COMMIT, POWER_CUT_IN_COMMIT, STOPPED = range(5)
IN_COMMIT = (KILLED_IN_COMMIT, POWER_CUT_IN_COMMIT)
WITHOUT_POWER = (POWER_CUT, POWER_CUT_IN_COMMIT)
HOW = ("killed", "power cut", "killed in a commit", "power cut in a commit", "stopped")


@dataclass(eq=False)
class Expected:
    """Something that will be said to `told` once so many facts have reached the stage."""

    told: str | int
    event: Event
    stage: int
    facts: int

    @property
    def in_turn(self) -> bool:
        return self.event[0] not in ("notice", "wake")


class Witness(Client):
    """Has the world judge at once what it is told."""

    world: CrashWorld

    def hear(self, event: Event) -> None:
        self.world.said(self, event)


class CrashWorld(World):
    crashes = range(5)
    embedded: Embedded
    expected: list[Expected]
    sync: Callable[[], None] | None  # one that was started
    promised: dict[int, int]  # facts told to have reached a stage

    def __init__(self, configuration: Configuration = ((), {}), confirm: int = stages.WRITE) -> None:
        self.confirm = confirm
        self.dice = random.Random(confirm)  # for what the disk and its threads do
        self.disk = SimDisk()
        super().__init__(configuration)

    def _client(self, name: str, dialect: int, client_id: int) -> Client:
        witness = Witness(name, dialect, client_id)
        witness.world = self
        return witness

    # -- time and commits

    def _move_time(self, now_us: int, woken: bool) -> None:
        if woken:
            self.embedded.woken()
        self.embedded.begin(now_us)

    def _write(self) -> None:
        """A commit; the disk is sometimes too slow to sync inline, and then a thread does it, some commits later."""
        self.embedded.journal.last_sync_us = self.dice.choice((0, INLINE_SYNC_US))
        self.embedded.commit()
        late = [one for one in self.expected if one.stage != stages.SYNC]
        law(0, not late, f"not said after a commit: {[one.event for one in late]}")
        if self.sync is not None:
            if self.dice.random() < 0.5:
                self._finish_sync(self.sync)
        elif self.embedded.wants_sync() or (self.embedded.unsynced() and self.dice.random() < 0.2):
            self.sync = self.embedded.start_sync()

    def _finish_sync(self, sync: Callable[[], None]) -> None:
        self.sync = None
        sync()
        self.embedded.finish_sync()

    # -- what is said, and when

    def _compare_said(self) -> None:
        decided = self.facts + int(self.engine.record.count)
        for stage, event in self.model.said:
            self.expected.append(Expected(event[1], event, self._stage_of(stage, event), decided))
        self.model.said = []

    def _stage_of(self, stage: int, event: Event) -> int:
        """Stages of durability are told when they are reached, turns of a life and wake-ups when confirmed."""
        if event[0] == "notice":
            return stage if event[2] <= stages.SYNC else max(stage, self.confirm)
        return self.confirm if event[0] == "wake" else stage

    def said(self, client: Client, event: Event) -> None:
        """Right now, and not a moment earlier, all that it rests on has to be as durable as asked."""
        reached = {
            stages.READY: self.facts,
            stages.WRITE: int(self.embedded.journal.next_fact) - 1,
            stages.SYNC: int(self.embedded.journal.synced) - 1,
        }
        one = self._find(client, event)
        law(8, one.facts <= reached[one.stage], f"{event} is said before it is {stages.STAGES[one.stage]}")
        self.promised[one.stage] = max(self.promised[one.stage], one.facts)
        self._hear(event)

    def _find(self, client: Client, event: Event) -> Expected:
        """What was expected, where nothing of its kind and stage should have come before it."""
        for one in self.expected:
            if one.event == event:
                ahead = [other.event for other in self._ahead_of(one)]
                law(0, not ahead, f"{client.name} is told {event} before {ahead}")
                self.expected.remove(one)
                return one
        raise Broken(0, f"{client.name} is told {event}, which nobody expected")

    def _ahead_of(self, one: Expected) -> list[Expected]:
        """Answers and pushes have an order; notices and wake-ups of one step have none."""
        before = self.expected[: self.expected.index(one)]
        alike = [other for other in before if other.told == one.told and other.stage == one.stage]
        return [other for other in alike if one.in_turn and other.in_turn]

    # -- crashes

    def crash(self, how: int, now_us: int) -> None:
        self._stop(how)
        try:
            found = len(list(check.read(self.disk)))
        except JournalDamaged as damage:
            raise Broken(10, f"{HOW[how]}, and the journal is damaged: {damage}") from damage
        promised = max(self.promised[stages.SYNC], 0 if how in WITHOUT_POWER else self.promised[stages.WRITE])
        self.log.append(f"{HOW[how]}, {found} facts left, started at +{now_us - self.model.now_us}")
        law(10, found >= promised, f"{HOW[how]}, {found} facts are left, {promised} were promised")
        while self.facts > found:
            self._lose_batch()
        law(10, self.facts == found, f"{HOW[how]}, and half a commit is left")
        self._begin_life(now_us)

    def _stop(self, how: int) -> None:
        if how == STOPPED:
            self.commit()
            self.embedded.close()
            law(0, not self.expected, f"not said before the end: {[one.event for one in self.expected]}")
            law(0, not any(client.owed for client in self.clients), "all is said, and something is still owed")
        elif how in IN_COMMIT:
            self._note_pending()
            self.disk.cut_before = len(self.disk.operations) + self.dice.randint(1, 8)
            with suppress(PowerCut):
                self._write()
        if how in WITHOUT_POWER:
            self.disk = self.dice.choice(list(self.disk.crash_states(self.facts)))
        self.disk = self.disk.after_kill()

    def _start(self, now_us: int) -> None:
        self.expected = []
        self.sync = None
        self.embedded = Embedded(self.disk, STORE_ID, self.book, self.confirm, SEGMENT_BYTES)
        recovery = self.embedded.open(now_us, "test")
        law(10, recovery.facts == self.facts, f"{recovery.facts} facts were recovered, {self.facts} are there")
        assert isinstance(self.embedded.broker, Engine)
        self.engine = self.embedded.broker
        for client in self.clients:
            client.owed = 0
            self._meet(client)

    def _meet(self, client: Client) -> None:
        """Under the name it always had; gone or not, it is told what is for that name."""
        self.engine.meet(client, 0, client.client_id, durable=True)
        event = answer(client, 0, codes.OK, None, client.client_id)
        self.expected.append(Expected(client.name, event, stages.READY, 0))

    def _after_start(self, now_us: int) -> None:
        """The start is synced, and with it all that was read: it may be told from here on."""
        self._keep(list(check.read(self.disk, self.facts + 1)))
        self.promised = dict.fromkeys((stages.READY, stages.WRITE, stages.SYNC), self.facts)
        self._move_time(now_us, woken=False)
        self.model.advance(now_us)
        self._compare()
        self.commit()
