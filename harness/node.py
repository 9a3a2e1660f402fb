"""JavaScript beside us: node, with the packages of tests/interop/package.json, which `make node` has put into build."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

MODULES = Path(__file__).parents[1] / "build" / "node" / "node_modules"


def command(script: Path, *arguments: object) -> list[str]:
    """The system's node, or the one of the virtual environment."""
    places = os.pathsep.join([os.environ.get("PATH", ""), sysconfig.get_path("scripts")])
    node = shutil.which("node", path=places)
    assert node is not None, "there is no node: make node"
    assert MODULES.is_dir(), "the packages are missing: make node"
    return [node, str(script), *map(str, arguments)]


def environment() -> dict[str, str]:
    return {**os.environ, "NODE_PATH": str(MODULES)}
