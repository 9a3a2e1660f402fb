"""A run makes of an archive what a patient reader would make of it, however it was cut into segments and batches."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline.archive import BadArchive
from penstock.pipeline.lake import LakeInUse
from penstock.pipeline.quality import LawsBroken, Ledger
from tests.pipeline import oracle
from tests.pipeline.histories import SECOND, Fact, History, cut, random_history, write_archive, write_segment
from tests.pipeline.house import House, in_order


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


@pytest.fixture
def copied(batched: House, tmp_path: Path) -> House:
    """The same once more, to be changed."""
    shutil.copytree(batched.archive.parent, tmp_path, dirs_exist_ok=True)
    return House(batched.spark, tmp_path)


def test_in_one_batch_all_tables_are_what_the_oracle_says(told_house: House, told_story: list[Fact]) -> None:
    told_house.agrees_with(told_story)


def test_batch_after_batch_the_tables_are_the_same(batched: House, story: list[Fact]) -> None:
    assert batched.lake.manifest().batch == 4
    batched.agrees_with(story)


def test_what_was_taken_in_is_not_taken_in_again(batched: House) -> None:
    before = batched.lake.manifest()
    assert batched.run() == []
    assert batched.lake.manifest() == before


def test_compaction_changes_no_table_and_lets_the_archive_go(copied: House, story: list[Fact]) -> None:
    assert copied.run(compact=True) == []
    manifest = copied.lake.manifest()
    assert max(len(parts) for parts in manifest.parts.values()) <= 2  # one for each of two days
    first_day = min(file.parent.name for file in copied.archive.glob("*/*.parquet"))
    for file in (copied.archive / first_day).iterdir():
        file.unlink()
    copied.agrees_with(story)
    assert len(copied.rows("SELECT seq FROM bronze.facts")) == len(story)


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


BODIES = [b"", b"\x00\xff" * 8, random.Random(1).randbytes(1 << 20), "übung".encode()]


class Odd:
    """Bodies of any kind, a queue that is removed and made again, and a fact that breaks a law, in one history."""

    def __init__(self) -> None:
        history = History()
        queue = history.declare("bodies")
        for body in BODIES:
            history.finish(history.publish(queue, body))
        gone = history.declare("gone")
        history.publish(gone)
        history.pass_(SECOND)
        self.before_us = history.now_us
        history.pass_(SECOND)
        history.remove(gone)
        self.removed_us = history.now_us
        self.again = history.declare("gone")
        self.sound = [*history.facts]
        history.publish(queue)
        history.facts[-1] |= {"due_at_us": None}
        self.facts = history.facts


@pytest.fixture(scope="module")
def odd() -> Odd:
    return Odd()


@pytest.fixture(scope="module")
def odd_house(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, odd: Odd) -> House:
    made = House(spark, tmp_path_factory.mktemp("odd"))
    write_archive(made.archive, [odd.facts])
    assert [done.quarantined for done in made.run()] == [1]
    return made


def test_bodies_of_any_kind_come_through(odd_house: House) -> None:
    found = odd_house.rows(
        "SELECT body, size FROM bronze.facts WHERE fact = 'published' AND queue = 'bodies' ORDER BY seq"
    )
    assert [bytes(row["body"]) for row in found] == BODIES
    assert [row["size"] for row in found] == [len(body) for body in BODIES]


def test_a_fact_that_breaks_a_law_is_put_aside_with_the_law(odd_house: House, odd: Odd) -> None:
    found = odd_house.rows("SELECT seq, broken, _segment FROM bronze.quarantine")
    assert found == [{"seq": len(odd.facts), "broken": "what waits has a due time", "_segment": 1}]
    assert len(odd_house.rows("SELECT * FROM bronze.facts")) == len(odd.sound)
    lives = odd_house.rows("SELECT message_seq, outcome, size FROM silver.lives")
    assert in_order(lives) == in_order(oracle.lives(odd.sound), lives)


def test_a_queue_that_is_removed_is_not_there_any_more_and_its_messages_are_deleted(odd_house: House, odd: Odd) -> None:
    then = odd_house.rows("SELECT * FROM asof.queues WHERE queue = 'gone'", odd.before_us)
    assert [row["ready"] for row in then] == [1]
    now = odd_house.rows("SELECT * FROM asof.queues WHERE queue = 'gone'")
    assert [row["queue_id"] for row in now] == [odd.again]
    queues = odd_house.rows("SELECT * FROM silver.queues WHERE queue = 'gone' ORDER BY queue_id")
    assert [row["removed_at_us"] for row in queues] == [odd.removed_us, None]


def broken_by(house: House, history: list[Fact]) -> list[str]:
    write_archive(house.archive, [history])
    with pytest.raises(LawsBroken) as found:
        house.run()
    assert house.lake.manifest().batch == 0
    return found.value.broken


def test_a_hole_in_a_segment_stops_the_run(house: House) -> None:
    history = random_history(10, 60).facts
    history[30] |= {"seq": 30}
    (broken,) = broken_by(house, history)
    assert broken.startswith("fact numbers are dense: segment 1 ")


def ends_twice(history: History) -> None:
    message = history.publish(history.declare("twice"))
    history.expire(message)
    history.live[message.seq] = message
    history.pass_(SECOND)
    history.delete(message)


def never_begins(history: History) -> None:
    message = history.publish(history.declare("unborn"))
    history.facts.pop()
    history.take(message)


def ends_before_it_begins(history: History) -> None:
    message = history.publish(history.declare("backwards"))
    history.lease(message)
    history.pass_(-SECOND)
    history.finish(message)


def test_lives_that_cannot_be_stop_the_run_and_each_law_is_told(house: House) -> None:
    history = History()
    history.finish(history.publish(history.declare("sound")))
    for misfortune in (ends_twice, never_begins, ends_before_it_begins):
        misfortune(history)
    balance = "published = finished + dropped + expired + deleted + open"
    assert sorted(broken_by(house, history.facts)) == [
        "a delivery has one lease, one release and one end: 1 have more",
        "at most one end per life: 1 have more",
        "every life begins with a publish: 1 do not",
        f"{balance}: in twice, 1 are not 2 + 0",
        f"{balance}: in unborn, 0 are not 1 + 0",
        "published ≤ ready ≤ assigned ≤ ended: not so in 1 lives",
    ]


def test_a_segment_of_another_store_is_refused(copied: House) -> None:
    fact = History().facts[0] | {"seq": copied.lake.manifest().last_fact() + 1}
    write_segment(copied.archive, 5, [fact], store="ff" * 16)
    with pytest.raises(BadArchive, match="more than one store"):
        copied.run()


def test_two_runs_at_once_are_one_too_many(house: House) -> None:
    with house.lake.held(), pytest.raises(LakeInUse):
        house.run()


def counters(history: list[Fact], at_us: int) -> list[dict[str, object]]:
    names = ("published", "delivered", "failed", "finished", "dropped", "expired", "deleted", "body_bytes")
    places = ("delayed", "ready", "parked", "leased")
    return [
        {"name": queue, "counts": {name: held[name] for name in (*names, *places)}}
        for queue, held in oracle.places(history, at_us).items()
    ]


def test_totals_are_compared_with_the_servers_counters(copied: House, story: list[Fact]) -> None:
    said = counters(story, story[-1]["at_us"])
    copied.run(ledger=lambda taken: Ledger(0, said))
    said[0]["counts"]["finished"] += 1  # type: ignore[index]
    with pytest.raises(LawsBroken, match="the totals equal the server's counters: of orders, finished"):
        copied.run(ledger=lambda taken: Ledger(0, said))


def test_a_run_takes_in_what_the_server_has_counted_and_no_more_and_compares(house: House) -> None:
    history = random_history(12, 300).facts
    one, two, three = cut(history, 100, 100)
    write_archive(house.archive, [one, two, three])
    last = two[-1]["seq"]
    wrong = Ledger(last, counters(history, history[-1]["at_us"]))
    with pytest.raises(LawsBroken, match="the totals equal the server's counters"):
        house.run(ledger=lambda taken: wrong)
    assert house.lake.manifest().batch == 0
    right = Ledger(last, counters(history[:last], two[-1]["at_us"]))
    (done,) = house.run(ledger=lambda taken: right)
    assert (done.facts, done.compared) == (200, len(right.queues))


def test_the_past_is_as_it_was(batched: House, story: list[Fact]) -> None:
    for at_us in (story[100]["at_us"], story[450]["at_us"] + 1, story[-1]["at_us"]):
        expected = oracle.places(story, at_us)
        found = {row["queue"]: row for row in batched.rows("SELECT * FROM asof.queues", at_us)}
        assert set(found) == set(expected)
        for queue, held in expected.items():
            assert {name: found[queue][name] for name in held} == dict(held)


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
