"""A journal's facts for commands that go through all of them, with a bar and with damage told in words. Nothing is
changed, and a server may be writing meanwhile: the last complete commit is the end."""

from __future__ import annotations

from collections.abc import Callable

from penstock.cli.directory import WatchedDisk, journal_path
from penstock.cli.program import Damaged
from penstock.cli.progress import progress
from penstock.codecs.facts import BadFact, Fact
from penstock.journal import check
from penstock.journal.segment import JournalDamaged


def read_journal(data: str, learn: Callable[[Fact], None]) -> None:
    """Raises Damaged where a fact cannot be read, or cannot follow on those before it."""
    with progress("reading the journal") as tell:
        disk = WatchedDisk(journal_path(data), tell)
        try:
            for fact in check.read(disk):
                learn(fact)
        except (JournalDamaged, BadFact) as damaged:
            advice = "`penstock journal verify` lists every problem."
            raise Damaged(f"the journal is damaged: {damaged}", advice) from None
