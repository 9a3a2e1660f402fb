"""The identity is made once, kept for ever, and never made anew beside a journal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.journal.disk import OsDisk
from penstock.server.identity import BadIdentity, open_identity


def test_a_new_directory_gets_an_identity_that_only_its_owner_may_read(tmp_path: Path) -> None:
    identity = open_identity(OsDisk(str(tmp_path)), journal_exists=False)
    assert (len(identity.store_id), len(identity.secret_bytes)) == (16, 32)
    assert (tmp_path / "identity").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["identity"]


def test_the_next_start_finds_the_same(tmp_path: Path) -> None:
    disk = OsDisk(str(tmp_path))
    assert open_identity(disk, journal_exists=False) == open_identity(disk, journal_exists=True)


def test_two_directories_are_two_stores(tmp_path: Path) -> None:
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        made.append(open_identity(OsDisk(str(tmp_path / name)), journal_exists=False))
    assert made[0].store != made[1].store
    assert made[0].secret != made[1].secret


def test_a_journal_without_its_identity_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(BadIdentity, match="there is a journal but no `identity` file beside it"):
        open_identity(OsDisk(str(tmp_path)), journal_exists=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}",
        "not json",
        json.dumps({"store": "xx", "secret": "00" * 32, "created": ""}),
        json.dumps({"store": "00" * 16, "secret": "00" * 31, "created": ""}),
    ],
)
def test_a_file_that_is_no_identity_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "identity").write_text(content)
    with pytest.raises(BadIdentity, match="the `identity` file"):
        open_identity(OsDisk(str(tmp_path)), journal_exists=False)


def test_what_a_crash_left_half_made_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / "identity.123").write_text("half")
    open_identity(OsDisk(str(tmp_path)), journal_exists=False)
    assert [path.name for path in tmp_path.iterdir()] == ["identity"]
