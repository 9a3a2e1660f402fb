"""The short version of `python -m torture soak`: a few seconds of everything. Whether it is flat needs an hour; whether
that would be told is tested in test_flatness.py."""

from __future__ import annotations

from dataclasses import fields

from torture.soak import campaign, columns
from torture.soak.flatness import Row
from torture.soak.scenes import SCENES
from torture.soak.steady import Pace

SEEN = ("finished", "expired", "dropped", "failed", "archive_mb", "archivist_mb", "p99_us", "connections", "queues")
PLAN = campaign.Plan(
    seconds=8.0,
    row_s=2.0,
    segment_bytes=1 << 18,
    snapshot_bytes=1 << 20,
    seal_s=0.5,
    pace=Pace(turns=60.0, backlog=500, lease_s=2.0, stay_s=1.5),
)


def test_everything_that_is_done_for_an_hour_can_be_done_for_seconds() -> None:
    told: list[Row] = []
    outcome = campaign.campaign(PLAN, seed=20_260_101, progress=told.append)
    assert outcome.broken == ()
    assert outcome.rows == told
    assert len(told) >= 3
    last = told[-1]
    assert outcome.played > len(SCENES)
    assert outcome.answers > 1_000
    assert last.snapshot > 0
    for name in SEEN:
        assert getattr(last, name) > 0, name


def test_a_row_is_told_in_as_many_columns_as_there_are_heads() -> None:
    row = Row(**dict.fromkeys([field.name for field in fields(Row)], 1.0))  # type: ignore[arg-type]
    assert len(columns.line(row)) == len(columns.HEAD)
