"""The order within a tick, what runs on threads, when time is told, and that nothing is said after a failure."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from random import Random

from penstock.model.limits import MILLISECOND_US, SECOND_US
from penstock.server.clock import Clock
from penstock.server.tick import Guest, Heart
from tests.server.fakes import ClockOf, FakeStore, HandClock, run, until
from tests.simulation.timeline import Timeline, loop_in

SYNC_INTERVAL_US = 20_000


class FakeGuest(Guest):
    def __init__(self, store: FakeStore) -> None:
        self._calls = store.calls
        self.on_flush: Callable[[], None] = lambda: None

    def flush(self) -> None:
        self._calls.append("flush")
        self.on_flush()

    def resume(self) -> None:
        self._calls.append("resume")


class Body:
    """A heart and what it drives."""

    def __init__(self, clock: Clock) -> None:
        self.store = FakeStore()
        self.deaths: list[BaseException] = []
        loop = asyncio.get_running_loop()
        self.heart = Heart(loop, self.store, clock, SYNC_INTERVAL_US, self.deaths.append)
        self.guest = FakeGuest(self.store)

    def has_begun(self, due_us: int) -> bool:
        return self.store.begun_us[-1] >= due_us

    async def tick(self) -> None:
        self.heart.begin()
        await until(lambda: not self.heart.open or self.heart.dead)


@asynccontextmanager
async def body(clock: Clock | None = None) -> AsyncIterator[Body]:
    made = Body(clock or Clock())
    try:
        yield made
    finally:
        made.store.ticket.may_run.set()
        made.heart.close(wait=True)


def test_time_moves_then_verbs_run_then_the_journal_is_written_then_answers_go_out() -> None:
    async def scenario() -> None:
        async with body() as made:
            assert made.heart.begin()
            made.store.ask(lambda: made.heart.wake(made.guest))
            await until(lambda: not made.heart.open)
            assert made.store.calls == ["begin", "verb", "commit", "flush"]

    run(scenario())


def test_all_of_one_iteration_is_one_tick() -> None:
    async def scenario() -> None:
        async with body() as made:
            for _ in range(3):
                made.heart.begin()
                made.heart.wake(made.guest)
            await until(lambda: not made.heart.open)
            assert made.store.calls == ["begin", "commit", "flush", "flush", "flush"]
            assert made.heart.ticks == 1

    run(scenario())


def test_whoever_wakes_between_ticks_makes_one() -> None:
    async def scenario() -> None:
        async with body() as made:
            made.heart.wake(made.guest)
            await until(lambda: not made.heart.open)
            assert made.store.calls == ["begin", "commit", "flush"]

    run(scenario())


def test_held_back_input_goes_on_in_the_next_tick_after_time_has_moved() -> None:
    async def scenario() -> None:
        async with body() as made:
            made.guest.on_flush = lambda: made.heart.hold(made.guest) if made.heart.ticks == 1 else None
            made.heart.wake(made.guest)
            await until(lambda: made.heart.ticks == 2 and not made.heart.open)
            assert made.store.calls == ["begin", "commit", "flush", "begin", "resume", "commit"]

    run(scenario())


def test_a_due_time_is_met_without_spinning_before_it() -> None:
    async def scenario() -> None:
        clock = Clock()
        async with body(clock) as made:
            for microseconds in range(2_000, 4_000, 95):
                ticks = made.heart.ticks
                due_us = made.store.due_us = clock.now_us() + microseconds
                await made.tick()
                await until(partial(made.has_begun, due_us))
                assert made.heart.ticks - ticks <= 5
                assert made.store.begun_us[-1] < due_us + SECOND_US

    run(scenario())


def test_an_earlier_due_time_replaces_a_later_one() -> None:
    async def scenario() -> None:
        clock = Clock()
        async with body(clock) as made:
            made.store.due_us = clock.now_us() + 3_600 * SECOND_US
            await made.tick()
            made.store.due_us = clock.now_us() + 5_000
            await made.tick()
            await until(lambda: len(made.store.begun_us) == 3)

    run(scenario())


def test_where_nothing_is_due_nothing_ticks() -> None:
    async def scenario() -> None:
        async with body() as made:
            await made.tick()
            await asyncio.sleep(0.05)
            assert made.heart.ticks == 1

    run(scenario())


def test_a_sync_runs_on_its_thread_and_is_finished_within_a_tick() -> None:
    async def scenario() -> None:
        async with body() as made:
            made.store.sync_wanted = True
            await made.tick()
            await until(lambda: made.heart.ticks == 2 and not made.heart.open)
            assert made.store.calls == ["begin", "commit", "start_sync", "begin", "finish_sync", "commit"]
            assert made.store.ticket.thread.startswith("sync")

    run(scenario())


def test_ticks_go_on_while_a_sync_is_under_way_and_no_second_one_begins() -> None:
    async def scenario() -> None:
        async with body() as made:
            made.store.ticket.may_run.clear()
            made.store.sync_wanted = True
            await made.tick()
            made.store.sync_wanted = True
            await made.tick()
            await made.tick()
            assert made.store.calls.count("start_sync") == 1
            made.store.ticket.may_run.set()
            await until(lambda: made.store.calls.count("finish_sync") == 2)

    run(scenario())


def test_what_nobody_waits_for_is_synced_within_the_interval() -> None:
    async def scenario() -> None:
        async with body() as made:
            made.store.dirty = True
            await made.tick()
            assert "start_sync" not in made.store.calls
            await until(lambda: "finish_sync" in made.store.calls)

    run(scenario())


def test_a_sync_that_is_due_within_a_tick_begins_after_its_commit() -> None:
    """It covers the answers that wait for it: so their facts must have been written by then."""
    timeline, store = Timeline(0), FakeStore()
    deaths: list[BaseException] = []
    clock = ClockOf(timeline.wall, timeline.elapsed)
    heart = Heart(loop_in(timeline, Random(0)), store, clock, SYNC_INTERVAL_US, deaths.append)
    timeline.later(SYNC_INTERVAL_US, heart.begin)
    store.dirty = True
    heart.begin()
    timeline.run(2 * SYNC_INTERVAL_US)
    heart.close(wait=True)
    assert store.calls[:5] == ["begin", "commit", "begin", "commit", "start_sync"]
    assert deaths == []


def test_a_spare_segment_is_made_on_a_thread_of_its_own() -> None:
    async def scenario() -> None:
        async with body() as made:
            made.store.spare_wanted = True
            await made.tick()
            await until(lambda: made.store.calls[-1].startswith("prepare_spare on spare"))

    run(scenario())


def test_quiet_waits_for_answers_that_wait_for_a_sync() -> None:
    async def scenario() -> None:
        async with body() as made:
            made.store.ticket.may_run.clear()
            made.store.sync_wanted = True
            made.heart.begin()
            quiet = asyncio.ensure_future(made.heart.quiet())
            await until(lambda: "start_sync" in made.store.calls)
            assert not quiet.done()
            made.store.ticket.may_run.set()
            await quiet
            assert made.store.calls[-2:] == ["finish_sync", "commit"]

    run(scenario())


def test_whoever_gives_up_waiting_for_quiet_disturbs_nobody() -> None:
    async def scenario() -> None:
        async with body() as made:
            made.store.ticket.may_run.clear()
            made.store.sync_wanted = True
            made.heart.begin()
            impatient = asyncio.ensure_future(made.heart.quiet())
            await until(lambda: "start_sync" in made.store.calls)
            impatient.cancel()
            patient = asyncio.ensure_future(made.heart.quiet())
            made.store.ticket.may_run.set()
            await patient
            assert made.deaths == []

    run(scenario())


def test_a_pause_of_the_process_is_told_before_time_moves_and_once() -> None:
    async def scenario() -> None:
        hand = HandClock()
        async with body(hand.clock()) as made:
            await made.tick()
            hand.elapsed_us += 150 * SECOND_US
            await made.tick()
            await made.tick()
            assert made.store.calls == ["begin", "commit", "woken", "begin", "commit", "begin", "commit"]

    run(scenario())


def test_a_pause_is_noticed_by_the_heartbeat_where_nothing_else_happens() -> None:
    async def scenario() -> None:
        hand = HandClock()
        async with body(hand.clock()) as made:
            made.heart.start()
            await until(lambda: not made.heart.open)
            hand.elapsed_us += 150 * SECOND_US
            await until(lambda: made.store.calls[-3:] == ["woken", "begin", "commit"])

    run(scenario())


def test_a_tick_that_was_open_before_the_pause_does_not_hide_it() -> None:
    async def scenario() -> None:
        hand = HandClock()
        async with body(hand.clock()) as made:
            made.heart.begin()
            hand.elapsed_us += 150 * SECOND_US
            made.heart.start()
            await until(lambda: made.store.calls[:3] == ["begin", "woken", "commit"])

    run(scenario())


def test_what_comes_late_in_a_tick_comes_at_its_own_time() -> None:
    async def scenario() -> None:
        hand = HandClock()
        async with body(hand.clock()) as made:
            for wait_us in (0, 999, 1, 0, 400 * MILLISECOND_US):
                hand.elapsed_us += wait_us
                assert made.heart.begin()
            assert made.store.begun_us == [hand.wall_us]
            assert [at_us - hand.wall_us for at_us in made.store.moved_us] == [1_000, 401_000]
            assert made.heart.now_us == hand.wall_us + 401_000
            await until(lambda: not made.heart.open)
            assert made.store.calls == ["begin", "commit"]

    run(scenario())


def test_a_store_that_dies_as_time_moves_is_asked_nothing_more() -> None:
    async def scenario() -> None:
        hand = HandClock()
        async with body(hand.clock()) as made:
            made.store.dies_at = "move"
            assert made.heart.begin()
            hand.elapsed_us += SECOND_US
            assert not made.heart.begin()
            assert len(made.deaths) == 1

    run(scenario())


def test_beats_tell_the_time() -> None:
    async def scenario() -> None:
        hand = HandClock()
        async with body(hand.clock()) as made:
            told: list[int] = []
            made.heart.on_beat(told.append)
            made.heart.start()
            assert told == [hand.wall_us]

    run(scenario())


def test_a_beat_that_fails_is_the_end() -> None:
    def fail(now_us: int) -> None:
        raise OSError(5, "the disk is gone")

    async def scenario() -> None:
        async with body() as made:
            made.heart.on_beat(fail)
            made.heart.start()
            assert made.heart.dead
            assert [str(death) for death in made.deaths] == ["[Errno 5] the disk is gone"]

    run(scenario())


def dying_at(call: str) -> None:
    async def scenario() -> None:
        async with body() as made:
            made.store.dies_at = call
            made.store.sync_wanted = True
            made.heart.begin()
            if not made.heart.dead:
                made.heart.wake(made.guest)
            await until(lambda: made.heart.dead)
            said = made.store.calls.index(call)
            assert "flush" not in made.store.calls[said:]
            assert not made.heart.begin()
            assert [str(death) for death in made.deaths] == ["[Errno 5] the disk is gone"]
            await made.heart.quiet()

    run(scenario())


def test_after_a_failed_beginning_nothing_is_said() -> None:
    dying_at("begin")


def test_after_a_failed_commit_nothing_is_said() -> None:
    dying_at("commit")


def test_after_a_sync_that_could_not_start_nothing_more_is_said() -> None:
    dying_at("start_sync")


def test_after_a_failed_sync_nothing_is_said() -> None:
    dying_at("finish_sync")


def test_a_heart_does_not_look_after_a_tick_that_waited_for_the_disk() -> None:
    async def scenario() -> None:
        hand = HandClock()
        store = FakeStore()
        heart = Heart(asyncio.get_running_loop(), store, hand.clock(), SYNC_INTERVAL_US, print, spin_us=100)
        for waited in (True, False):
            store.has_waited = waited
            heart.begin()
            hand.elapsed_us += 20
            await until(lambda: not heart.open)
            assert heart.looking is not waited
        heart.close(wait=True)

    run(scenario())


def test_a_heart_that_looks_for_the_next_tick_sleeps_in_the_end() -> None:
    async def scenario() -> None:
        hand = HandClock()
        clock = hand.clock()
        store = FakeStore()
        heart = Heart(asyncio.get_running_loop(), store, clock, SYNC_INTERVAL_US, print, spin_us=100)
        heart.begin()
        hand.elapsed_us += 20
        await until(lambda: not heart.open)
        for _ in range(5):
            await asyncio.sleep(0)
            assert heart.looking
        heart.begin()
        await until(lambda: not heart.open)
        assert heart.looking
        hand.elapsed_us += 100
        await until(lambda: not heart.looking)
        heart.close(wait=True)

    run(scenario())


def test_a_tick_waits_for_the_pieces_of_one_guest_and_commits_them_at_once() -> None:
    async def scenario() -> None:
        hand = HandClock()
        store = FakeStore()
        heart = Heart(asyncio.get_running_loop(), store, hand.clock(), SYNC_INTERVAL_US, print, spin_us=100)
        heard = 0
        for _ in range(4):
            heart.begin()
            heard = heart.heard(heard)
            hand.elapsed_us += 14
            for _ in range(5):
                await asyncio.sleep(0)
            assert heart.open
        hand.elapsed_us += 20
        await until(lambda: not heart.open)
        assert store.calls == ["begin", "commit"]
        heart.close(wait=True)

    run(scenario())


def test_a_tick_that_others_add_to_waits_for_nothing() -> None:
    async def scenario() -> None:
        hand = HandClock()
        store = FakeStore()
        heart = Heart(asyncio.get_running_loop(), store, hand.clock(), SYNC_INTERVAL_US, print, spin_us=100)
        heart.begin()
        heart.heard(0)
        hand.elapsed_us += 14
        await asyncio.sleep(0)
        heart.begin()
        heart.heard(0)
        hand.elapsed_us += 1
        await until(lambda: not heart.open)
        for _ in range(2):  # and the next do not even look
            heart.begin()
            await until(lambda: not heart.open)
        heart.close(wait=True)

    run(scenario())
