"""A disk in memory that forgets like a real one: what was not synced may be gone after a power cut, in any part.

It can fail any operation, once or for good, and stop the world before any. Operations are counted from 1.
"""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Iterator
from itertools import combinations, count

from penstock.journal.disk import Disk

SECTOR = 512
FEW = 5  # up to so many changes in doubt, every combination of them is tried


class PowerCut(BaseException):
    """The machine stops here. Not an Exception: nothing may catch it and go on."""


class Change:
    """One sector of a write, or a cut: kept by a power cut wholly or not at all."""

    def __init__(self, at: int, data: bytes | None) -> None:
        self.at = at
        self.data = data

    def apply(self, content: bytearray) -> None:
        if self.data is None:
            del content[self.at :]
            return
        content.extend(bytes(max(0, self.at + len(self.data) - len(content))))
        content[self.at : self.at + len(self.data)] = self.data


class File:
    """`content` is what processes see, `durable` what a power cut leaves, `pending` the changes between them."""

    def __init__(self, content: bytes) -> None:
        self.content = bytearray(content)
        self.durable = bytearray(content)
        self.pending: list[Change] = []
        self.doubtful: list[Change] = []  # their sync failed: seen until the power goes, and no later sync saves them

    def change(self, at: int, data: bytes | None) -> None:
        changes = [Change(at, None)] if data is None else [Change(*piece) for piece in _sectors(at, data)]
        for change in changes:
            change.apply(self.content)
        self.pending += changes

    def sync(self) -> None:
        for change in self.pending:
            change.apply(self.durable)
        self.pending = []


class Naming:
    """A change of names: kept by a power cut wholly or not at all."""

    def __init__(self, gone: str | None, come: str | None, file: File) -> None:
        self.gone = gone
        self.come = come
        self.file = file

    def apply(self, names: dict[str, File]) -> None:
        if self.gone is not None:
            names.pop(self.gone, None)
        if self.come is not None:
            names[self.come] = self.file


