"""What a cut has left: the messages that live in a journal, which is read as it stands and never changed."""

from __future__ import annotations

from pathlib import Path

from penstock.codecs.facts import Fact
from penstock.engine.replay import Silence, apply
from penstock.engine.rules import PolicyBook
from penstock.engine.snapshots import restore
from penstock.engine.state import State
from penstock.journal import check
from penstock.journal.disk import OsDisk
from penstock.server.store import JOURNAL_NAME


def bodies(data: Path) -> set[bytes]:
    """Raises JournalDamaged."""
    state = State(PolicyBook(), Silence())

    def rebuild(kind: int, rows: int, payload: bytes) -> None:
        restore(state, kind, rows, payload)

    def learn(fact: Fact) -> None:
        apply(state, fact)

    if (data / JOURNAL_NAME).exists():
        check.replay(OsDisk(str(data / JOURNAL_NAME)), rebuild, learn)
    return {bytes(message.body) for message in state.messages.values()}
