"""etzel's format as a file: an SQLite database with one table of keys and values. It is written whole or not at all,
and a file that is not as it should be is told from one that is before anything is made of it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from penstock.cli.output import printable
from penstock.cli.program import Failure
from penstock.codecs import names
from penstock.codecs.etzel_store import BadRow, Row, key_of, read_row, value_of
from penstock.journal.disk import sync_directory
from penstock.model import limits

TABLE: Final = "data"
_MAGIC: Final = b"SQLite format 3\0"
_CREATE: Final = f"CREATE TABLE {TABLE} (key BLOB NOT NULL PRIMARY KEY, value BLOB NOT NULL)"
_INSERT: Final = f"INSERT INTO {TABLE} (key, value) VALUES (?, ?)"
_SELECT: Final = f"SELECT key, value FROM {TABLE} ORDER BY rowid"

# what a row may say -> the largest that a server takes
_LARGEST_S: Final = {
    "timeout_s": limits.LEASE_MAX_US // limits.SECOND_US,
    "delay_s": limits.DELAY_MAX_US // limits.SECOND_US,
    "expires_s": limits.TTL_MAX_US // limits.SECOND_US,
}


# -- writing


def refuse_to_overwrite(path: str) -> None:
    if os.path.lexists(path):
        raise Failure(f"{printable(path)} is there already.", "Say --force to write it anew.")


def write(path: str, rows: Iterable[Row], force: bool) -> None:
    """In the order of the rows. Under a name of its own until all of it is synced."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        _fill(temporary, rows)
        _sync(temporary)
        if force:
            os.replace(temporary, path)
        else:
            _name(temporary, path)
        sync_directory(os.path.dirname(path) or ".")
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def _fill(path: str, rows: Iterable[Row]) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        connection.execute(_CREATE)
        connection.executemany(_INSERT, ((key_of(row), value_of(row)) for row in rows))
        connection.execute("COMMIT")


def _sync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _name(temporary: str, path: str) -> None:
    """Unlike a rename, a link never takes another file's place."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        refuse_to_overwrite(path)


# -- reading


class StoreFile:
    """An open file, which stays as it is until it is closed. `rows` may be gone through again and again."""

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection

    def rows(self) -> Iterator[Row]:
        """Raises Failure at the first row that is not of the format."""
        for number, (key, value) in enumerate(self._connection.execute(_SELECT), 1):
            try:
                yield _acceptable(key, value)
            except BadRow as bad:
                where = f" ({_shown(key)})" if isinstance(key, bytes) else ""
                raise _damaged(self._path, f"row {number}{where}: {bad}") from None


@contextmanager
def opened(path: str) -> Iterator[StoreFile]:
    """Raises Failure for what is no such file, or is damaged."""
    with open(path, "rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise Failure(f"{printable(path)} is no store of etzel's format: it is not an SQLite database.")
    try:
        with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.isolation_level = None
            connection.text_factory = bytes
            connection.execute("BEGIN")
            _check(path, connection)
            yield StoreFile(path, connection)
    except sqlite3.Error as error:
        raise _damaged(path, str(error)) from None


def _check(path: str, connection: sqlite3.Connection) -> None:
    try:
        found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    except UnicodeDecodeError:
        found = b"what it says of its tables is not text"
    if found != b"ok":
        raise _damaged(path, found.decode("utf-8", "replace"))
    columns = {row[1] for row in connection.execute(f"PRAGMA table_info({TABLE})")}
    if not {b"key", b"value"} <= columns:
        raise Failure(
            f"{printable(path)} is no store of etzel's format: it has no table `{TABLE}` with `key` and `value`."
        )


def _acceptable(key: Any, value: Any) -> Row:
    if not isinstance(key, bytes) or not isinstance(value, bytes):
        raise BadRow("its key or value is neither text nor a blob")
    row = read_row(key, value)
    if len(row.queue) > limits.QUEUE_NAME_MAX:
        raise BadRow(f"the name of its queue has more than {limits.QUEUE_NAME_MAX:,} bytes")
    if len(row.item) > limits.BODY_MAX:
        raise BadRow(f"its item has more than {limits.BODY_MAX:,} bytes")
    for field, largest in _LARGEST_S.items():
        if getattr(row, field) > largest:
            raise BadRow(f"its {field.removesuffix('_s')} is longer than {largest:,} seconds")
    return row


def _shown(key: bytes) -> str:
    return names.show(key[:100]) + ("…" if len(key) > 100 else "")


def _damaged(path: str, why: str) -> Failure:
    return Failure(f"{printable(path)} is damaged: {printable(why)}.")
