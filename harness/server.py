"""A real penstock server as a process: started on a directory, asked, killed, started again. It kills nothing else."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penstock.server import door

START_S = 60.0
STOP_S = 30.0
PROGRAM = ("-m", "penstock.cli.main")


class NotStarted(RuntimeError):
    """A server that ended before it was ready."""

    def __init__(self, code: int, log: str) -> None:
        super().__init__(f"the server did not start (exit {code}):\n{log}")
        self.code = code


class Server:
    """Listens on free ports of loopback; its log is beside its data directory, unless another place is named."""

    def __init__(
        self,
        data: Path,
        *flags: str,
        listen: tuple[str, ...] = ("deferred",),
        program: tuple[str, ...] = PROGRAM,
        log: Path | None = None,
    ) -> None:
        command = [sys.executable, *program, "serve", "--data", str(data)]
        for name in listen:
            command += ["--listen", f"{name}=127.0.0.1:0"]
        data.parent.mkdir(parents=True, exist_ok=True)
        self.data = data
        self.ports: dict[str, int] = {}
        self._log = (log or data.parent / f"{data.name}.log").open("ab")
        self.process = subprocess.Popen([*command, *flags], stdout=subprocess.PIPE, stderr=self._log, text=True)
        try:
            self._await_ready()
        except BaseException:
            self.process.kill()
            raise

    def _await_ready(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            word, *rest = line.split()
            if word == "listening":
                self.ports[rest[0]] = int(rest[1].rpartition(":")[2])
            elif word == "ready":
                return
        raise NotStarted(self.wait(), self.log())

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def port(self) -> int:
        """Of the first listener."""
        return next(iter(self.ports.values()))

    def log(self) -> str:
        return Path(self._log.name).read_text(encoding="utf-8", errors="replace")

    def get(self, path: str) -> Any:
        return get(self.data, path)

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.pid)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        code = self.process.wait(STOP_S)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._log.close()
        return code

    def stop(self) -> int:
        """SIGTERM; the exit code, 0 for a clean stop."""
        self.process.terminate()
        return self.wait()


@contextlib.contextmanager
def serving(
    data: Path,
    *flags: str,
    listen: tuple[str, ...] = ("deferred",),
    program: tuple[str, ...] = PROGRAM,
    log: Path | None = None,
) -> Iterator[Server]:
    """A server for the length of a block; killed if the block left it running."""
    server = Server(data, *flags, listen=listen, program=program, log=log)
    try:
        yield server
        if server.process.poll() is None:
            server.stop()
    finally:
        if server.process.poll() is None:
            server.kill()
            server.wait()


def get(data: Path, path: str, patience_s: float = STOP_S) -> Any:
    """What the server on this directory answers on its admin routes."""
    connection = http.client.HTTPConnection("penstock", timeout=patience_s)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(patience_s)
    with door.socket_path(data) as place:
        connection.sock.connect(place)
    connection.request("GET", path)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return answer


def cpu_seconds(pid: int) -> float:
    """User and system time a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
