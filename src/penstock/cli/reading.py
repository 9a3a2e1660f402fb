"""What a journal holds for commands that go through all of it, with a bar and with damage told in words. Nothing is
changed, and a server may be writing meanwhile: the last complete commit is the end."""

from __future__ import annotations

from collections.abc import Callable

from penstock.cli.directory import WatchedDisk, journal_path
from penstock.cli.program import Damaged
from penstock.cli.progress import progress
from penstock.codecs.facts import Fact
from penstock.journal import check
from penstock.journal.recovery import Restore
from penstock.journal.segment import JournalDamaged


def read_journal(data: str, restore: Restore, learn: Callable[[Fact], None], review: bool = False) -> None:
    """The newest snapshot, then every fact after it; `review`: those before it too, as far as they are there.

    Raises Damaged where one cannot be read, or cannot follow on those before it.
    """
    with progress("reading the journal") as tell:
        disk = WatchedDisk(journal_path(data), tell)
        try:
            (check.review if review else check.replay)(disk, restore, learn)
        except JournalDamaged as damaged:
            advice = "`penstock journal verify` lists every problem."
            raise Damaged(f"the journal is damaged: {damaged}", advice) from None
