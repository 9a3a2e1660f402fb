"""The archive's directories in memory, on disks that forget like real ones, with one count of operations for all."""

from __future__ import annotations

import errno
import os

from penstock.history.shelves import Shelves
from penstock.journal.disk import Disk
from tests.journal.simdisk import PowerCut, SimDisk


class Power:
    """Goes before an operation, counted from 1 over all disks, or has it fail, once or for good; 0: never."""

    def __init__(self, cut_before: int = 0, fail_at: int = 0, fail_errno: int = errno.EIO, for_good: bool = False):
        self.cut_before = cut_before
        self.fail_at = fail_at
        self.fail_errno = fail_errno
        self.for_good = for_good
        self.operations = 0

    def operate(self) -> None:
        self.operations += 1
        if self.operations == self.cut_before:
            raise PowerCut
        if self.fail_at and (self.operations == self.fail_at or (self.for_good and self.operations > self.fail_at)):
            raise OSError(self.fail_errno, os.strerror(self.fail_errno))


class PoweredDisk(SimDisk):
    def __init__(self, power: Power, files: dict[str, bytes] | None = None) -> None:
        super().__init__(files)
        self._power = power

    def _operate(self, what: str) -> None:
        self._power.operate()
        super()._operate(what)


class SimShelves(Shelves):
    """Directories come and go at once; what is in them does not."""

    def __init__(self, power: Power | None = None, disks: dict[str, dict[str, bytes]] | None = None) -> None:
        self.power = power or Power()
        self.disks = {name: PoweredDisk(self.power, files) for name, files in (disks or {}).items()}

    def partitions(self) -> list[str]:
        self.power.operate()
        return sorted(self.disks)

    def disk(self, partition: str) -> Disk:
        self.power.operate()
        return self.disks.setdefault(partition, PoweredDisk(self.power))

    def remove(self, partition: str) -> None:
        self.power.operate()
        assert self.disks.pop(partition).contents() == {}

    # -- what is left

    def files(self) -> dict[str, bytes]:
        """By partition/name, as processes see them."""
        return {f"{part}/{name}": data for part, disk in self.disks.items() for name, data in disk.contents().items()}

    def after_kill(self) -> SimShelves:
        return SimShelves(disks={name: disk.contents() for name, disk in self.disks.items()})

    def after_power_cut(self, seed: int) -> list[SimShelves]:
        """Some of the states that may be left."""
        states = {name: list(disk.crash_states(seed)) for name, disk in self.disks.items()}
        most = max([1, *map(len, states.values())])
        return [
            SimShelves(disks={name: found[turn % len(found)].contents() for name, found in states.items()})
            for turn in range(most)
        ]
