"""A whole house on simulated disks: identity, journal, snapshots, archive. Every operation of a life fails in turn.

Laws: the server stops and says why, or goes on and loses nothing; what stops the archivist does not stop the server,
takes nothing away, and is made good by the next one; on a good disk everything that was promised is there.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import pytest

from penstock.broker.embedded import Embedded
from penstock.codecs.snapshots import MESSAGES
from penstock.engine.rules import PolicyBook
from penstock.history import archivist
from penstock.history.archive import Archive
from penstock.history.archivist import Archivist
from penstock.history.columns import Words
from penstock.history.files import Told, decode, encode
from penstock.history.folding import Folder, Keeping
from penstock.history.records import Segment
from penstock.history.rescue import Rescue
from penstock.journal.journal import JournalDead
from penstock.journal.snapshot import is_founded, snapshot_numbers
from penstock.model import codes, stages
from penstock.model.contract import Session
from penstock.model.limits import DAY_US
from penstock.model.options import Publishing, Reserving
from penstock.server.identity import open_identity
from tests.engine.test_snapshots import assert_same
from tests.history.histories import WORDS
from tests.history.simshelves import Power, PoweredDisk, SimShelves
from tests.history.test_folding import fold, lived, replayed
from tests.history.test_rescue import broken
from tests.journal.simdisk import SimDisk

START_US = 1_700_000_000_000_000
SEGMENT_BYTES = 2_048
WORDS_OF = {errno.EIO: "input/output error", errno.ENOSPC: "no space left"}
EVERY_FAULT = pytest.mark.parametrize(
    ("number", "for_good"),
    [
        pytest.param(number, for_good, id=f"{errno.errorcode[number]} {'for good' if for_good else 'once'}")
        for number in WORDS_OF
        for for_good in (False, True)
    ],
)


class Client(Session):
    """Publishes, reserves and finishes at `sync`, and remembers what it was told."""

    def __init__(self) -> None:
        super().__init__(4)
        self.there: set[bytes] = set()
        self.asked: dict[int, tuple[str, bytes]] = {}
        self.leased: list[tuple[int, bytes]] = []
        self.answers = 0

    def answered(self, token: int, code: int, message: Any, number: int) -> None:
        self.answers += 1
        verb, body = self.asked.pop(int(token))
        if code == codes.OK:
            getattr(self, verb)(body, message)

    def published(self, body: bytes, message: Any) -> None:
        self.there.add(body)

    def reserved(self, body: bytes, message: Any) -> None:
        self.leased.append((int(message.order), message.body))

    def finished(self, body: bytes, message: Any) -> None:
        self.there.discard(body)

    def holds(self, found: set[bytes]) -> bool:
        """Of what was asked without an answer, nobody knows."""
        perhaps = {body for _, body in self.asked.values()}
        return self.there - perhaps <= found <= self.there | perhaps


class House:
    """A server and an archivist upon disks that one power drives."""

    def __init__(self, power: Power) -> None:
        self.power = power
        self.root, self.journal, self.shelves = PoweredDisk(power), PoweredDisk(power), SimShelves(power)
        self.client = Client()
        self.token = 0
        self.now_us = START_US
        self.died = ""
        self.failures: list[str] = []

    def live(self) -> None:
        """Two servers, the second without an end; an archivist beside each."""
        try:
            self.serve(seed=1)
            self.serve(seed=2, ends=False)
        except (JournalDead, OSError) as error:
            self.died = str(error)

    def serve(self, seed: int, ends: bool = True) -> None:
        embedded, chance = self.opened(), Random(seed)
        for turn in range(15):
            if turn % 4 == 1:
                embedded.prepare_spare()
            self.work(embedded, chance)
            if turn in (6, 13):
                self.keep(int(embedded.journal.segment))
        if ends:
            embedded.close()

    def opened(self) -> Embedded:
        begun = bool(self.journal.names())
        identity = open_identity(self.root, journal_exists=begun)
        embedded = Embedded(self.journal, identity.store_id, PolicyBook(), stages.SYNC, SEGMENT_BYTES)
        embedded.open(self.now_us, "test")
        return embedded

    def work(self, embedded: Embedded, chance: Random) -> None:
        self.now_us += int(DAY_US) // 30
        embedded.begin(self.now_us)
        body = b"%d " % self.token + chance.randbytes(chance.randint(0, 200))
        self.ask(embedded.broker.publish, "published", body, b"q", body, -1, Publishing(create=True))
        if self.client.leased:
            order, leased = self.client.leased.pop()
            self.ask(embedded.broker.finish, "finished", leased, b"q", order, 0, 0)
        elif chance.random() < 0.5:
            self.ask(embedded.broker.reserve, "reserved", b"", b"q", Reserving(lease_us=int(DAY_US)))
        embedded.commit()
        if embedded.wants_sync():
            embedded.start_sync()()
            embedded.finish_sync()

    def ask(self, verb: Callable[..., None], done: str, body: bytes, *arguments: Any) -> None:
        self.token += 1
        self.client.asked[self.token] = done, body
        verb(self.client, self.token, *arguments, stages.SYNC)

    def keep(self, sealed_below: int) -> None:
        """One life of an archivist: what it cannot do, the next one does."""
        try:
            archive = Archive(self.shelves, 77, self._unreadable)
            archiving = Archivist(self.journal, archive, WORDS, lambda event, fields: None)
            for _ in archiving.upto(sealed_below):
                pass
            folder = Folder(self.journal, PolicyBook(), Keeping(1), 77, lambda event, fields: None)
            for _ in folder.fold(sealed_below):
                pass
            folder.sweep(archiving.next_segment)
        except OSError as error:
            self.failures.append(str(error))

    def _unreadable(self, file: str, why: str) -> None:
        raise AssertionError(f"{file}: {why}")

    # -- what is left

    def found(self) -> set[bytes]:
        """By a server on disks that are well."""
        self.power.fail_at = 0
        self.now_us += 1
        embedded = self.opened()
        bodies = {message.body for message in embedded._engine.state().messages.values()}
        embedded.close()
        self.keep(int(embedded.journal.segment))
        return bodies

    def archived(self) -> list[tuple[int, int]]:
        """The first and the last fact of each file."""
        files = sorted(self.shelves.files().items(), key=lambda file: file[0].partition("/")[2])
        told = [decode(content) for _, content in files]
        return [(one.first, one.last) for one in told]


@pytest.fixture(autouse=True, scope="module")
def quickly() -> Iterator[None]:
    """All houses have one identity, and so the same segments: each is encoded once."""
    known: dict[tuple[bytes, tuple[int, ...]], tuple[bytes, Told]] = {}

    def encoded(segment: Segment, store_id: bytes, queues: Mapping[int, bytes], words: Words) -> tuple[bytes, Told]:
        key = bytes(segment.data), tuple(queues)
        if key not in known:
            known[key] = encode(segment, store_id, queues, words)
        return known[key]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(archivist, "encode", encoded)
        patched.setattr(secrets, "token_hex", lambda size: "5e" * size)
        yield


def without_trouble() -> House:
    house = House(Power())
    house.live()
    assert (house.died, house.failures, house.client.asked) == ("", [], {})
    return house


def test_the_life_in_these_tests_has_everything() -> None:
    house = without_trouble()
    assert len(house.archived()) > 3
    assert len(house.shelves.disks) > 1
    assert snapshot_numbers(house.journal)[0] > 2
    assert 10 < len(house.client.there) < 28
    assert house.client.holds(house.found())


@EVERY_FAULT
def test_whatever_operation_fails_nothing_is_lost(number: int, for_good: bool) -> None:
    stopped = 0
    for moment in range(1, without_trouble().power.operations + 1):
        house = House(Power(0, moment, number, for_good))
        assert_costs_nothing(house)
        stopped += bool(house.died)
    assert stopped > 50


def assert_costs_nothing(house: House) -> None:
    house.live()
    power = house.power
    context = (power.fail_at, power.fail_errno, power.for_good, house.died, house.failures)
    assert all(WORDS_OF[power.fail_errno] in said.lower() for said in [house.died, *house.failures] if said), context
    assert house.died or not house.client.asked, context
    assert house.client.holds(house.found()), context
    assert [name for name in [*house.root.files, *house.journal.files] if name[-1].isdigit()] == [], "left over"
    files = house.archived()
    assert [first for first, _ in files] == [1, *[last + 1 for _, last in files[:-1]]], context


@pytest.fixture(scope="module")
def contents() -> dict[str, bytes]:
    """A snapshot, and several segments after it."""
    disk = SimDisk()
    lived(disk)
    fold(disk, 5).sweep(1 << 60)
    return disk.contents()


@EVERY_FAULT
def test_a_rescue_on_a_disk_that_fails_can_be_done_again(
    contents: dict[str, bytes], number: int, for_good: bool
) -> None:
    expected = broken(contents, MESSAGES)
    Rescue(expected, 77).put_back()
    operations = len(expected.operations)
    state, _ = replayed(expected)
    for moment in range(1, operations + 1):
        disk = broken(contents, MESSAGES)
        disk.operations.clear()
        disk.fail_at, disk.fail_errno, disk.fails_for_good = moment, number, for_good
        with pytest.raises(OSError, match=os.strerror(disk.fail_errno)):
            Rescue(disk, 77).put_back()
        disk.after_kill()
        if not is_founded(disk):
            Rescue(disk, 77).put_back()
        assert_same(replayed(disk)[0], state)
