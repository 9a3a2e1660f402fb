"""A real disk of a few megabytes, and somebody else who fills it.

Where the machine does not allow a file system to be mounted, the test is skipped and says so; the same laws are held up
on a simulated disk in tests/server/test_room.py and tests/journal/test_journal.py.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SIZE = 8 << 20


@contextmanager
def small_disk(place: Path, size: int = SIZE) -> Iterator[Path]:
    place.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mount.returncode:
        pytest.skip("this machine does not allow a file system to be mounted: no real disk was filled")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path) -> Path:
    """Somebody else takes every byte that is left."""
    other = place / "other"
    with other.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(65_536)):
                pass
        except OSError:
            pass
    return other
