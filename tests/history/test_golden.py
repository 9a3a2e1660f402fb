"""The golden archive: files that were written once, which must be readable and gone on from for ever."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from penstock.history.archive import Archive
from penstock.history.shelves import OsShelves
from penstock.journal.disk import OsDisk
from penstock.model import facts
from tests.history.histories import read, told_by
from tests.history.make_golden import DIALECTS, JOURNAL, SEALED_BELOW, make

V1 = Path(__file__).parent / "golden" / "v1"


def rows(folder: Path) -> list[dict[str, Any]]:
    return [row for path in sorted(folder.glob("date=*/*.parquet")) for row in read(path.read_bytes())]


def expected() -> list[dict[str, Any]]:
    found = told_by(OsDisk(str(JOURNAL)), DIALECTS)
    return [row for row in found if row["segment"] < SEALED_BELOW]


def test_version_1_reads_as_the_journal_it_was_made_from() -> None:
    assert rows(V1) == expected()
    assert len(rows(V1)) == 18


def test_version_1_says_what_the_next_file_needs() -> None:
    last = Archive(OsShelves(str(V1)), 1, lambda file, why: None).last()
    assert last is not None
    assert (last.store_id, last.segment, last.last) == (b"golden store: v1", 3, 18)
    assert last.queues == {1: b"orders", 2: b"other"}
    assert last.counts == {facts.RELEASED: 1, facts.DROPPED: 1, facts.FINISHED: 1, facts.EXPIRED: 1, facts.DELETED: 1}


def test_this_version_goes_on_from_it_and_writes_the_same(tmp_path: Path) -> None:
    newest = max(V1.glob("date=*/*.parquet"))
    begun = shutil.copytree(V1, tmp_path / "begun")
    (begun / newest.relative_to(V1)).unlink()
    make(str(begun))
    make(str(tmp_path / "anew"))
    assert rows(begun) == rows(tmp_path / "anew") == rows(V1)
