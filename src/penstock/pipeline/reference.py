"""docs/tables.md, made from the schema. A test compares the page with what this gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from penstock.pipeline.schema import TABLES, Column, Table

_HEAD: Final = """\
# Tables, column by column

This page is made from `src/penstock/pipeline/schema.py`; change it there, then `make docs`. How the tables come to be
and how to ask them is in [pipeline](pipeline.md).

Times are microseconds since 1970, UTC, and end in `_at_us` (`timestamp_micros(ended_at_us)` makes a timestamp of one);
lengths of time are microseconds too and end in `_us`. What is not known, or has not happened, is null.
"""
_COLUMNS: Final = "| column | type | unit | what it is |\n|---|---|---|---|"


def tables_markdown() -> str:
    return "\n".join([_HEAD, *[line for table in TABLES for line in _section(table)]])


def _section(table: Table) -> Iterator[str]:
    yield f"## {table.name}\n"
    yield f"One row is {table.row}.\n"
    yield _COLUMNS
    yield from map(_row, table.columns)
    yield ""


def _row(column: Column) -> str:
    return f"| `{column.name}` | {column.type} | {column.unit} | {column.about} |"
