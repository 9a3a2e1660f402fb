"""The embedded broker: one commit per tick, answers once durable enough, starts and stops, and a disk that dies."""

from __future__ import annotations

import json

import pytest

from penstock.broker.embedded import BEHIND_BYTES, BEHIND_US, INLINE_SYNC_US, Embedded
from penstock.engine.rules import PolicyBook
from penstock.journal import check
from penstock.journal.journal import JournalDead
from penstock.journal.recovery import Recovery
from penstock.model import codes, facts, stages
from penstock.model.message import Message
from penstock.model.options import Publishing, Reserving
from penstock.model.policy import Policy
from tests.engine.clients import Client, Event
from tests.engine.desk import START_US, S, origin
from tests.journal.simdisk import SimDisk

STORE_ID = bytes(range(16))
SLOW_US = INLINE_SYNC_US


class House:
    """A broker on a disk, with one client."""

    def __init__(self, disk: SimDisk | None = None, confirm: int = stages.WRITE, now_us: int = START_US) -> None:
        self.disk = disk or SimDisk()
        self.embedded = Embedded(self.disk, STORE_ID, PolicyBook([(b"*", Policy(dedup_us=60 * S))]), confirm, 8_192)
        self.recovery: Recovery = self.embedded.open(now_us, "1.2.3")
        self.client = Client("one", client_id=7)
        self.embedded.begin(now_us)

    def publish(self, token: int, stage: int, **said: object) -> None:
        self.embedded.broker.publish(self.client, token, b"q", b"body", 0, Publishing(**said), stage)  # type: ignore[arg-type]

    def reserve(self, lease_us: int) -> int:
        self.embedded.broker.reserve(self.client, 99, b"q", Reserving(lease_us=lease_us), stages.READY)
        self.embedded.commit()
        return int(self.heard()[-1][4][0][0])

    def slow(self) -> None:
        """The last sync took so long that the next is not done inline."""
        self.embedded.journal.last_sync_us = SLOW_US

    def heard(self) -> list[Event]:
        heard, self.client.events = self.client.events, []
        return heard

    def answered(self) -> list[int]:
        return [event[2] for event in self.heard()]

    def written(self) -> list[int]:
        return [int(fact.kind) for fact in check.read(self.disk)]


def test_an_answer_comes_with_the_commit_that_covers_it() -> None:
    house = House()
    for token, stage in ((1, stages.READY), (2, stages.WRITE), (3, stages.SYNC)):
        house.publish(token, stage)
    assert house.heard() == []
    house.embedded.commit()
    assert house.answered() == [1, 2, 3]
    assert not house.embedded.unsynced()


def test_all_facts_of_a_tick_are_one_write() -> None:
    house = House()
    before = house.disk.operations.count("write")
    for token in range(10):
        house.publish(token, stages.WRITE)
    house.embedded.commit()
    assert house.disk.operations.count("write") == before + 1
    assert house.disk.operations[-1] == "write"


def test_in_a_tick_in_which_time_moves_every_fact_has_its_own_time_and_all_are_one_write() -> None:
    house = House()
    house.publish(1, stages.WRITE)
    house.embedded.move(START_US + 5 * S)
    house.publish(2, stages.WRITE, ttl_us=1 * S)
    before = house.disk.operations.count("write")
    house.embedded.commit()
    assert house.disk.operations.count("write") == before + 1
    published = [fact for fact in check.read(house.disk) if fact.kind == facts.PUBLISHED]
    assert [int(fact.at_us) - START_US for fact in published] == [0, 5 * S]
    again = House(house.disk.after_kill(), now_us=START_US + 5 * S)
    for embedded in (house.embedded, again.embedded):
        live = [*embedded._engine.state().messages.values()]
        assert [int(one.published_us) - START_US for one in live] == [0, 5 * S]
        assert int(live[1].expires_us) == START_US + 6 * S


def test_a_pause_within_a_tick_grants_grace_before_anything_else_happens() -> None:
    house = House()
    house.publish(1, stages.WRITE)
    house.embedded.commit()
    house.reserve(2 * S)
    house.embedded.begin(START_US + 1 * S)
    house.embedded.woken()
    house.embedded.move(START_US + 9 * S)
    assert [*leases(house.embedded).values()] == [START_US + 11 * S]


def test_a_tick_without_facts_writes_nothing() -> None:
    house = House()
    operations = len(house.disk.operations)
    house.embedded.broker.stats(house.client, 1)
    house.embedded.commit()
    assert house.answered() == [1]
    assert len(house.disk.operations) == operations


