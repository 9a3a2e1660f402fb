"""What is measured of a running server, its archivist and the machine, from outside: /proc, files, and its status."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from bench.backlog import resident_mb
from bench.load import cpu_s, machine_s
from harness.server import Server
from torture.soak.flatness import Row
from torture.soak.probe import Probe

MB = 1e6
LIVE = ("delayed", "ready", "parked", "leased")
KNOWN = 200  # bytes in a snapshot that a message takes beside its body, at most


class Gauges:
    """Each reading is of the time since the one before it."""

    def __init__(self, server: Server, probe: Probe, snapshot_bytes: int) -> None:
        self._server = server
        self._probe = probe
        self._snapshot_bytes = snapshot_bytes
        self._journal_bytes = 0  # the most that was seen since the last reading
        self._began_s = time.monotonic()
        self._clocks = self._read_clocks()

    def look(self) -> None:
        """Between readings: what comes and goes in step with them would not be seen."""
        self._journal_bytes = max(self._journal_bytes, disk_bytes(self._server.data / "journal"))

    def read(self) -> Row:
        self.look()
        journal_bytes, self._journal_bytes = self._journal_bytes, 0
        status = self._server.get("/api/v1/status")
        p50_us, p99_us, echo_p99_us = self._probe.told()
        server_share, own_share, others_share = self._shares()
        counts = status["counts"]
        return Row(
            hours=(time.monotonic() - self._began_s) / 3_600,
            server_mb=resident_mb(self._server.pid),
            archivist_mb=archivist_mb(status["archive"]["pid"]),
            own_mb=resident_mb(os.getpid()),
            p50_us=p50_us,
            p99_us=p99_us,
            echo_p99_us=echo_p99_us,
            journal_mb=journal_bytes / MB,
            journal_max_mb=self._journal_max_bytes(counts) / MB,
            archive_mb=disk_bytes(self._server.data / "archive") / MB,
            snapshot=status["snapshot"]["segment"] or 0,
            files=len(os.listdir(f"/proc/{self._server.pid}/fd")),
            threads=len(os.listdir(f"/proc/{self._server.pid}/task")),
            connections=sum(listener["connections"] for listener in status["listeners"]),
            queues=status["queues"],
            live=sum(counts[name] for name in LIVE),
            facts=status["journal"]["next_fact"] - 1,
            **{name: counts[name] for name in ("published", "finished", "dropped", "expired", "failed")},
            server_share=server_share,
            own_share=own_share,
            others_share=others_share,
        )

    def _journal_max_bytes(self, counts: dict[str, Any]) -> int:
        live_bytes = counts["body_bytes"] + KNOWN * sum(counts[name] for name in LIVE)
        return int(3 * live_bytes + self._snapshot_bytes)

    def _shares(self) -> tuple[float, float, float]:
        """Of a core: what the server took, what this process did, and what all others."""
        before, self._clocks = self._clocks, self._read_clocks()
        spent, server, own, machine = (now - then for now, then in zip(self._clocks, before, strict=True))
        return server / spent, own / spent, max(machine - server - own, 0.0) / spent

    def _read_clocks(self) -> tuple[float, float, float, float]:
        return time.monotonic(), cpu_s(self._server.pid), cpu_s(os.getpid()), machine_s()


def archivist_mb(pid: int | None) -> float:
    """0: there is none at this moment."""
    try:
        return resident_mb(pid) if pid else 0.0
    except (OSError, RuntimeError):
        return 0.0


def disk_bytes(directory: Path) -> int:
    """Of files that may go while it looks."""
    total = 0
    for place, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except FileNotFoundError:
                continue
    return total
