"""What a table says: a verdict for each row, and its place in a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import tables
from bench.rounds import groups
from bench.rows import CONFIRMS, PEERS, SHAPES, rows
from bench.speed import Line, behind, lines, table, wavering


def test_every_durability_and_shape_has_its_rows() -> None:
    table = list(rows())
    assert len({str(row) for row in table}) == len(table)
    peers = {(row.durability, row.peer.name) for row in table if row.ours.name == "deferred"}
    assert len(peers) == len(PEERS) + 3  # RSMQ without its lookups, at each durability
    for confirm in CONFIRMS:
        for shape in SHAPES:
            assert any(row.durability == confirm and row.shape == shape for row in table)


def test_no_floor_is_above_its_goal() -> None:
    assert all(row.floor <= row.goal for row in rows())


def test_a_round_measures_each_system_once_beside_those_it_is_compared_with() -> None:
    made = groups(list(rows()))
    measured = [one for group in made for one in group]
    assert len(measured) == len(set(measured))
    assert all(len({(system.durability, shape) for system, shape in group}) == 1 for group in made)


@pytest.mark.parametrize(("value", "verdict"), [(0.9, tables.BELOW), (1.0, "floor"), (1.5, "goal")])
def test_the_verdict_follows_from_floor_and_goal(value: float, verdict: str) -> None:
    assert tables.at_least(value, 1.0, 1.2) == verdict
    assert tables.at_most(-value, -1.0, -1.2) == verdict


def result(rate: float) -> dict[str, float]:
    return {"rate": rate, "p50_us": 1.0, "p99_us": 2.0, "server_us": 3.0, "load_share": 0.5, "others_share": 0.1}


def test_a_row_tells_the_median_of_the_ratios_of_the_rounds() -> None:
    row = next(row for row in rows() if row.floor == 0.85)
    line = Line(row, [result(90), result(80), result(10)], [result(100), result(100), result(100)])
    assert line.ratio() == pytest.approx(0.8)
    made = table([line])
    assert made.verdicts == [tables.BELOW]
    assert "0.10 to 0.90" in made.plain()
    assert "ready beanstalkd 1 x 1 (0.80)" in behind([line])


@pytest.mark.parametrize(
    ("ratios", "goes_on"),
    [((1.1, 1.3), True), ((1.3, 1.1), True), ((1.19, 1.2), True), ((1.2, 1.3), False), ((1.1, 1.19), False)],
)
def test_a_row_whose_rounds_lie_on_both_sides_of_its_floor_goes_on(ratios: tuple[float, ...], goes_on: bool) -> None:
    row = next(row for row in rows() if row.floor == 1.2)
    line = Line(row, [result(ratio) for ratio in ratios], [result(1) for _ in ratios])
    assert wavering([line]) == ([row] if goes_on else [])


def test_a_row_has_the_rounds_in_which_both_of_its_systems_were_measured() -> None:
    one, other = [row for row in rows() if row.shape == SHAPES[0] and row.durability == "ready"][:2]
    assert one.ours is other.ours
    results = {
        (one.ours, one.shape): [result(1), result(2), result(3)],
        (one.peer, one.shape): [result(1), result(1), result(1)],
        (other.peer, other.shape): [result(1)],
    }
    assert [line.ratios() for line in lines([one, other], results)] == [[1, 2, 3], [1]]


def test_a_table_takes_its_place_in_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- x: made by make bench -->\nold\n<!-- /x -->\nafter\n")
    tables.write(page, "x", tables.Table("x", ("a", "b"), [("1", "2")], ["goal"]).markdown())
    made = "| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert page.read_text() == f"before\n<!-- x: made by make bench -->\n{made}\n<!-- /x -->\nafter\n"
    with pytest.raises(ValueError, match="no place"):
        tables.write(page, "y", made)
