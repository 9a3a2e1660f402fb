"""A server as a process of its own, for tests of its life: started, asked, signalled, waited for."""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import penstock
from harness.server import get

PATIENCE_S = 15.0
SOURCE = Path(penstock.__file__).parents[1]

PROGRAM = """
import os, sys
from penstock.server.app import serve
from penstock.server.config import load
data, file, *listen = sys.argv[1:]
sys.exit(serve(load({"data": data, "limits.segment_bytes": 65536, "listen": listen}, {}, file or None)))
"""

# The same where few files may be open, until the server asks for more.
FEW_FILES_PROGRAM = (
    """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (40, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
"""
    + PROGRAM
)

# The same on a disk that is slow while a file `slow` lies beside the journal, and dead once there is a file `die`.
BAD_DISK_PROGRAM = (
    """
import os, sys, time
import penstock.server.store as store
from penstock.journal.disk import Disk, OsDisk

class BadDisk(Disk):
    def __init__(self, path):
        self._path = path
        self._disk = OsDisk(path)
    def sync(self, handle):
        if self._told("die"):
            raise OSError(5, "Input/output error")
        time.sleep(0.3 if self._told("slow") else 0)
        self._disk.sync(handle)
    def _told(self, name):
        return os.path.exists(os.path.join(self._path, "..", name))

for name in ("names", "read", "create", "reserve", "open", "write", "cut", "close", "rename", "remove", "sync_names"):
    setattr(BadDisk, name, lambda self, *arguments, name=name: getattr(self._disk, name)(*arguments))
store.OsDisk = BadDisk
"""
    + PROGRAM
)


class Process:
    """Started at once; `lines` are what it printed so far."""

    def __init__(
        self,
        data: Path,
        *,
        file: Path | None = None,
        listen: str = "127.0.0.1:0",
        program: str = PROGRAM,
    ):
        self.data = data
        self.lines: list[str] = []
        self._printed: queue.Queue[str] = queue.Queue()
        self._process = subprocess.Popen(
            [sys.executable, "-c", program, str(data), str(file or ""), f"deferred={listen}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
        )
        self._log: list[str] = []
        self._readers = [
            threading.Thread(target=self._read_stdout, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *error: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self.wait()

    def _read_stdout(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._printed.put(line.rstrip("\n"))
        self._printed.put("")

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        self._log.extend(self._process.stderr)

    def log(self) -> str:
        return "".join(self._log)

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._log]

    def ready(self) -> Process:
        while not self.lines or self.lines[-1] != "ready":
            line = self._printed.get(timeout=PATIENCE_S)
            assert line, f"it ended before it was ready:\n{self.log()}"
            self.lines.append(line)
        return self

    def connect(self) -> socket.socket:
        host, _, port = self.lines[0].split(" ")[2].rpartition(":")
        return socket.create_connection((host, int(port)), PATIENCE_S)

    def ask(self, request: bytes) -> bytes:
        """All that is answered to it, on a connection of its own."""
        with self.connect() as client:
            client.sendall(request)
            client.shutdown(socket.SHUT_WR)
            return read_all(client)

    def get(self, path: str) -> Any:
        return get(self.data, path, PATIENCE_S)

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def wait(self) -> int:
        code = self._process.wait(PATIENCE_S)
        for reader in self._readers:
            reader.join(PATIENCE_S)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        return code

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.send(number)
        return self.wait()


def read_all(client: socket.socket) -> bytes:
    pieces = []
    while piece := client.recv(1 << 16):
        pieces.append(piece)
    return b"".join(pieces)
