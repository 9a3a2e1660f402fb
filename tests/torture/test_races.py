"""The campaign of races notices what it is there for: a wake-up that is lost, one too many, a message that stays."""

from __future__ import annotations

import asyncio
import time

import pytest

from torture.races import PATIENCE_S, Lane, Races, Worker


class Wire(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written.append(bytes(data))


@pytest.fixture
def races() -> Races:
    return Races(0, 10, 1)


@pytest.fixture
def worker(races: Races) -> Worker:
    """Connected, as is the publisher of its lane."""
    lane = next(lane for lane in races.lanes if len(lane.workers) == 1)
    for talk in (lane.publisher, *lane.workers):
        talk.connection_made(Wire())
    return lane.workers[0]


def told(worker: Worker, *words: str) -> None:
    for word in words:
        worker.heard({"cmd": word, "uid": "u"})


def test_a_sleep_that_is_ended_is_in_order(races: Races, worker: Worker) -> None:
    told(worker, "oksub", "nomsg", "okslp", "awk", "msg", "okack", "nomsg", "okslp")
    assert not races.outcome.broken
    assert (races.outcome.races, races.outcome.wakes) == (1, 1)


@pytest.mark.parametrize(
    "words", [("awk",), ("okslp", "awk", "awk"), ("okslp", "okslp"), ("nok",), ("okslp", "awk", "ok")]
)
def test_what_is_out_of_order_is_broken(races: Races, worker: Worker, words: tuple[str, ...]) -> None:
    told(worker, *words)
    assert len(races.outcome.broken) == 1


def test_a_message_that_nobody_fetches_is_a_lost_wake_up(races: Races, worker: Worker) -> None:
    lane: Lane = worker.lane
    told(worker, "nomsg", "okslp")
    assert lane.busy()
    lane.watch(time.monotonic())
    assert not races.outcome.broken
    lane.watch(time.monotonic() + PATIENCE_S + 1)
    assert ["never fetched" in words for words in races.outcome.broken] == [True]
