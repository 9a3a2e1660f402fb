"""`penstock pipeline run`, `sql` and `status`, as people type them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

from penstock.cli.main import main
from tests.cli.shapes import assert_documented
from tests.pipeline import oracle
from tests.pipeline.histories import Fact, cut, random_history, write_archive, write_segment

AT = "2026-01-01T23:50:00Z"


def penstock(data: Path, *words: str, stdin: str = "") -> Result:
    return CliRunner().invoke(main, ["pipeline", *words, "--data", str(data)], input=stdin)


def as_json(data: Path, *words: str) -> Any:
    result = penstock(data, *words, "--output", "json")
    assert result.exit_code == 0, result.output
    value = json.loads(result.stdout)
    assert_documented(f"pipeline {words[0]}", value)
    return value


@pytest.fixture(scope="module")
def history() -> list[Fact]:
    return random_history(51, 300).facts


@pytest.fixture(scope="module")
def data(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, history: list[Fact]) -> Path:
    """All is taken in but the last segment, which comes afterwards."""
    place = tmp_path_factory.mktemp("commands")
    *before, last = cut(history, 100, 100)
    write_archive(place / "archive", before)
    assert [batch["facts"] for batch in as_json(place, "run")["batches"]] == [200]
    write_segment(place / "archive", 3, last)
    return place


def test_what_is_there_already_is_said(data: Path, tmp_path: Path) -> None:
    assert penstock(tmp_path, "run").stdout == "Nothing new in the archive.\n"


def test_status_tells_how_far_the_tables_are_behind(data: Path, history: list[Fact]) -> None:
    found = as_json(data, "status")
    assert (found["facts"], found["behind_segments"], found["behind_facts"]) == (200, 1, len(history) - 200)
    shown = dict(line.split(maxsplit=1) for line in penstock(data, "status").stdout.splitlines())
    assert shown["tables"] == "200 facts in 1 batches"
    assert shown["behind"] == f"{len(history) - 200} facts in 1 segments"


def test_status_before_the_first_run_says_what_to_do(tmp_path: Path) -> None:
    assert "penstock pipeline run makes them" in penstock(tmp_path, "status").stdout


def test_rows_are_a_table_or_lines_of_json(data: Path) -> None:
    query = "select outcome, count(*) as lives from silver.lives group by outcome order by outcome"
    table = penstock(data, "sql", query).stdout.splitlines()
    assert table[0].split() == ["outcome", "lives"]
    lines = [json.loads(line) for line in penstock(data, "sql", query, "--output", "json").stdout.splitlines()]
    assert [list(line.values()) for line in lines] == [[line.split()[0], int(line.split()[1])] for line in table[1:]]
    assert len(penstock(data, "sql", query, "--output", "json", "--limit", "2").stdout.splitlines()) == 2


def test_a_table_may_be_meant_in_a_roundabout_way(data: Path) -> None:
    for query in ("select count(*) as n from identifier('gold' || '.cost')", "show tables in gold"):
        assert penstock(data, "sql", query, "--output", "json").exit_code == 0


def test_the_past_is_asked_with_a_moment(data: Path, history: list[Fact]) -> None:
    at_us = 1_767_311_400_000_000
    lines = penstock(data, "sql", "select * from asof.queues", "--at", AT, "--output", "json").stdout.splitlines()
    found = {row["queue"]: row for row in map(json.loads, lines)}
    for queue, held in oracle.places(history[:200], at_us).items():
        assert {name: found[queue][name] for name in held} == dict(held)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("sql", "selec 1"), 2, "the query is wrong"),
        (("sql", "select * from silver.wives"), 2, "the query is wrong"),
        (("sql", "select 1 / 0"), 1, "the query failed"),
        (("sql", "select 1", "--at", "yesterday"), 2, "is no time"),
        (("run", "--once", "--every", "1s"), 2, "exclude each other"),
        (("run", "--conf", "spark.memory"), 2, "has no value"),
        (("run", "--counters", "-"), 2, "is not what `penstock queue list --output json` prints"),
    ],
)
def test_what_is_wrong_is_said_in_words(data: Path, words: tuple[str, ...], code: int, said: str) -> None:
    result = penstock(data, *words, stdin="nonsense")
    assert (result.exit_code, said in result.stderr) == (code, True), result.output
    assert "Traceback" not in result.output


def test_there_is_nothing_to_ask_before_the_first_run(tmp_path: Path) -> None:
    result = penstock(tmp_path, "sql", "select 1")
    assert result.exit_code == 1
    assert "`penstock pipeline run` makes them" in result.stderr


def test_a_file_that_is_none_of_an_archive_is_named(tmp_path: Path) -> None:
    path = tmp_path / "archive" / "date=2026-01-01" / "00000000000000000001.parquet"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"rubbish")
    result = penstock(tmp_path, "status")
    assert result.exit_code == 1
    assert f"{path} is no file of an archive" in result.stderr
