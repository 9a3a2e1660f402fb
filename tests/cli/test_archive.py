"""`penstock archive` on the files of a data directory, without a server."""

from __future__ import annotations

import pytest

from penstock.history.archive import Archive
from penstock.history.archivist import Archivist
from penstock.history.columns import Words
from penstock.history.shelves import OsShelves
from penstock.journal.disk import OsDisk
from tests.cli.conftest import Shell
from tests.cli.journals import AT_US, Written, three_segments
from tests.cli.shapes import assert_documented
from tests.history.test_files import resaid


@pytest.fixture
def written(away: Shell) -> Written:
    return three_segments(away.data)


def archive(shell: Shell, sealed_below: int) -> None:
    shelves = OsShelves(str(shell.data / "archive"))
    archivist = Archivist(
        OsDisk(str(shell.data / "journal")), Archive(shelves, 1, print), Words({}), lambda event, fields: None
    )
    for _ in archivist.upto(sealed_below):
        pass


def test_where_there_is_no_journal_it_says_so(away: Shell) -> None:
    result = away("archive", "status")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: there is no journal in {away.data}.\n")


def test_where_there_is_no_archive_everything_is_behind(away: Shell, written: Written) -> None:
    found = away.json("archive", "status")
    assert (found["files"], found["last_fact"], found["last_at"]) == (0, 0, None)
    assert (found["behind_segments"], found["behind_facts"]) == (3, 7)
    assert not (away.data / "archive").exists()


def test_it_tells_how_far_the_archive_reaches(away: Shell, written: Written) -> None:
    archive(away, 3)
    found = away.json("archive", "status")
    assert_documented("archive status", found)
    assert (found["days"], found["files"], found["segment"], found["last_fact"]) == (1, 2, 2, 6)
    assert found["last_at_us"] == AT_US + 4_000_000
    assert (found["behind_segments"], found["behind_facts"]) == (1, 1)
    text = away.text("archive", "status")
    assert "2 in 1 days, " in text
    assert "1 sealed segments, 1 facts" in text


def test_an_archive_that_has_everything_is_behind_nothing(away: Shell, written: Written) -> None:
    archive(away, 4)
    found = away.json("archive", "status")
    assert (found["behind_segments"], found["behind_facts"]) == (0, 0)


def test_a_newest_file_that_cannot_be_read_is_told(away: Shell, written: Written) -> None:
    archive(away, 3)
    newest = max((away.data / "archive").glob("date=*/*.parquet"))
    newest.write_bytes(b"oops")
    result = away("archive", "status")
    assert result.exit_code == 4
    assert newest.name in result.stdout


def test_the_file_of_a_later_version_is_told(away: Shell, written: Written) -> None:
    archive(away, 3)
    newest = max((away.data / "archive").glob("date=*/*.parquet"))
    newest.write_bytes(resaid(newest.read_bytes(), {b"penstock.version": b"2"}))
    result = away("archive", "status")
    assert result.exit_code == 4
    assert "of version 2, not 1" in result.stderr
