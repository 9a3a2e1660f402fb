"""`penstock import` as a process of its own, and what its tests look at meanwhile."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from penstock.cli.remote import Remote

PATIENCE_S = 60.0


class Import:
    """Begun when it is made."""

    def __init__(self, data: Path, *words: str) -> None:
        command = ["import", *words, "--data", str(data), "--output", "json"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "penstock.cli.main", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def kill(self) -> None:
        self.process.kill()
        self.wait()

    def wait(self) -> int:
        self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode


def published(data: Path) -> int:
    return int(Remote(str(data)).get("/status")["counts"]["published"])


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)
