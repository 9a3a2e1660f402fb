"""RabbitMQ as a peer: a node of its own, with its own directory, ports and port mapper; nothing of the system's node.

It takes seconds to start, so one node serves a whole run, halted by a signal while others are measured.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.servers import Running, free_port, wait_for

# Behind the wrapper in the path, which changes the user: Debian's place for it.
PROGRAM: Final = "/usr/lib/rabbitmq/bin/rabbitmq-server"


class Node:
    """Started at its first use, halted between uses, ended by `close`."""

    def __init__(self) -> None:
        self._mapper: subprocess.Popen[bytes] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0

    @contextlib.contextmanager
    def start(self, directory: Path) -> Iterator[Running]:
        if self._process is None:
            self._launch(Path(tempfile.mkdtemp(dir=directory.parent)))
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)
        try:
            yield Running(self._process.pid, self._port)
        finally:
            os.kill(self._process.pid, signal.SIGSTOP)

    def _launch(self, directory: Path) -> None:
        mapper_port, self._port = free_port(), free_port()
        with (directory / "out").open("wb") as out:
            mapper = ["epmd", "-address", "127.0.0.1", "-port", str(mapper_port)]
            self._mapper = subprocess.Popen(mapper, stdout=out, stderr=out)
            self._process = subprocess.Popen(
                [PROGRAM],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd=directory,
                env=environment(directory, self._port, mapper_port),
            )
        wait_for(self._port, self._process, directory / "out")

    def close(self) -> None:
        for process in (self._process, self._mapper):
            if process is not None:
                process.kill()
                process.wait()
        self._process = self._mapper = None


NODE: Final = Node()


def environment(directory: Path, port: int, mapper_port: int) -> dict[str, str]:
    """The node's whole world in one directory. With input allowed the script becomes the node: its pid is ours."""
    (directory / "plugins").write_text("[].\n", encoding="ascii")
    (directory / "env").touch()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "ERL_EPMD_PORT": str(mapper_port),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODENAME": "bench@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_MNESIA_BASE": str(directory / "mnesia"),
        "RABBITMQ_LOG_BASE": str(directory / "log"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(directory / "plugins"),
        "RABBITMQ_CONFIG_FILE": str(directory / "rabbitmq"),
        "RABBITMQ_CONF_ENV_FILE": str(directory / "env"),
        "RABBITMQ_ALLOW_INPUT": "1",
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-noinput",
    }
