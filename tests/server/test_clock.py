"""Engine time goes on evenly whatever the wall clock does; a pause of the process is noticed once."""

from __future__ import annotations

import time

from penstock.model.limits import PAUSE_NOTICED_US, SECOND_US
from penstock.server.clock import HEARTBEAT_US, Clock, PauseWatch
from tests.server.fakes import HandClock

DAY_US = 86_400 * SECOND_US


def test_it_begins_at_the_wall_clock() -> None:
    hand = HandClock()
    assert hand.clock().now_us() == hand.wall_us


def test_it_goes_on_with_elapsed_time() -> None:
    hand = HandClock()
    clock = hand.clock()
    hand.elapsed_us += 1_234
    assert clock.now_us() == hand.wall_us + 1_234


def test_steps_of_the_wall_clock_are_ignored() -> None:
    hand = HandClock()
    clock = hand.clock()
    before = clock.now_us()
    for step_us in (10 * DAY_US, -20 * DAY_US):
        hand.wall_us += step_us
        assert clock.now_us() == before


def test_it_goes_on_from_the_last_fact_where_the_wall_clock_is_behind() -> None:
    hand = HandClock()
    clock = hand.clock()
    hand.elapsed_us += 5
    clock.not_before(hand.wall_us + DAY_US)
    assert clock.now_us() == hand.wall_us + DAY_US
    hand.elapsed_us += 7
    assert clock.now_us() == hand.wall_us + DAY_US + 7


def test_a_last_fact_in_the_past_changes_nothing() -> None:
    hand = HandClock()
    clock = hand.clock()
    clock.not_before(hand.wall_us - DAY_US)
    assert clock.now_us() == hand.wall_us


def test_the_real_sources_are_microseconds_that_move() -> None:
    clock = Clock()
    first = clock.elapsed_us()
    time.sleep(0.002)
    assert 1_000 < clock.elapsed_us() - first < 5 * SECOND_US
    assert abs(int(clock.wall_us()) - time.time_ns() // 1_000) < SECOND_US
    assert abs(int(clock.now_us()) - int(clock.wall_us())) < SECOND_US


def test_a_late_beat_is_no_pause_yet() -> None:
    watch = PauseWatch(0)
    assert not watch.noticed(PAUSE_NOTICED_US)


def test_a_pause_is_noticed_once() -> None:
    watch = PauseWatch(0)
    assert watch.noticed(PAUSE_NOTICED_US + 1)
    assert not watch.noticed(PAUSE_NOTICED_US + 2)


def test_a_pause_is_noticed_wherever_between_two_beats_it_began() -> None:
    for began in range(0, HEARTBEAT_US, HEARTBEAT_US // 10):
        watch = PauseWatch(0)
        assert watch.noticed(began + PAUSE_NOTICED_US + 1)


def test_regular_beats_are_no_pause() -> None:
    watch = PauseWatch(0)
    for beat in range(1, 100):
        assert not watch.noticed(beat * HEARTBEAT_US)
        watch.beat(beat * HEARTBEAT_US)
