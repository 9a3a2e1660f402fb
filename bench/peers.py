"""Servers under test, each started on a fresh directory and a free port, and stopped by pid."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.server import cpu_seconds, serving


@dataclass(frozen=True)
class Running:
    """A server that accepts connections."""

    pid: int
    port: int

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.pid)


@contextlib.contextmanager
def penstock(confirm: str) -> Iterator[Running]:
    with _directory() as directory, serving(Path(directory, "data"), "--confirm", confirm) as server:
        yield Running(server.pid, server.port)


@contextlib.contextmanager
def beanstalkd(*flags: str) -> Iterator[Running]:
    """With `-b` its log goes to a fresh directory too."""
    with _directory() as directory:
        port = _free_port()
        command = ["beanstalkd", "-l", "127.0.0.1", "-p", str(port)]
        command += ["-b", directory, *flags] if flags else []
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with _stopped(process):
            _wait_for(port, process)
            yield Running(process.pid, port)


@contextlib.contextmanager
def _directory() -> Iterator[str]:
    directory = tempfile.mkdtemp(prefix="penstock-bench-")
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def _stopped(process: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError("the server ended before it accepted a connection")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
            return
        time.sleep(0.02)
    raise TimeoutError(f"nobody listens on port {port}")
