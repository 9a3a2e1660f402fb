"""Deliveries, from facts alone: each fact says which one it belongs to."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertDataFrameEqual

from penstock.model import facts
from penstock.pipeline.attempts import CLOSED, ECHO, FRESH, LEASED, WAITING, attempts, still_waiting
from tests.pipeline.histories import BEGIN_US, SECOND, Fact, History
from tests.pipeline.tables import fact_table


@pytest.fixture
def history() -> History:
    made = History()
    made.declare("q")
    return made


def found(spark: SparkSession, history: History, columns: str) -> DataFrame:
    rows = attempts(fact_table(spark, history.facts), None)
    return rows.selectExpr("attempt", "state", *columns.split())


def expected(spark: SparkSession, columns: str, *rows: tuple[int | str | None, ...]) -> DataFrame:
    return spark.createDataFrame(list(rows), "attempt int, state string, " + columns)


def test_a_delivery_has_a_wait_and_an_end(spark: SparkSession, history: History) -> None:
    message = history.publish(1, delay_us=SECOND)
    history.pass_(5 * SECOND)
    history.lease(message, holder=7)
    history.pass_(SECOND)
    history.finish(message)
    assertDataFrameEqual(
        found(spark, history, "ready_at_us leased_at_us holder end_at_us"),
        expected(
            spark,
            "ready_at_us bigint, leased_at_us bigint, holder bigint, end_at_us bigint",
            (1, CLOSED, BEGIN_US + SECOND, BEGIN_US + 5 * SECOND, 7, BEGIN_US + 6 * SECOND),
        ),
    )


def test_a_release_ends_one_delivery_and_begins_the_next_wait(spark: SparkSession, history: History) -> None:
    message = history.publish(1)
    history.lease(message)
    history.pass_(SECOND)
    history.release(message, facts.FAILED, delay_us=3 * SECOND)
    assertDataFrameEqual(
        found(spark, history, "ready_at_us released_at_us released_reason facts failures"),
        expected(
            spark,
            "ready_at_us bigint, released_at_us bigint, released_reason tinyint, facts bigint, failures bigint",
            (1, CLOSED, BEGIN_US, BEGIN_US + SECOND, int(facts.FAILED), 3, 1),
            (2, WAITING, BEGIN_US + 4 * SECOND, None, None, 0, 0),
        ),
    )


def test_what_was_said_last_of_a_lease_or_a_wait_holds(spark: SparkSession, history: History) -> None:
    one, two = history.publish(1), history.publish(1)
    history.extend(one, 60 * SECOND)
    history.extend(one, 2 * SECOND)
    history.lease(two, 90 * SECOND)
    history.extend(two, 5 * SECOND)
    assertDataFrameEqual(
        found(spark, history, "ready_at_us until_us moved extensions"),
        expected(
            spark,
            "ready_at_us bigint, until_us bigint, moved bigint, extensions bigint",
            (1, WAITING, BEGIN_US + 2 * SECOND, None, 0, 2),
            (1, LEASED, BEGIN_US, BEGIN_US + 5 * SECOND, 1, 1),
        ),
    )


def test_what_comes_back_to_its_old_place_waits_since_it_came_back(spark: SparkSession, history: History) -> None:
    message = history.publish(1)
    history.pass_(9 * SECOND)
    history.lease(message)
    history.pass_(SECOND)
    history.release(message, facts.TIMED_OUT, delay_us=-10 * SECOND)
    rows = found(spark, history, "ready_at_us").where("attempt = 2").collect()
    assert [row.ready_at_us for row in rows] == [BEGIN_US + 10 * SECOND]


def test_an_imported_message_goes_on_counting(spark: SparkSession, history: History) -> None:
    message = history.publish(1, attempt=3)
    message.attempt = 3
    history.pass_(SECOND)
    history.lease(message)
    assertDataFrameEqual(
        found(spark, history, "ready_at_us leased_at_us"),
        expected(spark, "ready_at_us bigint, leased_at_us bigint", (4, LEASED, BEGIN_US, BEGIN_US + SECOND)),
    )


def test_an_end_while_waiting_leaves_an_echo_and_voids_the_wait(spark: SparkSession, history: History) -> None:
    never, once, lives = history.publish(1), history.publish(1), history.publish(1)
    history.lease(once)
    history.release(once)
    history.pass_(SECOND)
    history.expire(never)
    history.delete(once)
    rows = attempts(fact_table(spark, history.facts), None).cache()
    states = {(row.message_seq, row.attempt): row.state for row in rows.collect()}
    assert states == {
        (never.seq, 0): ECHO,
        (never.seq, 1): WAITING,
        (once.seq, 1): CLOSED,
        (once.seq, 2): WAITING,
        (lives.seq, 1): WAITING,
    }
    waits = still_waiting(rows.where(f"state = '{WAITING}'"), rows.where(f"state != '{WAITING}'"))
    void = {row.message_seq: row.void_at_us for row in waits.collect()}
    assert void == {never.seq: BEGIN_US + SECOND, once.seq: BEGIN_US + SECOND, lives.seq: None}


def some_life(history: History) -> list[Fact]:
    """Of a message of its own: eight facts."""
    begun = len(history.facts)
    message = history.publish(1)
    history.lease(message)
    history.extend(message, SECOND)
    history.release(message)
    history.extend(message, 9 * SECOND)
    history.lease(message)
    history.extend(message, SECOND)
    history.finish(message)
    return history.facts[begun:]


def test_cut_anywhere_into_two_batches_it_is_the_same_as_in_one(spark: SparkSession, history: History) -> None:
    lives = [(cut, some_life(history)) for cut in range(1, 8)]
    before = [fact for cut, facts in lives for fact in facts[:cut]]
    after = [fact for cut, facts in lives for fact in facts[cut:]]
    whole = attempts(fact_table(spark, before + after), None).drop(*FRESH)
    first = attempts(fact_table(spark, before), None)
    stays = first.where(f"state IN ('{LEASED}', '{WAITING}')")
    second = attempts(fact_table(spark, after), stays.drop("state"))
    both = first.where(f"state = '{CLOSED}'").unionByName(second).drop(*FRESH)
    assertDataFrameEqual(both, whole)
