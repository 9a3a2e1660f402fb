"""What a campaign of kills prints at its end."""

from __future__ import annotations

from collections import Counter

from torture.crowd.history import EARLY, KINDS, LOST
from torture.kill import Outcome, result


def test_the_result_has_a_column_for_all_that_must_be_zero_and_a_row_for_all_that_was_told() -> None:
    counts = Counter({("published", "deferred"): 12_345, ("finished", "rsmq"): 7})
    outcome = Outcome(1_000, 250, 80, 20, 20, 99, counts, (f"{LOST}: a", f"{LOST}: b", f"{EARLY}: c"))
    title, heads, zeros, *told = result(outcome)
    assert title == "1000 kills, 250 of archivists, 80 snapshots, tables of 20 of 20 directories compared"
    assert heads.lstrip().split("  ") == [*KINDS, "other"]
    assert zeros.split() == ["must", "be", "0", "2", "0", "1", "0", "0", "0", "0", "0"]
    assert told == [
        "           deferred  glovebox  pinpriq  etzel  rsmq",
        "published     12345         0        0      0     0",
        "delivered         0         0        0      0     0",
        " finished         0         0        0      0     7",
    ]


def test_outcomes_add_up() -> None:
    one = Outcome(1, 2, 3, 4, 5, 6, Counter({("published", "etzel"): 1}), ("a",))
    both = one + one
    assert both == Outcome(2, 4, 6, 8, 10, 12, Counter({("published", "etzel"): 2}), ("a", "a"))
    assert (both.total("published"), both.total("finished")) == (2, 0)