def test_it_tells_of_a_tick_in_which_a_sync_was_waited_for() -> None:
    house = House()
    waited = []
    for stage, slow in ((stages.WRITE, False), (stages.SYNC, False), (stages.READY, False), (stages.SYNC, True)):
        house.embedded.begin(START_US)
        if slow:
            house.slow()
        house.publish(1, stage)
        house.embedded.commit()
        waited.append(house.embedded.waited())
    assert waited == [False, True, False, False]
    run = house.embedded.start_sync()
    house.embedded.begin(START_US)
    run()
    house.embedded.finish_sync()
    house.embedded.commit()
    assert house.embedded.waited()


def test_what_nobody_waits_for_is_written_with_what_somebody_does() -> None:
    house = House()
    writes = house.disk.operations.count("write")
    house.publish(1, stages.READY)
    house.embedded.commit()
    house.embedded.begin(START_US + 1)
    house.publish(2, stages.READY)
    house.embedded.commit()
    assert house.answered() == [1, 2]
    assert house.disk.operations.count("write") == writes
    house.publish(3, stages.WRITE)
    house.embedded.commit()
    assert house.disk.operations.count("write") == writes + 1
    assert [fact.at_us for fact in check.read(house.disk) if fact.kind == facts.PUBLISHED] == [START_US] + [
        START_US + 1
    ] * 2


def test_what_nobody_waits_for_is_written_soon_all_the_same() -> None:
    house = House()
    house.publish(1, stages.READY)
    house.embedded.commit()
    due_us = START_US + BEHIND_US
    assert house.embedded.next_due_us() == due_us
    house.embedded.begin(due_us - 1)
    house.embedded.commit()
    assert facts.PUBLISHED not in house.written()
    house.embedded.begin(due_us)
    house.embedded.commit()
    assert facts.PUBLISHED in house.written()
    assert house.embedded.next_due_us() > due_us


