"""Stores with RSMQ's keys, each a process on a free port of loopback, and the stock programs that speak to them."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

from bench import servers
from harness.server import serving
from penstock.cli.rsmq import PROGRAM, rsmq
from tests.interop.nodes import PATIENCE_S, ROOT


class Outcome(NamedTuple):
    """How a program ended, and what it said."""

    code: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Target:
    """A store that accepts connections."""

    port: int

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def redis_cli(self, *words: str) -> str:
        """What it prints for people."""
        return ran(["redis-cli", "--no-raw", "-p", str(self.port), *words]).stdout

    def ours(self, *words: str) -> Outcome:
        """`rsmqctl` of penstock, in this process."""
        result = CliRunner().invoke(rsmq, words, prog_name=PROGRAM, env={"REDIS_URL": self.url})
        return Outcome(result.exit_code, result.stdout, result.stderr)

    def stock(self, *words: str) -> Outcome:
        """PyPI's, in its own environment."""
        done = ran([str(venv("rsmqctl") / "rsmqctl"), *words], {"REDIS_URL": self.url}, code=None)
        return Outcome(done.returncode, done.stdout, done.stderr)


def venv(name: str) -> Path:
    """The programs of a virtual environment that `make stock` has made."""
    folder = ROOT / "build" / f"{name}-venv" / "bin"
    assert folder.is_dir(), f"{folder} is missing: make stock"
    return folder


def ran(
    command: list[str], environment: dict[str, str] | None = None, *, code: int | None = 0
) -> subprocess.CompletedProcess[str]:
    """To its end, which must be with this code, if one is given."""
    done = subprocess.run(
        command,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
    assert code is None or done.returncode == code, done.stdout + done.stderr
    return done


@contextlib.contextmanager
def _penstock(directory: Path) -> Iterator[Target]:
    with serving(directory / "data", "--confirm", "write", listen=("rsmq",)) as server:
        yield Target(server.port)


@contextlib.contextmanager
def _redis(directory: Path) -> Iterator[Target]:
    with servers.redis("--appendonly", "no")(directory) as server:
        yield Target(server.port)


STORES: dict[str, Callable[[Path], AbstractContextManager[Target]]] = {"penstock": _penstock, "redis": _redis}
