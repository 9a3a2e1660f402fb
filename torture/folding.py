"""The moment at which the archivist writes a snapshot: what campaigns wait for, to strike in it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from penstock.journal.snapshot import is_unfinished
from penstock.server.store import JOURNAL_NAME

FOLDING_S = 8.0  # so long a snapshot is waited for


def await_fold(data: Path) -> None:
    """Or not: where none comes, the moment is as good as any other."""
    until_s = time.monotonic() + FOLDING_S
    while time.monotonic() < until_s and not any(map(is_unfinished, os.listdir(data / JOURNAL_NAME))):
        time.sleep(0.002)