def test_what_nobody_waits_for_does_not_pile_up() -> None:
    house = House()
    for _ in range(BEHIND_BYTES // 64):
        house.publish(1, stages.READY)
        house.embedded.commit()
    assert facts.PUBLISHED in house.written()


def test_a_clean_stop_writes_what_nobody_waited_for() -> None:
    house = House()
    house.publish(1, stages.READY)
    house.embedded.close()
    assert facts.PUBLISHED in house.written()


def test_a_slow_sync_is_left_to_a_thread_and_nothing_else_waits_for_it() -> None:
    house = House()
    house.slow()
    house.publish(1, stages.SYNC)
    house.publish(2, stages.WRITE)
    house.embedded.commit()
    assert house.answered() == [2]
    assert house.embedded.wants_sync()
    sync = house.embedded.start_sync()
    assert not house.embedded.wants_sync()
    house.publish(3, stages.SYNC)
    house.publish(4, stages.WRITE)
    house.embedded.commit()
    assert house.answered() == [4]
    sync()
    house.embedded.finish_sync()
    assert house.answered() == [1]


def test_what_came_after_a_sync_began_waits_for_the_next() -> None:
    house = House()
    house.slow()
    house.publish(1, stages.SYNC)
    house.embedded.commit()
    first = house.embedded.start_sync()
    house.publish(2, stages.SYNC)
    house.embedded.commit()
    first()
    house.embedded.finish_sync()
    assert house.answered() == [1]
    assert house.embedded.wants_sync()
    house.embedded.commit()
    assert house.answered() == [2]


@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.parametrize("prompt", [False, True])
def test_what_was_synced_long_ago_is_said_at_once_and_costs_no_sync(slow: bool, prompt: bool) -> None:
    """A duplicate rests on a fact that is there already."""
    house = House()
    house.client.prompt = prompt
    twin = origin(dedup_id=b"once")
    house.publish(1, stages.SYNC, origin=twin)
    house.embedded.commit()
    if slow:
        house.slow()
    house.embedded.begin(START_US)
    house.publish(2, stages.SYNC, origin=twin)
    syncs = house.embedded.journal.syncs
    house.embedded.commit()
    assert [event[3] for event in house.heard()] == [codes.OK, codes.DUPLICATE]
    assert house.embedded.journal.syncs == syncs


def test_a_client_that_asks_again_while_it_is_answered_is_not_told_too_early() -> None:
    house = House()

    class Eager(Client):
        def answered(self, token: int, code: int, message: Message | None, number: int) -> None:
            super().answered(token, code, message, number)
            if token == 1:
                house.embedded.broker.publish(self, 2, b"q", b"", 0, Publishing(), stages.SYNC)

    eager = Eager("eager")
    house.embedded.broker.publish(eager, 1, b"q", b"", 0, Publishing(), stages.WRITE)
    house.publish(3, stages.SYNC)
    house.embedded.commit()
    assert [event[2] for event in eager.events] == [1]
    assert house.answered() == [3]
    house.embedded.commit()
    assert [event[2] for event in eager.events] == [1, 2]
    assert house.written().count(facts.PUBLISHED) == 3


def test_notices_go_to_clients_that_were_met_and_are_there() -> None:
    house = House()
    house.embedded.broker.meet(house.client, 0, 6, False)
    house.publish(1, stages.READY, origin=origin(poster=6, label=42, notify=7))
    house.embedded.commit()
    notices = [event[2] for event in house.heard() if event[0] == "notice"]
    assert notices == [stages.READY, stages.WRITE, stages.SYNC]
    house.embedded.broker.cancel(house.client)
    house.publish(2, stages.READY, origin=origin(poster=6, label=43, notify=7))
    house.embedded.commit()
    assert [event[0] for event in house.heard()] == ["answer"]


# -- stops and starts


def test_a_clean_stop_says_what_was_waiting_and_leaves_a_sealed_journal() -> None:
    house = House()
    house.slow()
    house.publish(1, stages.SYNC)
    house.embedded.commit()
    house.embedded.start_sync()
    house.publish(2, stages.SYNC)
    house.publish(3, stages.WRITE)
    house.embedded.close()
    assert house.answered() == [3, 1, 2]
    assert all(segment.sealed for segment in check.info(house.disk))
    assert House(house.disk.after_kill()).recovery.clean


def test_a_start_brings_back_what_was_written_and_notes_how_it_was_found() -> None:
    house = House()
    house.publish(1, stages.WRITE)
    house.embedded.commit()
    number = house.heard()[0][4][1]
    second = House(house.disk.after_kill(), now_us=START_US + S)
    assert (second.recovery.facts, second.recovery.clean) == (3, False)
    started = list(check.read(second.disk))[-1]
    assert (started.kind, json.loads(started.body)) == (
        facts.STARTED,
        {"version": "1.2.3", "clean": False, "cut_bytes": 0},
    )
    second.embedded.broker.show_message(second.client, 1, number)
    second.embedded.commit()
    shown = second.heard()[0][4]
    assert (shown["body"], shown["published_us"]) == (b"body", START_US)


def test_a_start_is_synced_before_anybody_is_answered() -> None:
    house = House()
    assert not house.embedded.unsynced()
    for state in house.disk.crash_states():
        assert [int(fact.kind) for fact in check.read(state)] == [facts.STARTED]


def test_time_goes_on_from_the_last_fact() -> None:
    house = House()
    house.embedded.begin(START_US + 60 * S)
    house.publish(1, stages.WRITE)
    house.embedded.commit()
    assert House(house.disk.after_kill(), now_us=START_US).embedded.now_us() == START_US + 60 * S


def test_a_process_that_stood_still_grants_its_leases_their_grace_from_when_it_goes_on() -> None:
    house = House()
    house.publish(1, stages.READY)
    number = house.reserve(lease_us=60 * S)
    house.embedded.woken()
    house.embedded.begin(START_US + 900 * S)
    house.embedded.commit()
    assert house.written()[-1] == facts.WOKEN
    again = House(house.disk.after_kill(), now_us=START_US + 900 * S)
    for embedded in (house.embedded, again.embedded):
        assert embedded.next_due_us() > START_US + 900 * S
        embedded.begin(START_US + 910 * S - 1)
        assert leases(embedded) == {number: START_US + 910 * S}


def leases(embedded: Embedded) -> dict[int, int]:
    return {int(one.order): int(one.until_us) for one in embedded._engine.state().messages.values() if one.until_us}


def test_another_book_holds_from_then_on() -> None:
    house = House()
    house.embedded.rebook(PolicyBook([(b"*", Policy(max_body=1))]))
    house.publish(1, stages.READY)
    house.embedded.commit()
    assert house.heard()[0][3] == codes.TOO_LARGE


# -- a disk that dies


@pytest.mark.parametrize("operation", ["write", "sync"])
def test_after_the_disk_has_died_nothing_is_said_any_more(operation: str) -> None:
    house = House()
    house.publish(1, stages.SYNC)
    house.publish(2, stages.WRITE)
    house.disk.fail_at = len(house.disk.operations) + (1 if operation == "write" else 2)
    with pytest.raises(JournalDead):
        house.embedded.commit()
    assert house.disk.operations[-1] == operation
    for _ in range(2):
        house.publish(3, stages.READY)
        with pytest.raises(JournalDead):
            house.embedded.commit()
    assert house.heard() == []


def test_a_sync_that_fails_on_its_thread_covers_nothing() -> None:
    house = House()
    house.slow()
    house.publish(1, stages.SYNC)
    house.embedded.commit()
    sync = house.embedded.start_sync()
    house.disk.fail_at = len(house.disk.operations) + 1
    sync()
    with pytest.raises(JournalDead):
        house.embedded.finish_sync()
    assert house.heard() == []


def test_a_spare_segment_is_made_when_wanted() -> None:
    house = House()
    assert house.embedded.wants_spare()
    house.embedded.prepare_spare()
    assert not house.embedded.wants_spare()
