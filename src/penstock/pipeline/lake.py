"""The lake as files: parts in directories, and one manifest that says which of them count. It must not know Spark.

Law: the manifest is written last, and whole. A directory it does not name does not exist, whoever began to write it;
so a run that was killed at any point has changed nothing, and the next one writes over what it left.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

VERSION: Final = 1
LAKE_NAME: Final = "lake"
MANIFEST: Final = "manifest.json"
LOCK: Final = "lock"
RUNS_KEPT: Final = 20
# What no manifest names any longer may still be read by somebody who began before.
UNREAD_S: Final = 600


class LakeInUse(Exception):
    """Another run has the lake."""


class NoLake(ValueError):
    """What is there is no lake that this version can go on with; in words."""


class Part(msgspec.Struct, frozen=True):
    """A directory with rows of one table, below the lake. `day`: of its last fact."""

    path: str
    day: str
    level: int = 0  # how often it was compacted


class SegmentFile(msgspec.Struct, frozen=True):
    """A file of the archive that was taken in and is read where it is."""

    segment: int
    first: int
    last: int
    path: str  # below the archive
    day: str  # of its first fact, as the archive has it


class Run(msgspec.Struct, frozen=True):
    id: str
    batch: int
    started_us: int
    seconds: float
    segments: int
    facts: int
    quarantined: int
    compared: int = 0  # queues whose totals equal the server's counters


class Manifest(msgspec.Struct):
    """What the lake holds. `taken`: the facts that are in it, as ranges of numbers, both ends included."""

    version: int = VERSION
    store: str = ""
    batch: int = 0
    generation: int = 0  # of compaction
    now_us: int = 0  # when the last fact happened
    taken: list[tuple[int, int]] = []
    files: list[SegmentFile] = []
    parts: dict[str, list[Part]] = {}
    facts: int = 0  # of messages, in all batches
    ended: dict[str, int] = {}  # lives that are over and their facts, in all batches
    quarantined: int = 0
    runs: list[Run] = []
    forgotten_before: str = ""  # messages that ended before this day are in gold alone

    def has(self, first: int) -> bool:
        return any(low <= first <= high for low, high in self.taken)

    def paths(self) -> set[str]:
        return {part.path for parts in self.parts.values() for part in parts}

    def last_fact(self) -> int:
        return max((high for _, high in self.taken), default=0)

    def missing(self) -> list[tuple[int, int]]:
        """Facts between those taken that never came."""
        return [(one[1] + 1, two[0] - 1) for one, two in zip(self.taken, self.taken[1:], strict=False)]


def joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same numbers as the fewest ranges, in order."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return found


class Lake:
    """A directory that every process of the Spark cluster sees under the same name."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()

    def manifest(self) -> Manifest:
        """Raises NoLake."""
        try:
            found = msgspec.json.decode((self.root / MANIFEST).read_bytes(), type=Manifest)
        except FileNotFoundError:
            return Manifest()
        except msgspec.DecodeError as error:
            raise NoLake(f"its manifest cannot be read: {error}") from None
        if found.version != VERSION:
            raise NoLake(f"it is of version {found.version}, and this program makes version {VERSION}")
        return found

    def publish(self, manifest: Manifest, before: Manifest) -> None:
        """The one moment at which anything changes."""
        for path in manifest.paths() - before.paths():
            _sync_tree(self.root / path)
        fresh = self.root / f"{MANIFEST}.{os.getpid()}"
        with fresh.open("wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(manifest)))
            os.fsync(file.fileno())
        fresh.replace(self.root / MANIFEST)
        _sync(self.root)

    @contextmanager
    def held(self) -> Iterator[None]:
        """One run at a time. Raises LakeInUse."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / LOCK).open("wb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LakeInUse from None
            yield

    def paths(self, parts: Iterable[Part]) -> list[str]:
        return [str(self.root / part.path) for part in parts]

    def sweep(self, manifest: Manifest, unread_s: float = UNREAD_S) -> int:
        """Remove directories that no manifest names and nobody can be reading. Gives how many."""
        named = {self.root / path for path in manifest.paths()}
        before = time.time() - unread_s
        gone = [path for path in self._directories() if not _near(path, named) and path.stat().st_mtime < before]
        for path in gone:
            shutil.rmtree(path)
        return len(gone)

    def _directories(self) -> list[Path]:
        """Where parts are: below a table's directory, or one deeper."""
        return [path for table in self.root.iterdir() if table.is_dir() for path in _leaves(table)]


def _leaves(table: Path) -> Iterator[Path]:
    for path in table.iterdir():
        inner = [below for below in path.iterdir() if below.is_dir()] if path.is_dir() else []
        yield from inner or ([path] if path.is_dir() else [])


def _near(path: Path, named: set[Path]) -> bool:
    return path in named or path.parent in named


def _sync_tree(path: Path) -> None:
    for folder, _, names in os.walk(path):
        for name in names:
            _sync(Path(folder, name))
        _sync(Path(folder))
    _sync(path.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
