"""What the README says to type is typed, against a real server on ports of its own; what it says will be printed is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.server import Server, serving
from penstock.dialects.table import DIALECTS

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
# What make does, examples for node and the pipeline are run by other tests.
ELSEWHERE = re.compile(r"^(?:make|node|penstock pipeline) ", re.MULTILINE)
PYTHON = re.compile(r"^(?:python3|\.venv/bin/python)\b", re.MULTILINE)
ID = re.compile(r"\b(TASK |etzl)[0-9A-Za-z]{10}\b|\b()[0-9a-z]{10}[0-9A-Za-z]{22}\b|(\"ts\": )[0-9]{13}\b")
PROGRAMS = {"penstock": "penstock.cli.main", "rsmqctl": "penstock.cli.rsmq"}
PATIENCE_S = 60.0


def blocks() -> list[tuple[str, str]]:
    """What to type, and what comes of it; that is empty where nothing is said of it."""
    found = BLOCK.findall((ROOT / "README.md").read_text())
    return [(typed, printed) for typed, printed in found if not ELSEWHERE.search(typed)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    names = tuple(dialect.name for dialect in DIALECTS)
    with serving(tmp_path_factory.mktemp("readme") / "data", listen=names) as running:
        yield running


def moved(typed: str, server: Server) -> str:
    """The same for this server and this Python."""
    for dialect in DIALECTS:
        typed = re.sub(rf"\b{dialect.port}\b", str(server.ports[dialect.name]), typed)
    return PYTHON.sub(sys.executable, typed)


def environment(server: Server, folder: Path) -> dict[str, str]:
    """With the programs that are tested under their names."""
    for name, module in PROGRAMS.items():
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m {module} "$@"\n')
        program.chmod(0o755)
    return os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "PENSTOCK_DATA": str(server.data)}


def unnamed(text: str) -> str:
    """Without what is another each time."""
    return ID.sub(r"\1\2\3<id>", text).strip()


def test_there_is_a_message_in_every_dialect_and_through_the_command_line() -> None:
    typed = "".join(typed for typed, _ in blocks())
    assert [dialect.name for dialect in DIALECTS if str(dialect.port) not in typed] == []
    assert "penstock message publish" in typed


@pytest.mark.parametrize(("typed", "printed"), blocks(), ids=[typed.split("\n")[0][:40] for typed, _ in blocks()])
def test_what_is_typed_works_as_it_says(server: Server, tmp_path: Path, typed: str, printed: str) -> None:
    done = subprocess.run(
        ["sh", "-e", "-c", moved(typed, server)],
        cwd=tmp_path,
        env=environment(server, tmp_path),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert not printed or unnamed(done.stdout) == unnamed(printed)
