"""`penstock export`: beside a server and without one, what it says, and what it refuses."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.etzel_file import opened
from penstock.codecs.etzel import uid
from penstock.codecs.etzel_store import Row
from tests.cli.conftest import Shell
from tests.cli.journals import AT_US, Written, flip, three_segments
from tests.cli.shapes import assert_documented


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "out.etzel"


def export(shell: Shell, file: Path, *words: str) -> dict[str, Any]:
    result = shell("export", "--format", "etzel", str(file), "--output", "json", *words)
    assert (result.exit_code, result.stderr) == (0, "")
    shape = json.loads(result.stdout)
    assert_documented("export", shape)
    return dict(shape)


def rows_of(file: Path) -> list[Row]:
    with opened(str(file)) as store:
        return list(store.rows())


def test_without_a_server_what_the_journal_says_is_written(away: Shell, file: Path) -> None:
    written = three_segments(away.data)
    shape = export(away, file)
    assert (shape["file"], shape["messages"], shape["bytes"], shape["lost"]) == (str(file), 3, 521, [])
    assert shape["queues"] == [{"queue": "orders", "messages": 3}]
    items = {102: b"\xff\0", 103: b"[red]two\nlines\x1b[31m", 104: b"x" * 500}
    expected = [Row(b"orders", uid(written.ids, number), 0, 0, 0, 0, item) for number, item in items.items()]
    assert rows_of(file) == expected


def test_beside_a_server_it_takes_all_that_was_answered(shell: Shell, fresh: Callable[[], str], file: Path) -> None:
    queue = fresh()
    for number in range(3):
        shell.text("message", "publish", queue, f"body {number}")
        shape = export(shell, file, "--queue", queue, "--force")
        assert shape["messages"] == number + 1
    shell.text("message", "reserve", queue, "--lease", "1h")
    rows = rows_of(file)
    export(shell, file, "--queue", queue, "--force")
    assert [row.item for row in rows] == [b"body 0", b"body 1", b"body 2"]
    assert [(row.item, row.status, row.delay_s > 3_500) for row in rows_of(file)] == [
        (b"body 1", 0, False), (b"body 2", 0, False), (b"body 0", 1, True),
    ]  # fmt: skip


def test_several_queues_and_what_is_lost(shell: Shell, fresh: Callable[[], str], file: Path) -> None:
    one, two = fresh(), fresh()
    shell.text("message", "publish", one, "a", "--priority", "7", "--key", "k")
    shell.text("message", "publish", two, "b", "--dedup-id", "x", "--delay", "1h", "--ttl", "2h", "--lease", "90s")
    result = shell("export", "--format", "etzel", str(file), "--queue", one, "--queue", two)
    assert result.stdout == f"exported 2 messages, 2 B, of 2 queues to {file}\n"
    losses = "priority (1 message), key (1 message), dedup id (1 message)"
    assert result.stderr == f"The format has no place for: {losses}.\n"
    (row,) = [row for row in rows_of(file) if row.item == b"b"]
    assert (row.timeout_s, 3_500 < row.delay_s <= 3_600, 7_100 < row.expires_s <= 7_200) == (90, True, True)


def test_an_empty_queue_makes_a_file_without_rows(shell: Shell, fresh: Callable[[], str], file: Path) -> None:
    queue = fresh()
    shell.text("queue", "create", queue)
    assert export(shell, file, "--queue", queue)["messages"] == 0
    assert rows_of(file) == []


def test_what_expired_meanwhile_is_left_out_and_counted(away: Shell, file: Path) -> None:
    written = Written(away.data)
    written.publish(101, b"gone", expires_us=AT_US + 60_000_000)
    written.publish(102, b"here")
    written.close()
    result = away("export", "--format", "etzel", str(file))
    assert result.stdout == f"exported 1 message, 4 B, of 1 queue to {file}\n"
    assert result.stderr == "Not exported: 1 message that expired meanwhile.\n"
    assert [row.item for row in rows_of(file)] == [b"here"]


def test_a_file_that_is_there_stays(away: Shell, file: Path) -> None:
    three_segments(away.data)
    file.write_text("precious")
    result = away("export", "--format", "etzel", str(file))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"Error: {file} is there already.\nSay --force to write it anew.\n"
    assert file.read_text() == "precious"
    assert export(away, file, "--force")["messages"] == 3


def test_a_queue_that_is_not_there_is_told_and_nothing_is_written(away: Shell, file: Path) -> None:
    three_segments(away.data)
    result = away("export", "--format", "etzel", str(file), "--queue", "none")
    assert (result.exit_code, result.stderr) == (1, "Error: none: no such queue\n")
    assert not file.exists()


def test_a_damaged_journal_is_not_exported(away: Shell, file: Path) -> None:
    flip(three_segments(away.data).segment(2), 120)
    result = away("export", "--format", "etzel", str(file))
    assert result.exit_code == 4
    assert "the journal is damaged" in result.stderr
    assert not file.exists()


def test_without_a_journal_or_an_identity_it_says_so(away: Shell, file: Path) -> None:
    assert "there is no journal in" in away("export", "--format", "etzel", str(file)).stderr
    three_segments(away.data)
    (away.data / "identity").unlink()
    assert "has no identity file" in away("export", "--format", "etzel", str(file)).stderr
    assert not file.exists()


def test_the_format_has_to_be_said(away: Shell, file: Path) -> None:
    for words in ((), ("--format", "csv")):
        assert away("export", str(file), *words).exit_code == 2


def test_a_place_that_cannot_be_written_is_told(away: Shell, tmp_path: Path) -> None:
    three_segments(away.data)
    result = away("export", "--format", "etzel", str(tmp_path / "nowhere" / "x"))
    assert result.exit_code == 1
    assert "No such file or directory" in result.stderr


def test_any_tool_reads_the_file(away: Shell, file: Path) -> None:
    three_segments(away.data)
    export(away, file)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*) FROM data WHERE key >= ?", (b"orders-",)).fetchone() == (3,)
