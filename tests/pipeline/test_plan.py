"""The plan of a replay: what was chosen stays chosen, in order, whole or not there at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.pipeline.lake import Lake, Manifest
from penstock.pipeline.plan import COLUMNS, Bodiless, Chosen, Plan, Row, Said

SAID = Said("again", "outcome = 'dropped'", "orders", "00112233445566778899", 1, Chosen(3, 9, []))


def a_row(number: int, body: bytes = b"body", key: bytes | None = None) -> Row:
    return Row(number, "orders", "dropped", 1_000, 0, key, body)


def a_part(path: Path, rows: Sequence[Row]) -> Path:
    columns = [pa.array(values, field.type) for values, field in zip(zip(*rows, strict=True), COLUMNS, strict=True)]
    pq.write_table(pa.Table.from_arrays(columns, schema=COLUMNS), path)
    return path


def test_rows_come_back_in_the_order_of_the_parts(tmp_path: Path) -> None:
    plan = Plan(Lake(tmp_path), "again")
    rows = [a_row(1, b""), a_row(5, bytes(range(256)), b"\xff"), a_row(9)]
    parts = [a_part(tmp_path / "0.parquet", rows[:2]), a_part(tmp_path / "1.parquet", rows[2:])]
    plan.keep(SAID, parts)
    assert list(plan.rows()) == rows
    assert plan.first(2) == rows[:2]
    assert plan.first(9) == rows
    assert plan.said() == SAID


def test_there_is_no_plan_before_it_is_kept(tmp_path: Path) -> None:
    assert Plan(Lake(tmp_path), "again").said() is None


def test_a_plan_that_is_there_stays(tmp_path: Path) -> None:
    plan = Plan(Lake(tmp_path), "again")
    plan.keep(SAID, [a_part(tmp_path / "0.parquet", [a_row(1)])])
    plan.keep(SAID, [a_part(tmp_path / "1.parquet", [a_row(2)])])
    assert list(plan.rows()) == [a_row(1)]
    assert [path.name for path in plan.path.parent.iterdir()] == ["again.parquet"]


def test_a_lake_that_is_swept_keeps_its_plans(tmp_path: Path) -> None:
    plan = Plan(Lake(tmp_path), "again")
    plan.keep(SAID, [a_part(tmp_path / "0.parquet", [a_row(1)])])
    Lake(tmp_path).sweep(Manifest(), unread_s=-1)
    assert plan.said() == SAID


def test_a_mark_names_the_question_and_the_store_whose_numbers_its_rows_are() -> None:
    other = msgspec.structs.replace(SAID, to="mails")
    assert SAID.mark().startswith("replay again ")
    assert SAID.mark().endswith(" of 00112233")
    assert other.mark() != SAID.mark()


def test_what_lacks_a_body_is_counted() -> None:
    assert Chosen(0, 0, [Bodiless("a", 2, True), Bodiless("b", 3, False)]).lacking() == 5
