"""Spark, opened for a campaign that ends with its tables; no other campaign must wait for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torture.tables import Tables


@contextmanager
def opened_tables(wanted: bool) -> Iterator[Tables | None]:
    if not wanted:
        yield None
        return
    from torture import tables

    with tables.opened() as opened:
        yield opened
