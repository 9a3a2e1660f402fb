"""The outbox says what was decided, in its order, at the stage it was to wait for, and to those who are there."""

from __future__ import annotations

import pytest

from penstock.broker.outbox import Outbox, say
from penstock.model import codes, stages
from penstock.model.contract import Wire
from penstock.model.message import Message
from tests.engine.clients import Client, Event

BODY = b"0123456789"


class Box:
    """An outbox with one client."""

    def __init__(self, confirm: int = stages.WRITE) -> None:
        self.outbox = Outbox(confirm)
        self.client = Client("one", client_id=7)
        self.outbox.enter(self.client)

    def answer(self, token: int, stage: int) -> None:
        self.outbox.answer(self.client, token, stage, codes.OK, None, 0)

    def written(self) -> list[Event]:
        self.outbox.say_written()
        return self.heard()

    def synced(self) -> list[Event]:
        say(self.outbox.take_synced())
        return self.heard()

    def heard(self) -> list[Event]:
        heard, self.client.events = self.client.events, []
        return heard


def tokens(events: list[Event]) -> list[int]:
    return [event[2] for event in events]


def test_what_waits_for_nothing_or_for_the_write_is_said_after_it_and_the_rest_after_the_sync() -> None:
    box = Box()
    box.answer(1, stages.SYNC)
    box.answer(2, stages.WRITE)
    box.answer(3, stages.READY)
    assert box.heard() == []
    assert tokens(box.written()) == [3, 2]
    assert tokens(box.synced()) == [1]
    assert box.written() == box.synced() == []


@pytest.mark.parametrize("stage", [stages.READY, stages.WRITE, stages.SYNC])
def test_within_a_stage_the_order_is_that_of_the_deciding(stage: int) -> None:
    box = Box()
    for token in range(5):
        box.answer(token, stage)
    box.outbox.answer_with(box.client, 5, stage, codes.OK, [])
    box.outbox.push(box.client, stage, b"q", [])
    box.answer(6, stage)
    heard = box.synced() if stage == stages.SYNC else box.written()
    assert [(event[0], event[2]) for event in heard[-4:]] == [("answer", 4), ("list", 5), ("push", 0), ("answer", 6)]
    assert tokens(heard[:5]) == [0, 1, 2, 3, 4]


def test_what_is_decided_while_others_are_told_waits_for_the_next_commit() -> None:
    """It cannot have been written yet."""
    box = Box()

    class Eager(Client):
        def answered(self, token: int, code: int, message: Message | None, number: int) -> None:
            super().answered(token, code, message, number)
            box.outbox.answer(self, token + 1, stages.READY, codes.OK, None, 0)

    eager = Eager("eager")
    box.outbox.answer(eager, 1, stages.WRITE, codes.OK, None, 0)
    box.outbox.say_written()
    assert tokens(eager.events) == [1]
    box.outbox.say_written()
    assert tokens(eager.events) == [1, 2]


@pytest.mark.parametrize("confirm", [stages.READY, stages.WRITE, stages.SYNC])
def test_wake_ups_and_turns_of_a_life_are_told_once_confirmed(confirm: int) -> None:
    box = Box(confirm)
    box.outbox.wake(box.client, 1)
    box.outbox.notice(7, stages.ASSIGN, 42, stages.READY)
    written, synced = box.written(), box.synced()
    told = [("wake", "one", 1, 0, None), ("notice", 7, stages.ASSIGN, 42)]
    assert (written, synced) == (([], told) if confirm == stages.SYNC else (told, []))


def test_stages_of_durability_are_told_when_they_are_reached_whatever_is_confirmed() -> None:
    box = Box(stages.SYNC)
    for stage in (stages.SYNC, stages.WRITE, stages.READY):
        box.outbox.notice(7, stage, 42, stage)
    assert box.written() == [("notice", 7, stages.READY, 42), ("notice", 7, stages.WRITE, 42)]
    assert box.synced() == [("notice", 7, stages.SYNC, 42)]


def test_turns_of_a_life_wait_for_the_stages_of_durability_that_were_asked_for_too() -> None:
    box = Box(stages.READY)
    box.outbox.notice(7, stages.ASSIGN, 42, stages.SYNC)
    assert box.written() == []
    assert box.synced() == [("notice", 7, stages.ASSIGN, 42)]


def test_notices_go_to_whoever_bears_the_name_now_and_to_nobody_else() -> None:
    box, successor = Box(), Client("two", client_id=7)
    box.outbox.notice(8, stages.READY, 1, stages.READY)
    box.outbox.leave(box.client)
    box.outbox.enter(successor)
    box.outbox.notice(7, stages.READY, 2, stages.READY)
    box.outbox.leave(successor)
    box.outbox.notice(7, stages.READY, 3, stages.READY)
    box.outbox.say_written()
    assert box.heard() == []
    assert successor.events == [("notice", 7, stages.READY, 2)]


def test_bodies_that_are_under_way_are_owed_until_they_are_said() -> None:
    box, message = Box(), Message(5, 1, BODY, 0, 0)
    box.outbox.answer(box.client, 1, stages.WRITE, codes.OK, message, 1)
    assert box.client.owed == len(BODY)
    box.outbox.answer_with(box.client, 2, stages.WRITE, codes.OK, [message])
    box.outbox.push(box.client, stages.WRITE, b"q", [message, message])
    assert box.client.owed >= 4 * len(BODY)
    assert len(box.written()) == 3
    assert box.client.owed == 0


def test_whether_anybody_waits_for_a_sync_is_known() -> None:
    box = Box()
    assert not box.outbox.waits_for_sync()
    box.answer(1, stages.SYNC)
    assert box.outbox.waits_for_sync()
    box.synced()
    assert not box.outbox.waits_for_sync()


def test_a_session_that_fails_over_what_it_is_told_fails_alone() -> None:
    class Broken(Client):
        def answered(self, token: int, code: int, message: Message | None, number: int) -> None:
            raise RuntimeError("a defect")

    class Line(Wire):
        failed: Exception | None = None

        def fail(self, error: Exception) -> None:
            self.failed = error

    box, broken, wire = Box(), Broken("broken"), Line()
    broken.wire = wire
    box.outbox.answer(broken, 1, stages.WRITE, codes.OK, None, 0)
    box.answer(2, stages.WRITE)
    assert tokens(box.written()) == [2]
    assert str(wire.failed) == "a defect"
