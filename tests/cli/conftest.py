"""A way to run commands as a user would, and one real server that the commands of all tests speak to."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from penstock.cli.main import main
from tests.cli.shapes import assert_documented

START_S = 20
STOP_S = 15
SMALL = ("--confirm", "write", "--limits-segment-bytes", str(64 << 10))


@pytest.fixture(autouse=True)
def _no_configuration_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PENSTOCK_")]:
        monkeypatch.delenv(name)


@dataclass(frozen=True)
class Shell:
    """Runs commands in this process, on one data directory."""

    data: Path

    def __call__(self, *words: str, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(main, words, input=stdin, env={"PENSTOCK_DATA": str(self.data)})

    def text(self, *words: str, stdin: str | bytes | None = None) -> str:
        """What a command prints that must not fail."""
        result = self(*words, stdin=stdin)
        assert (result.exit_code, result.stderr) == (0, ""), result.output
        return result.stdout

    def json(self, *words: str) -> Any:
        """The same as JSON, which must be of the documented shape."""
        value = json.loads(self.text(*words, "--output", "json"))
        assert_documented(" ".join(words[:2]), value)
        return value


@contextmanager
def hearing_ctrl_c() -> Iterator[None]:
    """What is started within hears SIGINT, also where the tests themselves were started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def program(*words: str) -> list[str]:
    """The command line of a process of its own."""
    return [sys.executable, "-m", "penstock.cli.main", *words]


class Server:
    """A server as a process of its own; `lines` are those it printed up to `ready`."""

    def __init__(self, data: Path, *flags: str) -> None:
        words = program("serve", "--data", str(data), "--listen", "deferred=127.0.0.1:0", *flags)
        self.data = data
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.lines = self._until_ready()

    def _until_ready(self) -> list[str]:
        said: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._hear, args=(said,), daemon=True).start()
        lines = [said.get(timeout=START_S)]
        while lines[-1] != "ready\n":
            lines.append(said.get(timeout=START_S))
        return lines

    def _hear(self, said: queue.Queue[str]) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                said.put(line)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_S)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("server") / "data", *SMALL)
    yield running
    assert running.stop() == 0


@pytest.fixture
def shell(server: Server) -> Shell:
    """Commands that speak to the server."""
    return Shell(server.data)


@pytest.fixture
def away(tmp_path: Path) -> Shell:
    """Commands on a directory that no server has."""
    return Shell(tmp_path / "data")


@pytest.fixture
def fresh(request: pytest.FixtureRequest) -> Callable[[], str]:
    """Names of queues that no other test uses."""
    names = (f"{request.node.name} {number}" for number in range(100))
    return lambda: next(names)


@pytest.fixture
def configured(tmp_path: Path) -> Iterator[Shell]:
    """Commands that speak to a server with a policy in its configuration."""
    file = tmp_path / "penstock.toml"
    file.write_text('[[policy]]\nmatch = "orders*"\nlease_s = 30\n')
    running = Server(tmp_path / "data", *SMALL, "--config", str(file))
    yield Shell(running.data)
    assert running.stop() == 0


class Scene:
    """A queue whose messages die at their first failure, and its dead letters."""

    def __init__(self, shell: Shell, queue: str) -> None:
        self.shell = shell
        self.queue = queue
        self.dead = f"{queue} dead"
        shell.text("queue", "create", queue, "--attempts", "1", "--dead-letter", self.dead)

    def kill(self, *bodies: str, flags: tuple[str, ...] = ()) -> list[str]:
        ids = [self.shell.text("message", "publish", self.queue, body, *flags).strip() for body in bodies]
        self.shell.text("message", "reserve", self.queue, "--max", "1000")
        self.shell.text("message", "release", *ids, "--failed")
        return ids

    def ready(self, queue: str) -> list[str]:
        found = self.shell.json("message", "peek", queue, "--limit", "1000")["messages"]
        return [message["body"] for message in found]


@pytest.fixture
def scene(shell: Shell, fresh: Callable[[], str]) -> Scene:
    return Scene(shell, fresh())
