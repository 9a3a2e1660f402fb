"""The numbers of a report, from an archive to the page: the same as plain Python counts them from the facts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from penstock.model import facts as kinds
from penstock.pipeline.jobs import report as job
from penstock.pipeline.jobs.report import SLOTS_MOST, TABLES, Asked, NothingThere, span_of
from penstock.pipeline.jobs.report_lists import SLOWEST_EACH, failing
from penstock.pipeline.jobs.tables import open_tables
from penstock.pipeline.report.numbers import Failing, Report
from penstock.pipeline.report.page import page
from penstock.pipeline.schema import MINUTE_US
from tests.pipeline.histories import BEGIN_US, SECOND, Fact, History, write_archive
from tests.pipeline.house import House

KINDS = {
    "published": kinds.PUBLISHED,
    "finished": kinds.FINISHED,
    "retried": kinds.RELEASED,
    "dropped": kinds.DROPPED,
    "expired": kinds.EXPIRED,
    "deleted": kinds.DELETED,
}


class Told:
    def __init__(self, house: House, history: History) -> None:
        self.house = house
        self.history = history
        self.manifest = house.lake.manifest()
        self.whole = self.report()

    def report(self, **asked: Any) -> Report:
        open_tables(self.house.spark, self.house.archive, self.house.lake, self.manifest, names=TABLES)
        return job.report(self.house.spark, self.manifest, Asked(**asked), BEGIN_US)


@pytest.fixture(scope="module")
def told(told_house: House, told_history: History) -> Told:
    return Told(told_house, told_history)


def counted(rows: list[Fact], queue: str | None = None) -> dict[str, int]:
    codes = Counter(row["fact_code"] for row in rows if queue in (None, row["queue"]))
    return {name: codes[int(code)] for name, code in KINDS.items()}


def test_all_that_happened_is_counted_in_all_and_by_queue(told: Told) -> None:
    made = told.whole
    rows = told.history.facts
    assert {name: made.whole.total(name) for name in KINDS} == counted(rows)
    for group in made.groups[1:]:
        assert {name: group.total(name) for name in KINDS} == counted(rows, group.name)
    assert sorted(group.name for group in made.groups[1:]) == ["mails", "orders", "orders.dead"]
    assert made.published_bytes == sum(row["size"] for row in rows if row["fact_code"] == kinds.PUBLISHED)
    assert made.whole.backlog[-1] == len(told.history.live)
    assert (made.queues, made.store, made.last_fact_us) == (3, told.manifest.store, rows[-1]["at_us"])


def test_what_is_told_of_some_queues_and_a_part_of_the_time_is_no_more_than_that(told: Told) -> None:
    begin_us = BEGIN_US + 10 * MINUTE_US
    made = told.report(queues=["orders"], from_us=begin_us, to_us=begin_us + 20 * MINUTE_US)
    rows = [row for row in told.history.facts if begin_us <= row["at_us"] < begin_us + 20 * MINUTE_US]
    assert (made.span.from_us, made.span.slots, made.span.width_us) == (begin_us, 20, MINUTE_US)
    assert {name: made.whole.total(name) for name in KINDS} == counted(rows, "orders")
    before = counted([row for row in told.history.facts if row["at_us"] < begin_us], "orders")
    after = counted(rows, "orders")
    live = sum(
        one["published"] - sum(one[end] for end in ("finished", "dropped", "expired", "deleted"))
        for one in (before, after)
    )
    assert made.whole.backlog[-1] == live
    assert {row.queue for row in made.slowest} <= {"orders"}


def test_percentiles_of_the_whole_time_are_those_of_all_deliveries(told: Told) -> None:
    made = told.whole
    waits = sorted(
        row["wait_us"] for row in told.house.rows("SELECT wait_us FROM silver.attempts WHERE wait_us IS NOT NULL")
    )
    assert made.whole.wait_all is not None
    for percent, found in zip((50, 95, 99), made.whole.wait_all, strict=True):
        exact = waits[-(-percent * len(waits) // 100) - 1]
        assert found == pytest.approx(exact, rel=0.03, abs=1)
    measured = [slot for slot in made.whole.wait if slot is not None]
    assert measured
    assert all(low <= middle <= high for low, middle, high in measured)


def test_the_slowest_come_first_with_their_deliveries(told: Told) -> None:
    slowest = told.whole.slowest
    lives = [row.life_us for row in slowest]
    assert lives == sorted(lives, reverse=True)
    assert max(Counter(row.queue for row in slowest).values()) <= SLOWEST_EACH
    for row in slowest:
        handed = [fact for fact in told.history.facts if fact["message_seq"] == row.message and delivers(fact)]
        assert [attempt.leased_us for attempt in row.attempts] == [fact["at_us"] for fact in handed]


def delivers(fact: Fact) -> bool:
    return bool(fact["fact_code"] == kinds.LEASED or fact["reason_code"] == kinds.TAKEN)


def test_retries_and_drops_add_up_by_queue_and_by_dialect(told: Told) -> None:
    made = told.whole
    assert sum(row.dropped for row in made.by_queue) == made.whole.total("dropped")
    assert sum(row.retries for row in made.by_dialect) == made.whole.total("retried")
    assert sum(row.messages for row in made.by_dialect) == made.whole.total("published")


def test_queues_beyond_the_busiest_are_told_as_one(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "GROUPS_MOST", 1)
    made = told.report()
    assert [group.name for group in made.groups][::2] == ["all queues", "2 other queues"]
    assert made.groups[1].total("published") + made.groups[2].total("published") == made.whole.total("published")


def test_it_becomes_a_page(told: Told) -> None:
    assert "<title>penstock: all queues, 2026-01-01 23:45" in page(told.whole)


def test_a_queue_that_never_was_is_told(told: Told) -> None:
    with pytest.raises(NothingThere, match="nowhere"):
        told.report(queues=["orders", "nowhere"])


def test_a_lake_without_messages_has_nothing_to_tell(spark: SparkSession, tmp_path: Path) -> None:
    house = House(spark, tmp_path)
    write_archive(house.archive, [History().facts])
    house.run()
    open_tables(spark, house.archive, house.lake, house.lake.manifest(), names=TABLES)
    with pytest.raises(NothingThere):
        job.report(spark, house.lake.manifest(), Asked(), BEGIN_US)


@given(st.integers(0, 10**15), st.integers(1, 20_000 * 86_400 * SECOND))
def test_slots_are_few_begin_at_round_times_and_leave_nothing_out(from_us: int, length_us: int) -> None:
    span = span_of(from_us, from_us + length_us)
    assert span.slots <= SLOTS_MOST + 1
    assert span.from_us <= from_us
    assert span.to_us >= from_us + length_us
    assert span.from_us % span.width_us == 0
    assert span.width_us % MINUTE_US == 0


def test_what_failed_is_added_up_by_queue_or_dialect_the_worst_first() -> None:
    rows = [
        {"queue": "a", "dialect": "etzel", "messages": 10, "retries": 1, "dropped": 0},
        {"queue": "a", "dialect": "glovebox", "messages": 5, "retries": 2, "dropped": 1},
        {"queue": None, "dialect": "etzel", "messages": 1, "retries": 9, "dropped": 0},
    ]
    assert failing(rows, "queue") == [Failing("", 1, 9, 0), Failing("a", 15, 3, 1)]
    assert failing(rows, "dialect") == [Failing("etzel", 11, 10, 0), Failing("glovebox", 5, 2, 1)]
