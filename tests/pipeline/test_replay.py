"""What a replay is about: lives that a condition chooses, with their bodies, kept in the order of their numbers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from harness.server import Server, serving
from penstock.cli.main import main
from penstock.pipeline.jobs.replay import BadCondition, Choice
from penstock.pipeline.plan import Bodiless, Chosen, Plan
from penstock.sync import Client
from tests.pipeline.histories import History, cut, write_archive
from tests.pipeline.house import House
from tests.pipeline.sparing import SPARING, options

BINARY = bytes(range(256))
PATIENCE_S = 200.0


def a_history() -> History:
    """Three that were dropped, one that was finished, and one without a body in the archive."""
    history = History()
    orders, mails, dead = (history.declare(name) for name in ("orders", "mails", "orders.dead"))
    for body in (b"first", b"", BINARY):
        message = history.publish(orders, body, key=b"\xff", priority=len(body) % 7)
        history.lease(message)
        history.drop(message, dead)
    history.lease(done := history.publish(orders, b"done"))
    history.finish(done)
    lacking = history.publish(mails, b"secret")
    history.facts[-1]["body"] = None
    history.lease(lacking)
    history.drop(lacking, dead)
    return history


@pytest.fixture(scope="module")
def house(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> House:
    house = House(spark, tmp_path_factory.mktemp("replay"))
    facts = a_history().facts
    write_archive(house.archive, cut(facts, 6))
    house.run()
    return house


def choice(house: House, where: str) -> Choice:
    found = Choice(house.spark, house.archive, house.lake, where)
    found.open()
    return found


def test_a_condition_chooses_lives_and_their_bodies_come_along(house: House) -> None:
    found = choice(house, "queue = 'orders' and outcome = 'dropped'")
    assert found.count() == Chosen(3, 5 + 256, [])
    assert [(row.body, row.key, row.priority) for row in found.first(5)] == [
        (b"first", b"\xff", 5),
        (b"", b"\xff", 0),
        (BINARY, b"\xff", 256 % 7),
    ]
    assert [row.body for row in found.first(2)] == [b"first", b""]


def test_a_condition_may_speak_of_body_and_key(house: House) -> None:
    assert choice(house, "body = 'done'").count() == Chosen(1, 4, [])
    assert choice(house, "key = X'FF' and length(body) = 256").count() == Chosen(1, 256, [])


def test_what_has_no_body_in_the_archive_is_counted_by_queue(house: House) -> None:
    found = choice(house, "outcome = 'dropped' and queue in ('orders', 'mails')")
    assert found.count() == Chosen(3, 5 + 256, [Bodiless("mails", 1, before=False)])
    assert len(found.first(9)) == 3


def test_what_was_published_before_the_archive_begins_is_told_apart(spark: SparkSession, tmp_path: Path) -> None:
    house = House(spark, tmp_path)
    history = History()
    queue = history.declare("orders")
    message = history.publish(queue, b"early")
    begun = len(history.facts)
    history.lease(message)
    history.drop(message)
    write_archive(house.archive, [history.facts[begun:]])
    house.run()
    found = choice(house, "outcome = 'dropped'").count()
    assert (found.messages, [(one.messages, one.before) for one in found.bodiless]) == (0, [(1, True)])


@pytest.mark.parametrize("where", ["no_such_column = 1", "queue =", "select 1", "queue"])
def test_what_is_no_condition_is_refused(house: House, where: str) -> None:
    with pytest.raises(BadCondition):
        choice(house, where)


def test_what_was_chosen_is_kept_in_the_order_of_numbers_whatever_comes_later(house: House) -> None:
    found = choice(house, "outcome = 'dropped'")
    plan = Plan(house.lake, "kept")
    found.keep(plan, "kept", "orders", found.count())
    numbers = [row.message_seq for row in plan.rows()]
    assert len(numbers) == 3
    assert numbers == sorted(numbers)
    assert plan.first(3) == found.first(3)
    said = plan.said()
    assert said is not None
    assert (said.where, said.to, said.chosen.lacking()) == ("outcome = 'dropped'", "orders", 1)
    assert [path.name for path in plan.path.parent.iterdir()] == ["kept.parquet"]


# -- killed while it is planned


def command(house: House, server: Server, *more: str) -> list[str]:
    said = ["--where", "outcome = 'dropped'", "--to", "again", "--id", "killed", "--yes", "--output", "json"]
    url = f"ws://127.0.0.1:{server.ports['glovebox']}"
    return ["pipeline", "replay", *said, "--data", str(house.archive.parent), "--url", url, *more]


def kill_while_it_plans(house: House, server: Server) -> None:
    """Spark is at work on the plan, and nothing of it counts yet."""
    words = [sys.executable, "-m", "penstock.cli.main", *command(house, server, *options(SPARING))]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    deadline = time.monotonic() + PATIENCE_S
    with subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL) as planning:
        while not any(house.lake.root.glob("replays/killed.*")):
            assert planning.poll() is None, "it came to its end"
            assert time.monotonic() < deadline, "waited in vain"
            time.sleep(0.01)
        planning.kill()
    assert planning.returncode == -signal.SIGKILL


def test_killed_while_it_plans_it_publishes_nothing_and_each_message_once_when_it_is_repeated(
    house: House, tmp_path: Path
) -> None:
    with serving(tmp_path / "data", listen=("glovebox",)) as server:
        with Client(f"ws://127.0.0.1:{server.ports['glovebox']}") as client:
            client.create("again")
        kill_while_it_plans(house, server)
        assert Plan(house.lake, "killed").said() is None
        assert server.get("/api/v1/queues/again")["counts"]["published"] == 0
        told = [json.loads(CliRunner().invoke(main, command(house, server)).stdout) for _ in range(2)]
        assert [(one["published"], one["before"]) for one in told] == [(3, 0), (0, 3)]
        assert server.get("/api/v1/queues/again")["counts"]["published"] == 3
