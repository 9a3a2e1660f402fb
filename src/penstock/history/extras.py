"""The columns of what came with a publish beyond the ordinary: few rows have any, and only those are decoded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa

from penstock.codecs import names
from penstock.codecs.facts import BadFact, decode_origin
from penstock.history.records import BadRow
from penstock.history.rows import Rows
from penstock.history.schema import SCHEMA
from penstock.model import facts
from penstock.model.message import Origin

_SIGN: Final = 1 << 63


def text(value: bytes) -> str:
    """UTF-8 as it is; anything else as names are shown."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return names.show(value)


def _said_text(value: bytes) -> str | None:
    return text(value) if value else None


def _signed(value: int) -> int | None:
    """A label has 64 bits and no sign; the column has one."""
    return (value if value < _SIGN else value - 2 * _SIGN) or None


# column -> what it holds of an origin; None: nothing was said
COLUMNS: Final[dict[str, Callable[[Origin], str | int | None]]] = {
    "principal": lambda origin: _said_text(origin.principal),
    "poster": lambda origin: origin.poster or None,
    "label": lambda origin: _signed(origin.label),
    "notify": lambda origin: origin.notify or None,
    "dedup_id": lambda origin: _said_text(origin.dedup_id),
    "foreign_id": lambda origin: _said_text(origin.foreign_id),
    "trace": lambda origin: _said_text(origin.trace),
    "dead_of": lambda origin: origin.dead_of or None,
    "dead_from": lambda origin: None if origin.dead_from is None else names.show(origin.dead_from),
    "attempt": lambda origin: origin.deliveries,
}


def origin_columns(rows: Rows) -> dict[str, pa.Array]:
    """Raises BadRow where an extra cannot be read."""
    where = np.flatnonzero((rows["extra"] > 0) & rows.among(facts.PUBLISHED))
    origins = [_origin(rows, int(row)) for row in where]
    places = pa.nulls(len(rows), pa.int32())
    if origins:
        told = np.zeros(len(rows), np.int32)
        told[where] = np.arange(len(where))
        places = pa.array(told, mask=~np.isin(np.arange(len(rows)), where))
    return {name: _spread(name, [value(origin) for origin in origins], places) for name, value in COLUMNS.items()}


def _origin(rows: Rows, row: int) -> Origin:
    try:
        return decode_origin(rows.extra(row)) or Origin()
    except BadFact as error:
        raise BadRow(rows.first + row, f"cannot be read: {error}") from None


def _spread(name: str, values: list[Any], places: pa.Array) -> pa.Array:
    kind = SCHEMA.field(name).type
    if not any(value is not None for value in values):
        return pa.nulls(len(places), kind)
    return pa.array(values, kind).take(places)
