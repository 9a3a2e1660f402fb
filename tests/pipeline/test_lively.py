"""The lively day is one: everything a report shows happens in it, and in the order of time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from penstock.history.schema import SCHEMA
from penstock.model import facts
from penstock.pipeline.archive import names
from tests.pipeline.histories import cut, write_archive
from tests.pipeline.lively import DAY, MIDNIGHT_US, OUTAGE, PLANTS, lively_day


def test_everything_happens_in_it_in_order() -> None:
    rows = lively_day().facts
    kinds = Counter(row["fact"] for row in rows)
    for kind in ("published", "leased", "finished", "released", "dropped"):
        assert kinds[kind] > 10, kinds
    assert {row["dialect"] for row in rows} >= {"etzel", "pinpriq", "deferred", "glovebox"}
    assert {row["queue"] for row in rows if row["queue"]} == {*(plant.queue for plant in PLANTS), "orders.dead"}
    times = [row["at_us"] for row in rows]
    assert times == sorted(times)
    assert times[0] >= MIDNIGHT_US
    assert times[-1] < MIDNIGHT_US + DAY


def test_most_drops_are_of_the_outage() -> None:
    dropped = [row for row in lively_day().facts if row["fact_code"] == facts.DROPPED]
    hours = [(row["at_us"] - MIDNIGHT_US) / DAY * 24 for row in dropped]
    assert sum(OUTAGE[0] <= hour < OUTAGE[1] + 0.2 for hour in hours) > len(hours) / 2


def test_it_is_the_same_every_time_and_fits_an_archive(tmp_path: Path) -> None:
    rows = lively_day().facts
    assert rows == lively_day().facts
    write_archive(tmp_path, cut(rows, 1_000))
    assert len(names(tmp_path)) == 2
    assert set(rows[0]) <= set(SCHEMA.names)
