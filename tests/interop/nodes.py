"""JavaScript beside the tests: scripts that run to their end, and scripts that go on and print JSON."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from harness.node import command, environment

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
PATIENCE_S = 60.0


def run(script: Path, *arguments: object) -> str:
    """To its end, which must be a good one; what it printed."""
    ran = subprocess.run(
        command(script, *arguments), env=environment(), capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


class Script:
    """One that goes on until it is told to stop, and prints JSON, a line each."""

    def __init__(self, script: Path, *arguments: object) -> None:
        self.process = subprocess.Popen(
            command(script, *arguments), env=environment(), stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def __enter__(self) -> Script:
        return self

    def __exit__(self, *raised: object) -> None:
        self.kill()

    def line(self) -> dict[str, Any]:
        """The next one. It comes, or pytest's timeout does."""
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def until(self, cmd: str) -> list[dict[str, Any]]:
        """All up to the first with this `cmd`."""
        found = [self.line()]
        while found[-1]["cmd"] != cmd:
            found.append(self.line())
        return found

    def rest(self) -> list[dict[str, Any]]:
        """All that it had to say; it is stopped."""
        self.process.terminate()
        assert self.process.stdout is not None
        return [json.loads(line) for line in self.process.stdout]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
