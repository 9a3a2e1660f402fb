"""What only gold tells: what is stuck, percentiles over sums of histograms; and the questions in the documents work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.pipeline import oracle
from tests.pipeline.histories import SECOND, Fact, History, write_archive
from tests.pipeline.house import House

PAGE = Path(__file__).parents[2] / "docs" / "pipeline.md"
QUESTIONS = re.findall(r"^```sql\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
IDLE, BUSY = 77, 78
HOUR = 3_600 * SECOND


def stuck_history() -> tuple[History, int, int]:
    """Work takes a second as a rule; a lease is an hour old, a message has waited as long, a holder is of no use."""
    history = History()
    brisk, still = history.declare("brisk"), history.declare("still")
    for _ in range(20):
        message = history.publish(brisk)
        history.lease(message, holder=BUSY)
        history.pass_(SECOND)
        history.finish(message)
    held, waiting = history.publish(brisk), history.publish(still)
    history.lease(held, None, holder=BUSY)
    history.publish(still, delay_us=2 * HOUR)
    history.publish(still, parked=True)
    history.pass_(HOUR)
    for _ in range(3):
        message = history.publish(brisk)
        history.lease(message, holder=IDLE)
        history.release(message)
        history.finish(message)
    return history, held.seq, waiting.seq


def test_what_does_not_move_is_stuck_and_what_is_slow_by_nature_is_not(spark: SparkSession, tmp_path: Path) -> None:
    house = House(spark, tmp_path)
    history, held, waiting = stuck_history()
    write_archive(house.archive, [history.facts])
    house.run()
    found = {row["kind"]: row for row in house.rows("SELECT * FROM gold.stuck")}
    assert len(house.rows("SELECT * FROM gold.stuck")) == len(found) == 3
    lease, queue, holder = found["lease"], found["queue"], found["holder"]
    assert (lease["message_seq"], lease["queue"], lease["age_us"], lease["holder"]) == (held, "brisk", HOUR, BUSY)
    assert lease["usual_us"] == pytest.approx(SECOND, rel=0.03)
    assert (queue["message_seq"], queue["queue"], queue["age_us"]) == (waiting, "still", HOUR)
    assert (holder["holder"], holder["deliveries"]) == (IDLE, 3)


def test_histograms_add_up_to_the_percentiles_of_all(told_house: House, told_story: list[Fact]) -> None:
    works = [row["work_us"] for row in oracle.attempts(told_story) if row["work_us"] is not None]
    (found,) = told_house.rows("""
        SELECT histogram_percentile(map_from_entries(collect_list(struct(bucket, n))), 0.95) AS p95_us
        FROM (
            SELECT bucket, sum(n) AS n
            FROM gold.queue_minute LATERAL VIEW explode(work_histogram) AS bucket, n GROUP BY bucket
        )
    """)
    exact = sorted(works)[-(-95 * len(works) // 100) - 1]
    assert found["p95_us"] == pytest.approx(exact, rel=0.026)


def test_every_question_in_the_documents_has_an_answer(told_house: House) -> None:
    assert len(QUESTIONS) >= 5
    for question in QUESTIONS:
        told_house.rows(question)
