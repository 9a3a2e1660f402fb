"""penstock in a process whose clocks somebody else may set while it runs: `python -m harness.clocks FILE serve …`.

The file has how far the wall clock and the machine's elapsed time have been moved. What is moved is what the process
reads of them; the clock of the loop's timers stands still while a machine sleeps, and is left alone here too.
"""

from __future__ import annotations

import mmap
import struct
import sys
import time
from pathlib import Path

_LAYOUT = struct.Struct("=qq")  # wall, elapsed; nanoseconds


class Clocks:
    """The file, as a test sees it."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(_LAYOUT.size))
        self.program = ("-m", "harness.clocks", str(path))
        self._moved = Moved(path)

    def jump(self, seconds: float) -> None:
        """Somebody sets the wall clock."""
        self._moved.by(round(seconds * 1e9), 0)

    def suspend(self, seconds: float) -> None:
        """The machine slept for so long."""
        self._moved.by(round(seconds * 1e9), round(seconds * 1e9))


class Moved:
    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), _LAYOUT.size)

    def by(self, wall_ns: int, elapsed_ns: int) -> None:
        before = _LAYOUT.unpack(self._shared)
        _LAYOUT.pack_into(self._shared, 0, before[0] + wall_ns, before[1] + elapsed_ns)

    @property
    def wall_ns(self) -> int:
        return int(_LAYOUT.unpack(self._shared)[0])

    @property
    def elapsed_ns(self) -> int:
        return int(_LAYOUT.unpack(self._shared)[1])


def move(moved: Moved) -> None:
    """From now on this process reads moved clocks."""
    wall_ns, clock_ns = time.time_ns, time.clock_gettime_ns

    def read_wall_ns() -> int:
        return wall_ns() + moved.wall_ns

    def read_clock_ns(clock: int) -> int:
        return clock_ns(clock) + (moved.elapsed_ns if clock == time.CLOCK_BOOTTIME else 0)

    time.time_ns = read_wall_ns
    time.time = lambda: read_wall_ns() / 1e9
    time.clock_gettime_ns = read_clock_ns


if __name__ == "__main__":
    move(Moved(Path(sys.argv.pop(1))))
    from penstock.cli.main import main

    main()
