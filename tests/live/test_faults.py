"""Real processes on a disk that fails at a call, once or for good: they say why and end, or go on; nothing is lost.

Each kind of call is tried, of a server's later start in each company it is found in, while a client works at `sync`.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from penstock.broker.embedded import Embedded
from penstock.engine.rules import PolicyBook
from penstock.history import process
from penstock.history.archive import Archive
from penstock.history.archivist import Archivist
from penstock.history.columns import Words
from penstock.history.folding import Folder, Keeping
from penstock.history.shelves import OsShelves
from penstock.journal.disk import Disk, OsDisk
from penstock.journal.segment import segment_numbers
from penstock.journal.snapshot import snapshot_numbers
from penstock.model import stages
from penstock.model.contract import Session
from penstock.model.options import Publishing
from penstock.server import exits
from penstock.server.clock import Clock
from penstock.server.config import load
from penstock.server.store import open_store
from tests.history.test_process import archived
from tests.live.failing import Ended, Failing, Fault, Promises, kinds, places
from tests.live.faulty import SHORT

SEGMENT_BYTES = 65_536
FLAGS = ("--limits-segment-bytes", str(SEGMENT_BYTES), "--confirm", "sync", "--no-archive-enabled")
WORDS = {errno.EIO: "input/output error", errno.ENOSPC: "no space left"}
FAULTS = [(number, for_good) for number in WORDS for for_good in (False, True)]
NO_FAULT = Fault(0, errno.EIO, False)


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Failing]:
    made = Failing(tmp_path_factory.mktemp("faults"))
    yield made
    made.close()


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A data directory that each run has a copy of."""
    made = tmp_path / "base"
    made.mkdir(mode=0o700)
    return made


# -- data directories


class Nobody(Session):
    def __init__(self) -> None:
        super().__init__(3)

    def answered(self, token: int, code: int, message: Any, number: int) -> None:
        pass


def opened(data: Path) -> Embedded:
    config = load({"data": str(data), "limits.segment_bytes": SEGMENT_BYTES}, {}, None)
    return open_store(config, Clock()).embedded


def found(data: Path) -> set[bytes]:
    """What a server finds that starts where the disk is well."""
    embedded = opened(data)
    bodies = {message.body for message in embedded._engine.state().messages.values()}
    embedded.close()
    return bodies


def publish(embedded: Embedded, *bodies: bytes) -> None:
    embedded.begin(embedded.now_us())
    for body in bodies:
        embedded.broker.publish(Nobody(), 1, b"default", body, -1, Publishing(), stages.SYNC)
    embedded.commit()


def lived_in(data: Path, *bodies: bytes) -> set[bytes]:
    """One sealed segment for each."""
    for body in bodies:
        embedded = opened(data)
        publish(embedded, body)
        embedded.close()
    return {*bodies}


def long_lived_in(data: Path) -> set[bytes]:
    """With a snapshot, a sealed segment after it, and one that was in use when its server was killed."""
    there = lived_in(data, b"first")
    fold(data, 2)
    there |= lived_in(data, b"second")
    embedded = opened(data)
    publish(embedded, b"third")
    embedded.journal.sync()
    return there | {b"third"}


def fold(data: Path, sealed_below: int) -> None:
    folder = Folder(journal(data), PolicyBook(), Keeping(1), 77, lambda event, fields: None)
    for _ in folder.fold(sealed_below):
        pass
    folder.sweep(sealed_below)


def journal(data: Path) -> Disk:
    return OsDisk(str(data / "journal"))


def copy(base: Path) -> Path:
    data = base.parent / "data"
    shutil.rmtree(data, ignore_errors=True)
    return Path(shutil.copytree(base, data))


# -- a server


def test_a_first_start_on_a_disk_that_fails(failing: Failing, base: Path) -> None:
    try_all(failing, base, set(), kinds)


def test_a_later_start_on_a_disk_that_fails(failing: Failing, base: Path) -> None:
    try_all(failing, base, long_lived_in(base), places)


def try_all(failing: Failing, base: Path, there: set[bytes], choose: Callable[[list[str]], list[int]]) -> None:
    sound = Promises(set(there))
    ended = failing.serve(copy(base), NO_FAULT, sound, *FLAGS)
    assert (ended.code, sound.perhaps) == (exits.CLEAN, set()), ended.log
    faults = cycle(FAULTS)
    for place in choose(ended.told.splitlines()):
        try_one(failing, base, Fault(place, *next(faults)), set(there))


def try_one(failing: Failing, base: Path, fault: Fault, there: set[bytes]) -> None:
    data, promises = copy(base), Promises(there)
    ended = failing.serve(data, fault, promises, *FLAGS)
    context = f"{fault} {ended}"
    if ended.code == exits.CLEAN:
        assert not promises.perhaps, context
    else:
        assert_says_why(ended, fault, exits.DISK_DIED)
        assert promises.answered_s < ended.failed_s(), f"answered after the disk's death: {context}"
    assert promises.hold(found(data)), context


def assert_says_why(ended: Ended, fault: Fault, code: int) -> None:
    assert ended.code == code, f"{fault} {ended}"
    assert WORDS[fault.errno] in ended.last_words().lower(), f"{fault} {ended}"


@pytest.mark.parametrize("fault", [Fault(1, SHORT, True), Fault(4, SHORT, False), Fault(9, SHORT, False)], ids=str)
def test_writes_that_take_half_of_what_they_are_given_are_gone_on_with(
    fault: Fault, failing: Failing, base: Path
) -> None:
    data, promises = copy(base), Promises(set())
    ended = failing.serve(data, fault, promises, *FLAGS)
    assert (ended.code, ended.last_words(), promises.perhaps) == (exits.CLEAN, "", set())
    assert ended.told.endswith("pwrite")
    assert len(segment_numbers(journal(data))) > 2
    assert promises.hold(found(data))


# -- an archivist

TOLD = " ".join(map(str, process.Told(4, 0, 0, 1, 0)))
FOLDS = ("--snapshot-bytes", "1", "--dialect", "3=deferred")


def test_an_archivist_on_a_disk_that_fails_says_why_and_the_next_one_does_what_it_did_not(
    failing: Failing, base: Path
) -> None:
    there = lived_in(base, b"first", b"second", b"third")
    data = copy(base)
    ended = failing.archive(data, NO_FAULT, TOLD, *FOLDS)
    assert (ended.code, snapshot_numbers(journal(data)), segment_numbers(journal(data))) == (process.DONE, [3], [])
    rows, faults = archived(data), cycle(FAULTS)
    for place in kinds(ended.told.splitlines()):
        data, fault = copy(base), Fault(place, *next(faults))
        ended = failing.archive(data, fault, TOLD, *FOLDS)
        if ended.code != process.DONE:
            assert_says_why(ended, fault, process.FAILED)
            go_on(data)
        assert archived(data) == rows, f"{fault} {ended}"
        assert (snapshot_numbers(journal(data)), segment_numbers(journal(data))) == ([3], []), f"{fault} {ended}"
        assert found(data) == there, f"{fault} {ended}"


def go_on(data: Path) -> None:
    """As the next archivist does, where the disk is well."""
    archive = Archive(OsShelves(str(data / "archive")), 77, lambda file, why: pytest.fail(f"{file}: {why}"))
    archivist = Archivist(journal(data), archive, Words({3: "deferred"}), lambda event, fields: None)
    for _ in archivist.upto(4):
        pass
    fold(data, 4)
