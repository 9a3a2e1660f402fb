"""`penstock pipeline replay` before anything is sent: what it shows, asks and refuses. No Spark and no server here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from penstock.cli.main import main
from penstock.pipeline.lake import Lake
from penstock.pipeline.plan import Bodiless, Chosen, Plan, Row, Said
from tests.cli.shapes import assert_documented
from tests.pipeline.test_plan import a_part

WHERE = "outcome = 'dropped'"
ROWS = [
    Row(1 << 32, "orders", "dropped", 1_767_312_000_000_000, 0, b"\xff", b"one\x1b[31m"),
    Row(2 << 32, "a%00b", "dropped", 1_767_312_000_000_000, 3, None, b"x" * 300),
]
BODILESS = [Bodiless("mails", 7, before=False), Bodiless("old", 1, before=True)]


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """With a plan in it, so that nothing has to be asked of Spark."""
    lake = tmp_path / "lake"
    lake.mkdir()
    said = Said("again", WHERE, "orders", "0011223344556677", 1_767_312_000_000_000, Chosen(2, 308, BODILESS))
    Plan(Lake(lake), "again").keep(said, [a_part(tmp_path / "part.parquet", ROWS)])
    return lake


def replay(lake: Path, *flags: str, answer: str = "") -> Result:
    said = ["--where", WHERE, "--to", "orders", "--id", "again", "--lake", str(lake), "--data", str(lake.parent)]
    return CliRunner().invoke(main, ["pipeline", "replay", *said, *flags], input=answer)


def test_it_shows_count_bytes_a_sample_and_what_cannot_be_replayed(lake: Path) -> None:
    result = replay(lake, "--dry-run")
    assert result.exit_code == 1
    assert "replay again: 2 messages, 308 B to orders\n" in result.stdout
    assert "4294967296" in result.stdout
    assert "one\\x1b[31m" in result.stdout
    assert "base64:/w==" in result.stdout
    assert "Nothing was published." in result.stdout
    assert "7 messages of mails cannot be replayed: the archive leaves its bodies out." in result.stderr
    assert "1 message of old cannot be replayed: published before the archive begins." in result.stderr


@pytest.mark.parametrize("answer", ["n\n", ""])
def test_nothing_is_done_unless_it_was_agreed_to(lake: Path, answer: str) -> None:
    result = replay(lake, answer=answer)
    assert result.exit_code == 1
    assert "Publish them to orders? [y/N]" in result.stdout
    assert "nothing was done" in result.stderr


def test_programs_have_to_say_yes(lake: Path) -> None:
    result = replay(lake, "--output", "json")
    assert result.exit_code == 2
    assert "--yes" in result.stderr


def test_a_dry_run_tells_programs_the_same(lake: Path) -> None:
    told = json.loads(replay(lake, "--dry-run", "--output", "json").stdout)
    assert_documented("pipeline replay", told)
    assert (told["replay"], told["messages"], told["bytes"], told["published"]) == ("again", 2, 308, 0)
    assert told["planned"] == "2026-01-02T00:00:00.000000Z"
    assert [one["queue"] for one in told["without_body"]] == ["mails", "old"]
    assert told["sample"][0]["key64"] == "/w=="


def test_a_name_that_is_taken_by_another_replay_is_refused(lake: Path) -> None:
    result = replay(lake, "--where", "outcome = 'finished'", "--yes")
    assert result.exit_code == 2
    assert "the replay again is another one" in result.stderr
    assert "Another --id" in result.stderr


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--id", "a/b"), "is no name"),
        (("--id", "x" * 101), "is no name"),
        (("--rate", "fast"), "is no rate"),
        (("--to", "%FF"), "names are UTF-8"),
    ],
)
def test_what_cannot_be_is_refused(lake: Path, flags: tuple[str, str], words: str) -> None:
    result = replay(lake, *flags)
    assert result.exit_code == 2
    assert words in result.stderr


def test_without_tables_it_says_how_to_make_them(tmp_path: Path) -> None:
    result = replay(tmp_path / "none")
    assert result.exit_code == 1
    assert "`penstock pipeline run` makes them." in result.stderr


def test_without_a_server_it_says_so_and_nothing_is_lost(lake: Path) -> None:
    result = replay(lake, "--yes")
    assert result.exit_code == 1
    assert f"no server is running on {lake.parent}" in result.stderr
