"""Opening a data directory: its lock, its identity, its journal, and the broker upon them."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Final

import penstock
from penstock.broker.embedded import Embedded
from penstock.codecs.clients import ClientIds
from penstock.codecs.ids import Ids
from penstock.dialects.table import DIALECTS
from penstock.engine.rules import PolicyBook
from penstock.journal.disk import Disk, OsDisk, make_directory
from penstock.journal.lock import ARCHIVIST_LOCK_NAME, DirectoryLock, DirectoryLocked
from penstock.journal.recovery import Recovery
from penstock.journal.segment import segment_numbers
from penstock.journal.snapshot import snapshot_numbers
from penstock.model.policy import Policy
from penstock.model.stages import CONFIRMS
from penstock.server.clock import Clock
from penstock.server.config import Config
from penstock.server.context import dialect_options
from penstock.server.identity import Identity, open_identity
from penstock.server.options import (
    CONFIRM,
    DATA,
    SEGMENT_BYTES,
)

JOURNAL_NAME: Final = "journal"
ARCHIVIST_ENDS_S: Final = 10.0
_LOOK_S: Final = 0.01


@dataclass(frozen=True)
class Store:
    """An open data directory."""

    path: str
    journal_disk: Disk
    identity: Identity
    ids: Ids
    clients: ClientIds
    embedded: Embedded
    recovery: Recovery


def claim(path: str) -> DirectoryLock:
    """Raises DirectoryLocked where another server has it, or the archivist of one that is gone does not end."""
    make_directory(path)
    lock = DirectoryLock(path)
    try:
        _outlive_archivist(path)
    except DirectoryLocked:
        lock.release()
        raise
    return lock


def _outlive_archivist(path: str) -> None:
    """An archivist ends with its server, but not in the same moment; until then it may still take files away."""
    until = time.monotonic() + ARCHIVIST_ENDS_S
    while True:
        try:
            DirectoryLock(path, ARCHIVIST_LOCK_NAME).release()
            return
        except DirectoryLocked:
            if time.monotonic() >= until:
                raise
            time.sleep(_LOOK_S)


def open_store(config: Config, clock: Clock) -> Store:
    """For the holder of its lock. The clock goes on from the last fact.

    Raises BadIdentity, JournalDamaged or JournalDead.
    """
    path = config[DATA]
    make_directory(os.path.join(path, JOURNAL_NAME))
    disk = OsDisk(os.path.join(path, JOURNAL_NAME))
    begun = bool(segment_numbers(disk) or snapshot_numbers(disk))
    identity = open_identity(OsDisk(path), journal_exists=begun)
    confirm = CONFIRMS[config[CONFIRM]]
    embedded = Embedded(disk, identity.store_id, policy_book(config), confirm, config[SEGMENT_BYTES])
    recovery = embedded.open(clock.now_us(), penstock.__version__)
    clock.not_before(embedded.now_us())
    secret = identity.secret_bytes
    return Store(path, disk, identity, Ids(secret), ClientIds(secret), embedded, recovery)


def policy_book(config: Config) -> PolicyBook:
    return PolicyBook(*policy_rows(config))


def policy_rows(config: Config) -> tuple[list[tuple[bytes, Policy]], dict[int, Policy]]:
    """By name, and by dialect. What a `[[policy]]` says of a name wins over what a dialect's own options say of it."""
    patterns = list(config.policies)
    for dialect in DIALECTS:
        patterns += dialect.policies(dialect_options(config, dialect.name))
    return patterns, {dialect.number: dialect.defaults for dialect in DIALECTS}
