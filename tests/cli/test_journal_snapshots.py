"""`penstock journal` and `penstock export` where old segments have gone into a snapshot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.engine.rules import PolicyBook
from penstock.history.folding import Folder, Keeping
from penstock.journal.disk import OsDisk
from tests.cli.conftest import Shell
from tests.cli.journals import Written, flip, three_segments
from tests.cli.shapes import assert_documented

SECOND = "00000000000000000002.snapshot"


def fold(written: Written, sealed_below: int, *, sweep: bool = True) -> Path:
    folder = Folder(OsDisk(str(written.folder)), PolicyBook(), Keeping(1), 77, lambda event, fields: None)
    for _ in folder.fold(sealed_below):
        pass
    if sweep:
        folder.sweep(sealed_below)
    return written.folder / f"{sealed_below - 1:020}.snapshot"


@pytest.fixture
def written(away: Shell) -> Written:
    """Facts 1 to 6 are in a snapshot and gone; fact 7 is in the third segment."""
    made = three_segments(away.data)
    fold(made, 3)
    return made


def test_info_lists_the_snapshot_before_the_segments(away: Shell, written: Written) -> None:
    lines = away.text("journal", "info").splitlines()[1:]
    assert [line.split()[0] for line in lines] == [SECOND, written.segment(3).name]
    assert "whole, 2 messages" in lines[0]
    shape = away.json("journal", "info")
    assert_documented("journal info", shape)
    assert [(one["number"], one["messages"], one["last"]) for one in shape["snapshots"]] == [(2, 2, 6)]
    assert [(one["number"], one["first"]) for one in shape["segments"]] == [(3, 7)]


def test_a_sound_journal_with_a_snapshot_is_called_sound(away: Shell, written: Written) -> None:
    assert away.json("journal", "verify")["problems"] == []
    assert away.text("journal", "repair", "--yes") == "The journal is sound; there is nothing to repair.\n"


def test_a_damaged_snapshot_is_told_with_its_place(away: Shell, written: Written) -> None:
    flip(written.folder / SECOND, 200)
    result = away("journal", "verify", "--output", "json")
    assert result.exit_code == 4
    problems = json.loads(result.stdout)["problems"]
    assert [(problem["file"], problem["reason"]) for problem in problems] == [
        (SECOND, "the checksum of the block is wrong")
    ]
    assert "damaged, 0 messages" in away.text("journal", "info")


def test_of_a_snapshot_that_nothing_can_replace_what_can_be_read_is_kept(away: Shell, written: Written) -> None:
    """The block of its two messages is damaged; the one that came after it lives on."""
    messages_at = (written.folder / SECOND).read_bytes().rindex(b"PSNB")
    flip(written.folder / SECOND, messages_at + 60)
    planned = away("journal", "repair", "--output", "json")
    assert planned.exit_code == 4
    losses = json.loads(planned.stdout)["losses"]
    assert [(loss["file"], loss["offset"], loss["messages"]) for loss in losses] == [(SECOND, messages_at, 2)]
    assert_documented("journal repair", json.loads(planned.stdout))
    assert "  2 messages  " in away("journal", "repair", stdin="n\n").stdout
    assert away.text("journal", "repair", "--yes").endswith("The journal is sound again.\n")
    assert away.json("journal", "verify")["sound"] is True
    assert [one["messages"] for one in away.json("journal", "info")["snapshots"]] == [1]
    assert (written.folder / f"{SECOND}.damaged").exists()


def test_one_without_a_footer_costs_nothing_and_is_repaired(away: Shell, written: Written) -> None:
    flip(written.folder / SECOND, (written.folder / SECOND).stat().st_size - 20)
    assert away("journal", "verify").exit_code == 4
    said = away.text("journal", "repair", "--yes")
    assert f"{SECOND}, byte " in said
    assert "nothing: every fact can be kept" in said
    assert away.json("journal", "verify")["sound"] is True
    assert [one["messages"] for one in away.json("journal", "info")["snapshots"]] == [3]


def test_one_without_a_header_is_not_repaired(away: Shell, written: Written) -> None:
    flip(written.folder / SECOND, 20)
    before = sorted(path.name for path in written.folder.iterdir())
    result = away("journal", "repair", "--yes")
    assert result.exit_code == 4
    assert f"{SECOND}, byte " in result.stderr
    assert sorted(path.name for path in written.folder.iterdir()) == before


def test_one_that_the_facts_can_replace_leaves_and_costs_nothing(away: Shell) -> None:
    written = three_segments(away.data)
    flip(fold(written, 3, sweep=False), 200)
    said = away.text("journal", "repair", "--yes")
    assert "nothing: every fact can be kept" in said
    assert (written.folder / f"{SECOND}.damaged").exists()
    assert away.json("journal", "verify")["sound"] is True
    assert len(away.json("journal", "info")["segments"]) == 3


def test_a_spent_segment_that_is_damaged_leaves_and_the_rest_stays(away: Shell) -> None:
    written = three_segments(away.data)
    fold(written, 3, sweep=False)
    flip(written.segment(2), 120)
    assert away("journal", "verify").exit_code == 4
    away.text("journal", "repair", "--yes")
    assert away.json("journal", "verify")["sound"] is True
    assert [one["number"] for one in away.json("journal", "info")["segments"]] == [3]


def test_a_segment_that_is_missing_behind_the_snapshot_is_damage(away: Shell) -> None:
    written = three_segments(away.data)
    fold(written, 2)
    written.segment(2).unlink()
    problems = json.loads(away("journal", "verify", "--output", "json").stdout)["problems"]
    assert [(problem["file"], problem["reason"]) for problem in problems] == [
        (written.segment(2).name, "the segment is missing")
    ]


def test_a_dump_shows_the_facts_that_are_left_with_the_names_of_their_queues(away: Shell, written: Written) -> None:
    lines = away.text("journal", "dump").splitlines()[1:]
    assert [line.split()[0] for line in lines] == ["7"]
    assert "orders" in lines[0]


def test_a_dump_shows_spent_facts_as_long_as_they_are_there(away: Shell) -> None:
    written = three_segments(away.data)
    fold(written, 3, sweep=False)
    written.segment(1).unlink()
    lines = away.text("journal", "dump").splitlines()[1:]
    assert [line.split()[0] for line in lines] == list("567")
    assert all("orders" in line for line in lines)


def test_an_export_holds_what_the_snapshot_holds_and_what_came_after(
    away: Shell, written: Written, tmp_path: Path
) -> None:
    result = away("export", "--format", "etzel", str(tmp_path / "out.etzel"), "--output", "json")
    assert json.loads(result.stdout)["messages"] == 3
