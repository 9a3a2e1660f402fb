"""etzel's format as a file: it reads back in order, appears whole or not at all, and damage is found before any use."""

from __future__ import annotations

import os
import random
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from penstock.cli.etzel_file import opened, write
from penstock.cli.program import Failure
from penstock.codecs.etzel_store import Row, key_of, value_of
from penstock.model.limits import BODY_MAX, QUEUE_NAME_MAX
from tests.cli.make_etzel_golden import ROWS

GOLDEN = Path(__file__).parent / "golden" / "v1.etzel"
UID = b"etzl0pCk2X9LqZ"
HEAD_BYTES = 100


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows%20 #?.etzel"


def rows_of(file: Path) -> list[Row]:
    with opened(str(file)) as store:
        found = list(store.rows())
        assert list(store.rows()) == found
    return found


def refusal(file: Path) -> str:
    with pytest.raises(Failure) as failure:
        rows_of(file)
    return failure.value.message


def database(file: Path, *statements: str, rows: tuple[tuple[object, object], ...] = ()) -> None:
    connection = sqlite3.connect(file)
    for statement in statements:
        connection.execute(statement)
    if rows:
        connection.executemany("INSERT INTO data (key, value) VALUES (?, ?)", rows)
    connection.commit()
    connection.close()


def dump(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return list(connection.iterdump())


# -- the golden file


def test_the_golden_file_is_read_to_the_values_it_was_written_with() -> None:
    assert rows_of(GOLDEN) == list(ROWS)


def test_the_writer_of_today_makes_the_same_rows_and_the_same_table(file: Path) -> None:
    write(str(file), ROWS, force=False)
    assert dump(file) == dump(GOLDEN)


# -- writing


def test_rows_come_back_in_the_order_they_were_written_in(file: Path) -> None:
    rows = [Row(b"q", b"%014d" % number, 0, 0, 0, 0, b"") for number in range(3_000)]
    random.Random(1).shuffle(rows)
    write(str(file), rows, force=False)
    assert rows_of(file) == rows


def test_a_file_without_rows_is_a_file(file: Path) -> None:
    write(str(file), [], force=False)
    assert rows_of(file) == []


def test_a_name_without_a_directory_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("here.etzel", ROWS, force=False)
    assert rows_of(Path("here.etzel")) == list(ROWS)


def test_only_its_owner_may_read_it(file: Path) -> None:
    write(str(file), ROWS, force=False)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_is_there_stays_unless_forced(file: Path) -> None:
    file.write_text("precious")
    with pytest.raises(Failure, match="is there already"):
        write(str(file), ROWS, force=False)
    assert (file.read_text(), os.listdir(file.parent)) == ("precious", [file.name])
    write(str(file), ROWS, force=True)
    assert (rows_of(file), os.listdir(file.parent)) == (list(ROWS), [file.name])


def test_a_dangling_link_is_there_too(file: Path) -> None:
    file.symlink_to("nowhere")
    with pytest.raises(Failure, match="is there already"):
        write(str(file), ROWS, force=False)
    assert file.is_symlink()


@pytest.mark.parametrize("force", [False, True])
def test_what_fails_half_way_leaves_nothing(file: Path, force: bool) -> None:
    def failing() -> Iterator[Row]:
        yield ROWS[0]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write(str(file), failing(), force)
    assert os.listdir(file.parent) == []


# -- what is no such file


@pytest.mark.parametrize("content", [b"", b"SQLite", b"{}", bytes(5_000)])
def test_what_is_no_database_is_told_so(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    assert refusal(file) == f"{file} is no store of etzel's format: it is not an SQLite database."


@pytest.mark.parametrize("statement", ["CREATE TABLE other (key, value)", "CREATE TABLE data (key, worth)"])
def test_a_database_without_the_table_is_told_so(file: Path, statement: str) -> None:
    database(file, statement)
    assert refusal(file).endswith("it has no table `data` with `key` and `value`.")


def test_another_programs_table_may_have_more_columns_and_texts(file: Path) -> None:
    tables = ("CREATE TABLE data (key TEXT, value BLOB, note TEXT DEFAULT 'x')", "CREATE TABLE other (a)")
    database(file, *tables, rows=((f"q-{UID.decode()}", value_of(ROWS[0])),))
    assert rows_of(file) == [ROWS[0]._replace(queue=b"q", uid=UID)]


# -- damage


def test_a_file_that_was_cut_is_refused(file: Path) -> None:
    write(str(file), [Row(b"q", b"%014d" % number, 0, 0, 0, 0, bytes(500)) for number in range(200)], force=False)
    whole = file.read_bytes()
    for size in range(HEAD_BYTES, len(whole), 4_096 * 3 + 17):
        file.write_bytes(whole[:size])
        assert " is damaged: " in refusal(file), size


def test_a_changed_byte_is_found_or_stands_in_a_row_or_changes_nothing(file: Path) -> None:
    """The format has no checksums: what the pages do not give away shows as another row, never as a crash."""
    rows = [Row(b"q", b"%014d" % number, 0, 0, 0, 0, b"item %d" % number) for number in range(50)]
    write(str(file), rows, force=False)
    whole = file.read_bytes()
    chance = random.Random(7)
    told = []
    for _ in range(300):
        changed = bytearray(whole)
        changed[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        file.write_bytes(changed)
        told.append(_told_of(file, len(rows)))
    assert len([words for words in told if words]) > 10
    assert all("is damaged: " in words or "is no store of etzel's format" in words for words in told if words)


def _told_of(file: Path, count: int) -> str:
    try:
        assert len(rows_of(file)) == count
    except Failure as failure:
        return failure.message
    return ""


LONG = QUEUE_NAME_MAX + 1
BAD_ROWS: list[tuple[object, object, str]] = [
    (b"no uid", b"", "its key does not end in a dash and a uid of 14 to 18 characters"),
    (b"q-" + UID, b"short", "its value has 5 bytes, fewer than 25"),
    (b"q-" + UID, 7, "its key or value is neither text nor a blob"),
    (None, b"", "its key or value is neither text nor a blob"),
    (b"q" * LONG + b"-" + UID, value_of(ROWS[0]), "the name of its queue has more than 65,535 bytes"),
    (b"q-" + UID, value_of(ROWS[0]) + bytes(BODY_MAX), "its item has more than 1,048,576 bytes"),
    (b"q-" + UID, value_of(ROWS[0]._replace(delay_s=315_360_001)), "its delay is longer than 315,360,000 seconds"),
    (b"q-" + UID, value_of(ROWS[0]._replace(timeout_s=1 << 63)), "its timeout is longer than 315,360,000 seconds"),
    (b"q-" + UID, value_of(ROWS[0]._replace(expires_s=1 << 63)), "its expires is longer than 3,153,600,000 seconds"),
]


@pytest.mark.parametrize(("key", "value", "words"), BAD_ROWS)
def test_a_bad_row_is_named(file: Path, key: object, value: object, words: str) -> None:
    good = (key_of(ROWS[0]), value_of(ROWS[0]))
    database(file, "CREATE TABLE data (key, value)", rows=(good, (key, value)))
    told = refusal(file)
    assert told.startswith(f"{file} is damaged: row 2")
    assert told.endswith(f"{words}.")
