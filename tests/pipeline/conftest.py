"""One Spark session for all tests of the pipeline: starting one takes longer than most of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline.session import open_session
from tests.pipeline.histories import Fact, History, cut, random_history, write_archive
from tests.pipeline.house import House
from tests.pipeline.sparing import SPARING

PATIENCE_S = 300  # a machine may be busy, and Spark takes its time to begin
# Two processes take a file each in turn: those that take longest go first, or one waits for the other in the end.
LONGEST = ("run", "cluster", "replay", "kill", "live", "report", "retention", "torture")
FIRST = {f"test_{name}.py": place - len(LONGEST) for place, name in enumerate(LONGEST)}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: FIRST.get(item.path.name, 0) if item.path.parent == Path(__file__).parent else 0)
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.timeout(PATIENCE_S))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = open_session("local[2,4]", "1g", SPARING)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def told_history() -> History:
    return random_history(21, 1_500)


@pytest.fixture(scope="session")
def told_story(told_history: History) -> list[Fact]:
    return told_history.facts


@pytest.fixture(scope="session")
def told_house(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, told_story: list[Fact]) -> House:
    """Its tables, made in one batch: to be asked, not to be changed."""
    made = House(spark, tmp_path_factory.mktemp("told"))
    write_archive(made.archive, cut(told_story, 900))
    assert [done.facts for done in made.run()] == [len(told_story)]
    return made
