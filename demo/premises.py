"""Where the story plays: a fresh directory, a configuration, one server at a time, always at the same addresses."""

from __future__ import annotations

import asyncio
import contextlib
import random
import shutil
import socket
from pathlib import Path
from typing import Final

from demo.orders import ATTEMPTS, DEAD, ORDERS, RECEIPTS
from harness.server import Server

HOST: Final = "127.0.0.1"
DIALECTS: Final = ("deferred", "pinpriq", "etzel", "glovebox", "rsmq")
# Below those that the system gives to connections: while the server is dead nobody gets its port by chance.
PORTS: Final = range(20_000, 30_000)
CONFIG: Final = f"""
confirm = "sync"
[dialect.deferred]
queue = "{ORDERS}"
[[policy]]
match = "{ORDERS}"
attempts = {ATTEMPTS}
dead_letter = "{DEAD}"
dedup_s = 120
[[policy]]
match = "{RECEIPTS}"
lease_s = 2
dedup_s = 120
[archive]
seal_s = 1
[listen]
"""


class Premises:
    """One server at a time, killed at the end if it is still there."""

    def __init__(self, root: Path) -> None:
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        self.data = root / "store"
        self.ports = dict(zip(DIALECTS, free_ports(len(DIALECTS)), strict=True))
        self._config = root / "penstock.toml"
        listeners = [f'{name} = "{HOST}:{port}"\n' for name, port in self.ports.items()]
        self._config.write_text(CONFIG + "".join(listeners), encoding="utf-8")
        self._server: Server | None = None

    @property
    def server(self) -> Server:
        assert self._server is not None, "no server was started"
        return self._server

    def url(self, dialect: str) -> str:
        return f"ws://{HOST}:{self.ports[dialect]}/connect"

    async def start(self) -> None:
        self._server = await asyncio.to_thread(Server, self.data, "--config", str(self._config), listen=())

    def kill(self) -> None:
        self.server.kill()
        self.server.wait()

    async def stop(self) -> int:
        return await asyncio.to_thread(self.server.stop)

    def leave(self) -> None:
        if self._server is not None and self._server.process.poll() is None:
            self.kill()

    def counts(self, queue: str) -> dict[str, int]:
        """By the server's own ledger; nothing of a queue that is not there."""
        rows = self.server.get("/api/v1/queues")["queues"]
        found: list[dict[str, int]] = [row["counts"] for row in rows if row["name"] == queue]
        return found[0] if found else {}

    def count(self, queue: str, what: str) -> int:
        return self.counts(queue).get(what, 0)

    def all_archived(self) -> bool:
        behind = self.server.get("/api/v1/status")["archive"]["behind_facts"]
        return bool(behind == 0)


def free_ports(count: int) -> list[int]:
    found: list[int] = []
    for port in random.sample(PORTS, 100):
        if len(found) < count and is_free(port):
            found.append(port)
    return found


def is_free(port: int) -> bool:
    with socket.socket() as probe, contextlib.suppress(OSError):
        probe.bind((HOST, port))
        return True
    return False
