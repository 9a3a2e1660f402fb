"""A run makes of an archive what a patient reader would make of it, however it was cut into segments and batches."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline.archive import BadArchive
from penstock.pipeline.lake import LakeInUse
from penstock.pipeline.quality import LawsBroken
from tests.pipeline import oracle
from tests.pipeline.histories import SECOND, Fact, History, cut, random_history, write_archive, write_segment
from tests.pipeline.house import House


@pytest.fixture
def house(spark: SparkSession, tmp_path: Path) -> House:
    return House(spark, tmp_path)


@pytest.fixture(scope="module")
def story() -> list[Fact]:
    return random_history(3, 700).facts


@pytest.fixture(scope="module")
def batched(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, story: list[Fact]) -> House:
    """A story in four batches: the first by itself, the others because a batch takes no more."""
    made = House(spark, tmp_path_factory.mktemp("batched"))
    first, *others = cut(story, 1, 250, 250)
    write_segment(made.archive, 1, first)
    assert [done.facts for done in made.run()] == [1]
    write_archive(made.archive, others, 2)
    assert [done.facts for done in made.run(batch_facts=300)] == [250, 250, len(story) - 501]
    return made


def test_all_tables_are_what_the_oracle_says(house: House) -> None:
    history = random_history(1, 900).facts
    write_archive(house.archive, cut(history, 300))
    assert [done.facts for done in house.run()] == [len(history)]
    house.agrees_with(history)


def test_batch_after_batch_the_tables_are_the_same(batched: House, story: list[Fact]) -> None:
    assert batched.lake.manifest().batch == 4
    batched.agrees_with(story)


def test_what_was_taken_in_is_not_taken_in_again(batched: House) -> None:
    before = batched.lake.manifest()
    assert batched.run() == []
    assert batched.lake.manifest() == before


def test_compaction_changes_no_table_and_lets_the_archive_go(house: House) -> None:
    history = random_history(7, 400).facts
    write_archive(house.archive, cut(history, 120, 120, 120))
    house.run(batch_facts=150, compact=True)
    manifest = house.lake.manifest()
    assert max(len(parts) for parts in manifest.parts.values()) <= 2  # one for each of two days
    first_day = min(file.parent.name for file in house.archive.glob("*/*.parquet"))
    for file in (house.archive / first_day).iterdir():
        file.unlink()
    house.agrees_with(history)
    assert len(house.rows("SELECT seq FROM bronze.facts")) == len(history)


def test_a_segment_that_comes_late_after_a_compaction_changes_what_it_must(house: House) -> None:
    history = random_history(8, 400).facts
    segments = cut(history, 200, 100)
    write_segment(house.archive, 1, segments[0])
    write_segment(house.archive, 3, segments[2])
    house.run(compact=True)
    gap = (segments[1][0]["seq"], segments[1][-1]["seq"])
    assert house.lake.manifest().missing() == [gap]
    write_segment(house.archive, 2, segments[1])
    house.run()
    assert house.lake.manifest().missing() == []
    house.agrees_with(history)


def test_bodies_of_any_kind_come_through(house: House) -> None:
    history = History()
    queue = history.declare("bodies")
    bodies = [b"", b"\x00\xff" * 8, random.Random(1).randbytes(1 << 20), "übung".encode()]
    for body in bodies:
        history.finish(history.publish(queue, body))
    write_archive(house.archive, [history.facts])
    house.run()
    found = house.rows("SELECT body, size FROM bronze.facts WHERE fact = 'published' ORDER BY seq")
    assert [bytes(row["body"]) for row in found] == bodies
    assert [row["size"] for row in found] == [len(body) for body in bodies]
    house.agrees_with(history.facts)


def test_a_fact_that_breaks_a_law_is_put_aside_with_the_law(house: House) -> None:
    history = random_history(9, 60).facts
    bad = next(number for number, fact in enumerate(history) if fact["fact"] == "published")
    history[bad] |= {"due_at_us": None}
    write_archive(house.archive, [history])
    assert [done.quarantined for done in house.run()] == [1]
    found = house.rows("SELECT seq, broken, _segment FROM bronze.quarantine")
    assert found == [{"seq": bad + 1, "broken": "what waits has a due time", "_segment": 1}]
    assert len(house.rows("SELECT * FROM bronze.facts")) == len(history) - 1


def broken_by(house: House, history: list[Fact]) -> list[str]:
    write_archive(house.archive, [history])
    with pytest.raises(LawsBroken) as found:
        house.run()
    assert house.lake.manifest().batch == 0
    return [law.partition(":")[0] for law in found.value.broken]


def test_a_hole_in_a_segment_stops_the_run(house: House) -> None:
    history = random_history(10, 60).facts
    history[30] |= {"seq": 30}
    assert broken_by(house, history) == ["fact numbers are dense"]


def test_a_second_end_stops_the_run(house: House) -> None:
    history = History()
    queue = history.declare("q")
    message = history.publish(queue)
    history.expire(message)
    history.live[message.seq] = message
    history.pass_(SECOND)
    history.delete(message)
    laws = broken_by(house, history.facts)
    assert "at most one end per life" in laws
    assert "published = finished + dropped + expired + deleted + open" in laws


def test_a_life_without_a_beginning_stops_the_run(house: House) -> None:
    history = History()
    queue = history.declare("q")
    message = history.publish(queue)
    history.facts.pop()
    history.take(message)
    assert "every life begins with a publish" in broken_by(house, history.facts)


def test_an_end_before_its_beginning_stops_the_run(house: House) -> None:
    history = History()
    queue = history.declare("q")
    message = history.publish(queue)
    history.lease(message)
    history.pass_(-SECOND)
    history.finish(message)
    assert broken_by(house, history.facts) == ["published ≤ ready ≤ assigned ≤ ended"]


def test_a_segment_of_another_store_is_refused(house: House) -> None:
    history = random_history(11, 60).facts
    one, two = cut(history, 30)
    write_segment(house.archive, 1, one)
    house.run()
    write_segment(house.archive, 2, two, store="ff" * 16)
    with pytest.raises(BadArchive, match="more than one store"):
        house.run()


def test_two_runs_at_once_are_one_too_many(house: House) -> None:
    with house.lake.held(), pytest.raises(LakeInUse):
        house.run()


def counters(house: House, history: list[Fact], at_us: int) -> list[dict[str, object]]:
    names = ("published", "delivered", "failed", "finished", "dropped", "expired", "deleted", "body_bytes")
    places = ("delayed", "ready", "parked", "leased")
    return [
        {"name": queue, "counts": {name: held[name] for name in (*names, *places)}}
        for queue, held in oracle.places(history, at_us).items()
    ]


def test_totals_are_compared_with_the_servers_counters(house: House) -> None:
    history = random_history(12, 300).facts
    write_archive(house.archive, [history])
    said = counters(house, history, history[-1]["at_us"])
    house.run(counters=said)
    said[0]["counts"]["finished"] += 1  # type: ignore[index]
    with pytest.raises(LawsBroken, match="the totals equal the server's counters: of orders, finished"):
        house.run(counters=said)


def test_the_past_is_as_it_was(batched: House, story: list[Fact]) -> None:
    for at_us in (story[100]["at_us"], story[450]["at_us"] + 1, story[-1]["at_us"]):
        expected = oracle.places(story, at_us)
        found = {row["queue"]: row for row in batched.rows("SELECT * FROM asof.queues", at_us)}
        assert set(found) == set(expected)
        for queue, held in expected.items():
            assert {name: found[queue][name] for name in held} == dict(held)


def test_a_queue_that_is_removed_is_not_there_any_more_and_its_messages_are_deleted(house: House) -> None:
    history = History()
    queue = history.declare("gone")
    history.publish(queue)
    history.pass_(SECOND)
    before_us = history.now_us
    history.pass_(SECOND)
    history.remove(queue)
    again = history.declare("gone")
    write_archive(house.archive, [history.facts])
    house.run()
    assert [row["ready"] for row in house.rows("SELECT * FROM asof.queues", before_us)] == [1]
    assert [row["queue_id"] for row in house.rows("SELECT * FROM asof.queues")] == [again]
    assert [row["removed_at_us"] for row in house.rows("SELECT * FROM silver.queues ORDER BY queue_id")] == [
        history.now_us,
        None,
    ]


def test_every_row_says_where_it_came_from(batched: House) -> None:
    runs = [done.id for done in batched.lake.manifest().runs]
    assert len(set(runs)) == 2
    found = batched.rows("SELECT DISTINCT _segment, _batch, _run FROM bronze.facts ORDER BY _segment")
    assert [tuple(row.values()) for row in found] == [(number, number, runs[number - 1]) for number in (1, 2, 3, 4)]
    for table in ("silver.lives", "silver.attempts"):
        wrote = batched.rows(f"SELECT DISTINCT _batch, _run FROM {table} ORDER BY _batch")
        assert [tuple(row.values()) for row in wrote] == [(number, runs[number - 1]) for number in (2, 3, 4)]


def test_what_no_manifest_names_goes_after_a_while(batched: House, story: list[Fact]) -> None:
    manifest = batched.lake.manifest()
    assert batched.lake.sweep(manifest) == 0
    assert batched.lake.sweep(manifest, unread_s=-1) > 0
    assert batched.lake.sweep(manifest, unread_s=-1) == 0
    lives = batched.rows("SELECT count(*) AS lives FROM silver.lives")
    assert lives == [{"lives": len(oracle.lives(story))}]
