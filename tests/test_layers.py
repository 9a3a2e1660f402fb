"""The law of the house, read from the sources: imports between rooms point one way, some rooms keep off the world."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "penstock"

MIDDLE = {"model", "codecs", "engine", "journal"}

# room -> the rooms it may import. ARCHITECTURE.md shows the same rows, and test_docs.py compares them.
ROOMS: dict[str, set[str]] = {
    "__init__.py": {"client"},
    "sync.py": {"client"},
    "model": set(),
    "codecs": {"model"},
    "engine": {"model", "codecs"},
    "journal": {"model", "codecs"},
    "dialects": {"model", "codecs"},
    "client": {"model", "codecs"},
    "broker": MIDDLE,
    "history": MIDDLE,
    "server": {*MIDDLE, "dialects", "broker"},
    "pipeline": {*MIDDLE, "dialects", "history", "client"},
    "cli": {*MIDDLE, "dialects", "broker", "history", "server", "client", "pipeline"},
    "testing": {*MIDDLE, "dialects", "broker", "server", "client"},
}

WORLD = {"aiohttp", "asyncio", "select", "selectors", "signal", "socket", "ssl", "subprocess", "threading", "uvloop"}
FILES = {"fcntl", "glob", "io", "mmap", "os", "pathlib", "shutil", "tempfile"}
CLOCK = {"datetime", "random", "secrets", "time"}

# room -> modules of the world that it must not know
KEPT_OUT = {
    "model": WORLD | FILES | CLOCK,
    "codecs": WORLD | (FILES - {"io"}) | CLOCK,
    "engine": WORLD | FILES | CLOCK,
    "journal": WORLD - {"threading"} | FILES,
    "dialects": WORLD | (FILES - {"io"}),
}
# the only code of its room that touches files
TOUCHES_FILES = {"journal/disk.py", "journal/lock.py"}


def room_of(path: str) -> str:
    return path.partition("/")[0]


def imported(tree: ast.AST) -> set[str]:
    """Every module a source names in an import, in full; a relative one shows as a leading dot."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            names.update(f"{module}.{alias.name}" for alias in node.names)
    return names


def opens_files(tree: ast.AST) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "open" for node in ast.walk(tree))


def violations(path: str, source: str) -> list[str]:
    """What a source file breaks; `path` is relative to the package, such as engine/agenda.py."""
    room = room_of(path)
    if room not in ROOMS:
        return [f"{path}: {room} is not a room of the table"]
    tree = ast.parse(source)
    forbidden = KEPT_OUT.get(room, set()) - (FILES if path in TOUCHES_FILES else set())
    found = [f"{path}: opens a file"] if "os" in forbidden and opens_files(tree) else []
    for name in sorted(imported(tree)):
        first, *rest = name.split(".")
        if first == "":
            found.append(f"{path}: relative import {name}")
        elif first == "penstock" and rest and rest[0] in ROOMS and rest[0] not in {room, *ROOMS[room]}:
            found.append(f"{path}: {room} must not know {rest[0]}")
        elif first in forbidden:
            found.append(f"{path}: {room} must not import {first}")
    return found


def sources() -> list[str]:
    return sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))


def test_every_import_points_down_and_every_room_keeps_to_itself() -> None:
    paths = sources()
    assert {room_of(path) for path in paths} == set(ROOMS)
    assert [found for path in paths for found in violations(path, (SOURCE / path).read_text())] == []


def test_the_table_of_rooms_has_no_circle() -> None:
    settled: set[str] = set()
    while fresh := {room for room, below in ROOMS.items() if room not in settled and below <= settled}:
        settled |= fresh
    assert settled == set(ROOMS)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("model/message.py", "from penstock.codecs.facts import Fact"),
        ("model/message.py", "import penstock.engine"),
        ("engine/core.py", "from penstock.journal import disk"),
        ("journal/log.py", "from penstock.engine.core import Engine"),
        ("dialects/deferred.py", "def late():\n    from penstock.broker import embedded"),
        ("broker/embedded.py", "from penstock import server"),
        ("server/app.py", "import penstock.cli.main as main"),
        ("engine/core.py", "import os"),
        ("engine/core.py", "from time import monotonic"),
        ("engine/core.py", "import asyncio.events"),
        ("engine/core.py", "from random import random"),
        ("engine/core.py", "from ..model import message"),
        ("engine/core.py", "handle = open('x')"),
        ("journal/log.py", "from pathlib import Path"),
        ("journal/log.py", "with open('x') as file: pass"),
        ("journal/disk.py", "import socket"),
        ("dialects/deferred.py", "import asyncio"),
        ("dialects/deferred.py", "if TYPE_CHECKING:\n    import socket"),
        ("cellar/wine.py", ""),
    ],
)
def test_a_planted_violation_is_found(path: str, source: str) -> None:
    assert len(violations(path, source)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("model/message.py", "from penstock.model.limits import NEVER_US"),
        ("engine/core.py", "from penstock import __version__, model"),
        ("journal/disk.py", "import os\nopen('x')"),
        ("dialects/deferred.py", "from io import BytesIO"),
        ("cli/main.py", "import time\nfrom penstock.server.app import run"),
    ],
)
def test_what_the_law_allows_is_not_found(path: str, source: str) -> None:
    assert violations(path, source) == []