class SimDisk(Disk):
    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        self.files = {name: File(content) for name, content in (files or {}).items()}
        self.durable_names = dict(self.files)
        self.namings: list[Naming] = []
        self.handles: dict[int, File] = {}
        self.numbers = count(1_000)
        self.operations: list[str] = []
        self.cut_before = 0  # the operation that the power does not live to see; 0: none
        self.fail_at = 0  # the operation that fails; 0: none
        self.fail_errno = errno.EIO
        self.fails_for_good = False
        self.eats_syncs = False  # says that it synced, and does not

    # -- the interface

    def names(self) -> list[str]:
        self._operate("names")
        return list(self.files)

    def read(self, name: str) -> bytes:
        self._operate(f"read {name}")
        return bytes(self._file(name).content)

    def read_part(self, name: str, at: int, size: int) -> bytes:
        self._operate(f"read_part {name}")
        return bytes(self._file(name).content[at : at + size])

    def size(self, name: str) -> int:
        self._operate(f"size {name}")
        return len(self._file(name).content)

    def create(self, name: str, size: int) -> int:
        self._operate(f"create {name}")
        file = self._new(name)
        file.change(0, bytes(size // 2))
        self._operate(f"fill {name}")
        file.change(size // 2, bytes(size - size // 2))
        file.sync()
        return self._handle(file)

    def reserve(self, name: str, size: int) -> int:
        self._operate(f"reserve {name}")
        file = self._new(name)
        whole = Change(0, bytes(size))  # how large a file is: the disk knows that as one thing
        whole.apply(file.content)
        file.pending.append(whole)
        return self._handle(file)

    def open(self, name: str) -> int:
        self._operate(f"open {name}")
        return self._handle(self._file(name))

    def write(self, handle: int, at: int, data: bytes) -> None:
        try:
            self._operate("write")
        except OSError:
            self.handles[handle].change(at, data[: len(data) // 2])
            raise
        self.handles[handle].change(at, data)

    def sync(self, handle: int) -> None:
        file = self.handles[handle]
        try:
            self._operate("sync")
        except OSError:
            file.doubtful += file.pending
            file.pending = []
            raise
        if not self.eats_syncs:
            file.sync()

    def doubt(self, handle: int) -> None:
        self._operate("doubt")

    def cut(self, handle: int, size: int) -> None:
        self._operate("cut")
        self.handles[handle].change(size, None)

    def close(self, handle: int) -> None:
        self._operate("close")
        del self.handles[handle]

    def rename(self, old: str, new: str) -> None:
        self._operate(f"rename {old} {new}")
        self._name(Naming(old, new, self._file(old)))

    def remove(self, name: str) -> None:
        self._operate(f"remove {name}")
        self._name(Naming(name, None, self._file(name)))

    def sync_names(self) -> None:
        self._operate("sync_names")
        if not self.eats_syncs:
            self.durable_names = dict(self.files)
            self.namings = []

    # -- what may be left of it

    def contents(self) -> dict[str, bytes]:
        """What processes see: all of it outlives a process that is killed."""
        return {name: bytes(file.content) for name, file in self.files.items()}

    def after_kill(self) -> SimDisk:
        """The same machine, with its memory, for the next process."""
        self.handles = {}
        self.cut_before = self.fail_at = 0
        return self

    def crash_states(self, seed: int = 0) -> Iterator[SimDisk]:
        """Disks as they may look when the power comes back."""
        files, doubts = self._in_doubt()
        for kept in _choices(len(doubts), random.Random(seed)):
            yield self._crashed(files, [doubts[place] for place in sorted(kept)])

    def crash_state(self, chance: random.Random) -> SimDisk:
        """One of them."""
        files, doubts = self._in_doubt()
        kept = chance.choice((0.0, 0.5, 0.9, 1.0))
        return self._crashed(files, [doubt for doubt in doubts if chance.random() < kept])

    def _in_doubt(self) -> tuple[list[File], list[Change | Naming]]:
        named = [*self.durable_names.values(), *self.files.values(), *(naming.file for naming in self.namings)]
        files = list({id(file): file for file in named}.values())
        doubts: list[Change | Naming] = [change for file in files for change in [*file.doubtful, *file.pending]]
        return files, [*doubts, *self.namings]

    def _crashed(self, files: list[File], kept: list[Change | Naming]) -> SimDisk:
        names = dict(self.durable_names)
        for doubt in kept:
            if isinstance(doubt, Naming):
                doubt.apply(names)
        contents: dict[int, bytes] = {}
        for file in files:
            content = bytearray(file.durable)
            for change in [*file.doubtful, *file.pending]:
                if change in kept:
                    change.apply(content)
            contents[id(file)] = bytes(content)
        return SimDisk({name: contents[id(file)] for name, file in names.items()})

    # -- inside

    def _operate(self, what: str) -> None:
        self.operations.append(what)
        now = len(self.operations)
        if self.cut_before and now >= self.cut_before:
            raise PowerCut
        if self.fail_at and (now == self.fail_at or (self.fails_for_good and now > self.fail_at)):
            raise OSError(self.fail_errno, os.strerror(self.fail_errno))

    def _name(self, naming: Naming) -> None:
        naming.apply(self.files)
        self.namings.append(naming)

    def _new(self, name: str) -> File:
        if name in self.files:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
        file = File(b"")
        self._name(Naming(None, name, file))
        return file

    def _file(self, name: str) -> File:
        if name not in self.files:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        return self.files[name]

    def _handle(self, file: File) -> int:
        handle = next(self.numbers)
        self.handles[handle] = file
        return handle


def _sectors(at: int, data: bytes) -> Iterator[tuple[int, bytes]]:
    end = at + len(data)
    while at < end:
        upto = min(end, (at // SECTOR + 1) * SECTOR)
        yield at, data[len(data) - (end - at) : len(data) - (end - upto)]
        at = upto


def _choices(doubts: int, chance: random.Random) -> Iterator[tuple[int, ...]]:
    """Which of so many changes in doubt are kept: of a few all combinations, of many the telling ones and more."""
    if doubts <= FEW:
        for size in range(doubts + 1):
            yield from combinations(range(doubts), size)
        return
    everything = tuple(range(doubts))
    for place in everything:
        yield everything[:place]
        yield everything[:place] + everything[place + 1 :]
        yield (place,)
    yield everything
    for _ in range(8):
        yield tuple(place for place in everything if chance.random() < 0.5)
