"""Servers under test, each on a directory of the run and a free port of loopback, killed by pid when its block ends."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from bench.compiled import ROOT
from harness.server import serving

START_S = 60.0


@dataclass(frozen=True)
class Running:
    """A server that accepts connections."""

    pid: int
    port: int


Start = Callable[[Path], AbstractContextManager[Running]]


def penstock(confirm: str, dialect: str) -> Start:
    @contextlib.contextmanager
    def start(directory: Path) -> Iterator[Running]:
        with serving(directory / "data", "--confirm", confirm, listen=(dialect,)) as server:
            yield Running(server.pid, server.port)
            server.kill()

    return start


def beanstalkd(*flags: str) -> Start:
    """With flags it keeps a log."""

    def start(directory: Path) -> AbstractContextManager[Running]:
        log = ("-b", str(directory), *flags) if flags else ()
        return started(directory, lambda port: ["beanstalkd", "-l", "127.0.0.1", "-p", str(port), *log])

    return start


def redis(*flags: str) -> Start:
    """Without snapshots; the flags say what becomes of its log."""

    def start(directory: Path) -> AbstractContextManager[Running]:
        fixed = ("--bind", "127.0.0.1", "--dir", str(directory), "--save", "")
        return started(directory, lambda port: ["redis-server", "--port", str(port), *fixed, *flags])

    return start


def nats(directory: Path) -> AbstractContextManager[Running]:
    """JetStream with its files in the directory. No pings, which a tongue would have to answer."""
    (directory / "conf").write_text('ping_interval: "1h"\n', encoding="ascii")
    flags = ("-a", "127.0.0.1", "-js", "-sd", str(directory), "-c", str(directory / "conf"))
    return started(directory, lambda port: ["nats-server", "-p", str(port), *flags])


def echo(dialect: str) -> Start:
    """It keeps no files, and is found from here."""

    def start(directory: Path) -> AbstractContextManager[Running]:
        return started(directory, lambda port: [sys.executable, "-m", "bench.echo", dialect, str(port)], ROOT)

    return start


@contextlib.contextmanager
def started(directory: Path, command: Callable[[int], list[str]], within: Path | None = None) -> Iterator[Running]:
    """A program told its port, once it listens there; its log is in the directory."""
    port = free_port()
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(command(port), stdout=log, stderr=log, cwd=within or directory)
    try:
        wait_for(port, process, directory / "log")
        yield Running(process.pid, port)
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended before it listened:\n{log.read_text(errors='replace')}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
            return
        time.sleep(0.02)
    raise TimeoutError(f"nobody listens on port {port}")
