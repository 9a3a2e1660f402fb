"""`penstock journal` on the files of a data directory, without a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.journal.lock import DirectoryLock
from tests.cli.conftest import Shell
from tests.cli.journals import Written, flip, three_segments
from tests.cli.shapes import assert_documented

COMMANDS = ("info", "verify", "dump", "repair")


@pytest.fixture
def written(away: Shell) -> Written:
    return three_segments(away.data)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("command", COMMANDS)
def test_where_there_is_no_journal_it_says_so(away: Shell, command: str) -> None:
    result = away("journal", command)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"Error: there is no journal in {away.data}.\n")


# -- info


def test_info_lists_the_segments(away: Shell, written: Written) -> None:
    head, *lines = away.text("journal", "info").splitlines()
    assert head.split() == ["file", "state", "size", "facts", "first", "fact", "last", "fact", "from", "to"]
    assert [line.split()[0] for line in lines] == [written.segment(number).name for number in (1, 2, 3)]
    assert "sealed" in lines[0]
    assert lines[0].endswith("2026-01-02T03:04:05.678Z  2026-01-02T03:04:07.678Z")


def test_info_as_json(away: Shell, written: Written) -> None:
    segments = away.json("journal", "info")["segments"]
    assert [(segment["first"], segment["last"], segment["state"]) for segment in segments] == [
        (1, 4, "sealed"),
        (5, 6, "sealed"),
        (7, 7, "sealed"),
    ]


# -- verify


def test_a_sound_journal_is_called_sound(away: Shell, written: Written) -> None:
    assert away.text("journal", "verify").startswith("The journal is sound; ")
    assert away.json("journal", "verify")["problems"] == []


def test_damage_is_told_with_its_place_and_exit_code_4(away: Shell, written: Written) -> None:
    flip(written.segment(1), 200)
    written.segment(2).unlink()
    result = away("journal", "verify")
    assert (result.exit_code, result.stderr) == (4, "")
    lines = result.stdout.splitlines()
    assert lines[1].split()[:3] == [written.segment(1).name, "64", "1"]
    assert lines[2].split()[0] == written.segment(2).name
    assert lines[2].endswith("the segment is missing")
    assert "The journal is damaged; " in result.stdout
    assert "`penstock journal repair`" in result.stdout


def test_damage_as_json(away: Shell, written: Written) -> None:
    flip(written.segment(2), 120)
    result = away("journal", "verify", "--output", "json")
    assert result.exit_code == 4
    found = json.loads(result.stdout)
    assert_documented("journal verify", found)
    assert found["sound"] is False
    assert [(problem["file"], problem["expected"]) for problem in found["problems"]] == [(written.segment(2).name, 5)]


def test_a_torn_tail_is_told_and_no_damage(away: Shell) -> None:
    written = Written(away.data)
    written.publish(101, b"hello")
    end = written.segment(1).read_bytes().rstrip(b"\0")
    with written.segment(1).open("r+b") as file:
        file.seek(len(end) + 8 & ~7)
        file.write(b"PBAT torn")
    said = away.text("journal", "verify")
    assert "a torn tail of 9 bytes" in said
    assert "The journal is sound; " in said


# -- dump


def test_a_dump_is_one_fact_a_line(away: Shell, written: Written) -> None:
    head, *lines = away.text("journal", "dump").splitlines()
    assert head.split() == ["fact", "time", "kind", "queue", "message", "by", "details"]
    assert [line.split()[0] for line in lines] == list("1234567")
    ids = [written.ids.show(seq).decode() for seq in (101, 102, 103, 104)]
    assert lines[0].endswith('server    {"clean": true}')
    assert lines[1].endswith('orders            -           deferred  {"lease_us": 5000000}')
    assert lines[2].endswith(f"published  orders            {ids[0]}  deferred  body hello")
    assert lines[3].endswith(f"finished   orders            {ids[0]}  deferred  taken, delivery 1")
    assert lines[4].endswith("body base64:/wA=")
    assert lines[5].endswith("body [red]two\\nlines\\x1b[31m")
    assert lines[6].endswith("xxx…")


def test_a_dump_as_json_has_whole_bodies_and_one_object_a_line(away: Shell, written: Written) -> None:
    facts = [json.loads(line) for line in away.text("journal", "dump", "--output", "json").splitlines()]
    assert [fact["kind"] for fact in facts[:4]] == ["started", "declared", "published", "finished"]
    published = [fact for fact in facts if fact["kind"] == "published"]
    for fact in published:
        assert_documented("journal dump", fact)
    assert [fact.get("body64") or fact["body"] for fact in published] == [
        "hello",
        "/wA=",
        "[red]two\nlines\x1b[31m",
        "x" * 500,
    ]
    assert (published[0]["at"], published[0]["at_us"]) == ("2026-01-02T03:04:06.678901Z", 1_767_323_046_678_901)


def test_a_dump_may_begin_late_and_end_early(away: Shell, written: Written) -> None:
    lines = away.text("journal", "dump", "--from", "3", "--limit", "2").splitlines()[1:]
    assert [line.split()[0] for line in lines] == ["3", "4"]
    assert "orders" in lines[0]  # the name was told before


def test_a_dump_of_one_message(away: Shell, written: Written) -> None:
    lines = away.text("journal", "dump", "--message", written.ids.show(101).decode()).splitlines()[1:]
    assert [line.split()[0] for line in lines] == ["3", "4"]


def test_an_id_that_is_none_is_refused(away: Shell, written: Written) -> None:
    result = away("journal", "dump", "--message", "x\x1b")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: 'x\\x1b' is not the id of a message of this store.\n"


def test_without_an_identity_messages_have_their_numbers(away: Shell, written: Written) -> None:
    (away.data / "identity").unlink()
    assert "  101         " in away.text("journal", "dump")
    result = away("journal", "dump", "--message", "0123456789")
    assert result.exit_code == 1
    assert "has no identity file" in result.stderr


def test_a_dump_goes_up_to_the_damage(away: Shell, written: Written) -> None:
    flip(written.segment(2), 120)
    result = away("journal", "dump")
    assert result.exit_code == 4
    assert [line.split()[0] for line in result.stdout.splitlines()[1:]] == list("1234")
    assert result.stderr.startswith(f"Error: the journal is damaged: {written.segment(2).name}, byte 64, ")


# -- repair


def test_a_sound_journal_is_not_touched(away: Shell, written: Written) -> None:
    before = files(written.folder)
    assert away.text("journal", "repair", "--yes") == "The journal is sound; there is nothing to repair.\n"
    assert files(written.folder) == before


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_without_a_yes_nothing_is_changed(away: Shell, written: Written, answer: str) -> None:
    flip(written.segment(2), 120)
    before = files(written.folder)
    result = away("journal", "repair", stdin=answer)
    assert result.exit_code == 4
    assert result.stdout.endswith("Nothing was changed; the journal is still damaged.\n")
    assert files(written.folder) == before


def test_what_would_be_given_up_is_shown_before_it_is(away: Shell, written: Written) -> None:
    flip(written.segment(2), 120)
    said = away("journal", "repair", stdin="n\n").stdout
    assert f"  {written.segment(2).name}, byte 64, where fact 5 is expected: " in said
    rows = [line for line in said.splitlines() if line.startswith("0000")]
    assert rows[0].split() == [written.segment(2).name, "0", "360", "B", "5", "to", "6", "1"]
    assert rows[1].split()[4:] == ["7", "to", "7", "1"]


@pytest.mark.parametrize(("flags", "answer"), [((), "y\n"), (("--yes",), None)])
def test_a_repaired_journal_is_sound(away: Shell, written: Written, flags: tuple[str, ...], answer: str | None) -> None:
    flip(written.segment(2), 120)
    damaged = written.segment(2).read_bytes()
    said = away.text("journal", "repair", *flags, stdin=answer)
    assert said.endswith("The journal is sound again.\n")
    assert (written.folder / f"{written.segment(2).name}.damaged").read_bytes() == damaged
    assert away.json("journal", "verify")["sound"] is True


def test_as_json_nobody_is_asked(away: Shell, written: Written) -> None:
    flip(written.segment(2), 120)
    planned = away("journal", "repair", "--output", "json", stdin="y\n")
    assert planned.exit_code == 4
    done = away.json("journal", "repair", "--yes")
    assert json.loads(planned.stdout) == done | {"repaired": False}
    assert done["repaired"] is True


def test_a_journal_in_use_is_left_alone(away: Shell, written: Written) -> None:
    flip(written.segment(2), 120)
    before = files(written.folder)
    lock = DirectoryLock(str(away.data))
    result = away("journal", "repair", "--yes")
    lock.release()
    assert result.exit_code == 3
    assert "is in use by process" in result.stderr
    assert "Stop the server first: kill -TERM" in result.stderr
    assert files(written.folder) == before
