"""When `penstock pipeline run --every` begins again."""

from __future__ import annotations

import pytest

from penstock.cli.pipeline_run import LOOK_S, pause_s


@pytest.mark.parametrize(
    ("every_s", "took_s", "found", "pause"),
    [
        (30.0, 4.0, True, 26.0),
        (30.0, 31.0, True, 0.0),
        (30.0, 0.25, False, LOOK_S - 0.25),
        (0.5, 0.25, False, 0.25),
    ],
)
def test_runs_begin_so_long_after_each_other_and_soon_where_nothing_was_new(
    every_s: float, took_s: float, found: bool, pause: float
) -> None:
    assert pause_s(every_s, took_s, found) == pause
