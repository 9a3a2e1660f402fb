"""JavaScript beside the tests: node with the packages of package.json, which `make node` has put into build/node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
MODULES = ROOT / "build" / "node" / "node_modules"
PATIENCE_S = 60.0


def command(script: Path, *arguments: object) -> list[str]:
    """The system's node, or the one of the virtual environment."""
    places = os.pathsep.join([os.environ.get("PATH", ""), sysconfig.get_path("scripts")])
    node = shutil.which("node", path=places)
    assert node is not None, "there is no node: make node"
    assert MODULES.is_dir(), "the packages are missing: make node"
    return [node, str(script), *map(str, arguments)]


def environment() -> dict[str, str]:
    return {**os.environ, "NODE_PATH": str(MODULES)}


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
