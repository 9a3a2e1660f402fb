"""The power is cut under load: the short version of `python -m torture power`.

Where the machine does not allow a disk to be cut off, these are skipped and say so; every crash state of a simulated
disk is gone through in tests/journal all the same.
"""

from __future__ import annotations

import pytest

from torture.crowd.history import LOST
from torture.power import cuts, loopdisk

SEED = 20_260_229  # its second cut comes while the server starts


@pytest.fixture(scope="module", autouse=True)
def disks() -> None:
    if why := loopdisk.possible():
        pytest.skip(f"this machine does not allow power cuts, none was made: {why}")


def test_what_was_told_at_sync_survives_power_cuts_and_nothing_is_told_after_them() -> None:
    outcome = cuts.campaign(cuts=3, seed=SEED)
    assert outcome.broken == ()
    assert (outcome.cuts, outcome.lost, outcome.returned, outcome.late) == (3, 0, 0, 0)
    assert outcome.told > 100


def test_where_every_fsync_is_eaten_the_same_campaign_sees_the_loss() -> None:
    outcome = cuts.campaign(cuts=1, seed=SEED, eats=True)
    assert any(line.startswith(LOST) for line in outcome.broken)
    assert outcome.lost > 0
