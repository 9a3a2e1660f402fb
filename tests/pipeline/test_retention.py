"""Retention: what ended long ago goes, what lives keeps its whole past, and gold never changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline.archive import BadArchive
from tests.pipeline import oracle
from tests.pipeline.histories import SECOND, History, cut, write_archive, write_segment
from tests.pipeline.house import House

DAY = 86_400 * SECOND


def long_history() -> tuple[History, dict[str, int]]:
    """Three days: one message ends on the first, one lives on, one ends on the last."""
    history = History()
    queue = history.declare("q")
    brief, lasting, late = (history.publish(queue, b"x" * size) for size in (1, 2, 3))
    history.lease(brief)
    history.finish(brief)
    history.pass_(DAY)
    history.lease(late)
    history.pass_(DAY)
    history.finish(late)
    history.pass_(SECOND)
    history.publish(queue)
    return history, {"brief": brief.seq, "lasting": lasting.seq, "late": late.seq}


def test_what_ended_long_ago_is_forgotten_and_what_lives_is_not(spark: SparkSession, tmp_path: Path) -> None:
    house = House(spark, tmp_path)
    history, seqs = long_history()
    write_archive(house.archive, cut(history.facts, 7, 1))
    house.run(keep_days=1, batch_facts=1)
    assert house.lake.manifest().forgotten_before == "2026-01-02"
    lives = {row["message_seq"]: row["outcome"] for row in house.rows("SELECT * FROM silver.lives")}
    assert seqs["brief"] not in lives
    assert (lives[seqs["lasting"]], lives[seqs["late"]]) == ("open", "finished")
    kept = house.rows("SELECT DISTINCT message_seq FROM bronze.facts WHERE message_seq > 0")
    assert {row["message_seq"] for row in kept} == set(lives)
    (minute,) = house.rows("SELECT * FROM gold.queue_minute ORDER BY minute_us LIMIT 1")
    assert (minute["published"], minute["finished"]) == (3, 1)
    for at_us in (history.now_us, history.now_us - DAY):
        (found,) = house.rows("SELECT * FROM asof.queues", at_us)
        expected = oracle.places(history.facts, at_us)["q"]
        assert {name: found[name] for name in expected} == dict(expected)


def test_what_comes_late_after_something_was_forgotten_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    house = House(spark, tmp_path)
    one, two, three = cut(long_history()[0].facts, 7, 1)
    write_segment(house.archive, 1, one)
    write_segment(house.archive, 3, three)
    house.run(keep_days=1, batch_facts=1)
    write_segment(house.archive, 2, two)
    with pytest.raises(BadArchive, match="segment 2 comes late"):
        house.run()
