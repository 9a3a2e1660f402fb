"""kill -9 under load in all dialects: the short version of `make torture`."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness.server import Server
from torture import kill
from torture.crowd.history import LOST, tally
from torture.crowd.mix import SPEAKS

KILLS = 8


def test_kills_of_a_server_and_its_archivist_break_no_law_of_any_dialect() -> None:
    outcome = kill.campaign(KILLS, seed=20_260_101)
    assert outcome.broken == ()
    assert outcome.kills == KILLS
    assert outcome.archivists > 0
    for dialect in SPEAKS:
        assert outcome.counts["published", dialect] > 50
        assert outcome.counts["delivered", dialect] > 20
        assert outcome.counts["finished", dialect] > 20


class Forgetful(kill.Trial):
    """Whoever starts finds nothing of what was there."""

    def _start(self, confirm: str) -> Server:
        shutil.rmtree(self._data, ignore_errors=True)
        return super()._start(confirm)


def test_what_a_server_has_forgotten_is_missed(tmp_path: Path) -> None:
    outcome = Forgetful(tmp_path, 4, "write").run(1, None)
    assert tally(outcome.broken)[LOST] > 0
