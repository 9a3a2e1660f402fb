"""Claiming a data directory: one owner, and nobody left of the one before."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from penstock.journal.lock import ARCHIVIST_LOCK_NAME, DirectoryLock, DirectoryLocked
from penstock.server import store
from penstock.server.store import claim


def test_a_directory_has_one_owner(tmp_path: Path) -> None:
    first = claim(str(tmp_path / "data"))
    with pytest.raises(DirectoryLocked):
        claim(str(tmp_path / "data"))
    first.release()
    claim(str(tmp_path / "data")).release()


def test_the_archivist_of_a_server_that_is_gone_is_waited_for(tmp_path: Path) -> None:
    """It may be taking segments away that a start would read."""
    left = DirectoryLock(str(tmp_path), ARCHIVIST_LOCK_NAME)
    began = time.monotonic()
    threading.Timer(0.2, left.release).start()
    claim(str(tmp_path)).release()
    assert time.monotonic() - began >= 0.2


def test_one_that_does_not_end_is_not_waited_for_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "ARCHIVIST_ENDS_S", 0.05)
    left = DirectoryLock(str(tmp_path), ARCHIVIST_LOCK_NAME)
    with pytest.raises(DirectoryLocked):
        claim(str(tmp_path))
    left.release()
    claim(str(tmp_path)).release()
