"""Whether there is room for more: on the disk and in memory. Looked at with every beat and segment; where there is
none, publishing is refused until there is. What ends a message is never refused, for it makes room.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final, NamedTuple

from penstock.broker.embedded import Embedded
from penstock.model.limits import ENDING_BYTES, MESSAGE_MEMORY
from penstock.server.context import resident_bytes
from penstock.server.log import Log

DISK: Final = "disk"
MEMORY: Final = "memory"

_CGROUP_LIMIT: Final = "/sys/fs/cgroup/memory.max"
_PART: Final = 16  # of a segment: the least that is worth a try
_SHARE: Final = 0.8  # of the memory there is, where nobody says a limit


class Limits(NamedTuple):
    """`disk_bytes`: what stays free beside what is needed. `memory_bytes` 0: a share of what the machine has."""

    segment_bytes: int
    disk_bytes: int
    memory_bytes: int


class Machine:
    """What there is, as the operating system tells it."""

    def __init__(self, path: str) -> None:
        self._path = path

    def free_bytes(self) -> int:
        found = os.statvfs(self._path)
        return found.f_bavail * found.f_frsize

    def resident_bytes(self) -> int:
        return resident_bytes()

    def memory_bytes(self) -> int:
        """Of the machine, or of the control group that the process is in."""
        whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        try:
            with open(_CGROUP_LIMIT, "rb") as file:
                said = file.read().strip()
        except OSError:
            return whole
        return min(whole, int(said)) if said.isdigit() else whole


class Room:
    """Driven by the heart's beat."""

    def __init__(self, limits: Limits, machine: Machine, embedded: Embedded, log: Log) -> None:
        self._limits = limits
        self._machine = machine
        self._embedded = embedded
        self._log = log
        self._memory_bytes = limits.memory_bytes or int(machine.memory_bytes() * _SHARE)
        self._wants: dict[str, Callable[[], bool]] = {DISK: self._disk_full, MEMORY: self._memory_full}
        self.lacks = ""  # what there is no room in; empty: there is room
        embedded.on_segment = self.look

    def beat(self, now_us: int) -> None:
        self.look()

    def look(self) -> None:
        self._embedded.journal.reserve_bytes = self._ending_bytes()
        lacks = next((name for name, is_full in self._wants.items() if is_full()), "")
        if lacks != self.lacks:
            self._turn(lacks)

    def status(self) -> dict[str, object]:
        return {
            "refusing": self.lacks,
            "free_bytes": self._machine.free_bytes(),
            "needed_bytes": self._needed_bytes(),
            "memory_limit_bytes": self._memory_bytes,
        }

    def _turn(self, lacks: str) -> None:
        self.lacks = lacks
        self._embedded.refuse(bool(lacks))
        if lacks:
            self._log.warning("publishing refused", lacks=lacks, **self._figures())
        else:
            self._log.info("publishing resumed", **self._figures())

    def _figures(self) -> dict[str, int]:
        return {
            "free_bytes": self._machine.free_bytes(),
            "needed_bytes": self._needed_bytes(),
            "resident_bytes": self._machine.resident_bytes(),
        }

    def _disk_full(self) -> bool:
        """Once it was, a quarter of a segment more must be free than is needed: to and fro helps nobody."""
        free_bytes = self._machine.free_bytes()
        journal = self._embedded.journal
        segment_bytes = self._limits.segment_bytes // (1 if journal.has_spare else _PART)
        if journal.full and free_bytes >= segment_bytes + self._ending_bytes():
            journal.full = False  # the next segment may be tried again; where there is none, a small one too
        spare = self._limits.segment_bytes // 4 if self.lacks == DISK else 0
        return journal.full or free_bytes < self._needed_bytes() + spare

    def _needed_bytes(self) -> int:
        """Two segments and a snapshot: then the archivist can always make room, and whatever lives can end."""
        snapshot = self._embedded.live_bytes() * 5 // 4
        return 2 * self._limits.segment_bytes + snapshot + self._ending_bytes() + self._limits.disk_bytes

    def _ending_bytes(self) -> int:
        return self._embedded.live_messages() * ENDING_BYTES

    def _memory_full(self) -> bool:
        """Memory that messages have left may still be the process's, but it is theirs to come back to."""
        lived = self._embedded.live_bytes() + self._embedded.live_messages() * MESSAGE_MEMORY
        return self._machine.resident_bytes() > self._memory_bytes and lived > self._memory_bytes // 2
