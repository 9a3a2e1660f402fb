"""A message that is yet to be published: its body in whatever form it came, and what may be said with it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from penstock.client.frames import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    json: Any = UNSET  # instead of a body: anything that can be written as JSON
    delay: float | None = None
    ttl: float | None = None
    key: str | bytes | None = None
    priority: int | None = None
    dedup_id: str | None = None
    mark: str | None = None
    row: int | None = None


@dataclass(frozen=True, slots=True)
class Draft(_Said):
    """`Draft("text")`, `Draft(b"bytes")` or `Draft(json=…)`, with any of delay, ttl, key, priority, dedup_id, mark.

    Without a `dedup_id` the client makes one, so that it may repeat the publish; "" has none made. It is the `row`th of
    the list named `mark`: published unless that row, or a later one, was. This may be repeated for ever.
    """

    body: str | bytes | None = None


def entry(draft: Draft, dedup_id: str) -> Entry:
    """As it travels, with this id where it has said none. Raises TypeError or ValueError."""
    if (draft.body is None) == (draft.json is UNSET):
        raise TypeError("a message has a body or json, one of them")
    body = msgspec.json.encode(draft.json) if draft.body is None else draft.body
    made = Entry()
    made.body, made.body64 = text_or_bytes(body)
    if draft.key is not None:
        made.key, made.key64 = text_or_bytes(draft.key)
    made.delay = UNSET if draft.delay is None else seconds(draft.delay)
    made.ttl = UNSET if draft.ttl is None else seconds(draft.ttl)
    made.priority = UNSET if draft.priority is None else draft.priority
    if draft.mark is None:
        made.dedup_id = (dedup_id if draft.dedup_id is None else draft.dedup_id) or UNSET
    else:
        made.mark, made.row = draft.mark, UNSET if draft.row is None else draft.row
        made.dedup_id = draft.dedup_id or UNSET
    return made


def seconds(value: float) -> float:
    """A length of time that can be told. Raises ValueError."""
    if not 0.0 <= value < math.inf:
        raise ValueError(f"not a number of seconds: {value}")
    return value


def text_or_bytes(value: str | bytes) -> tuple[str | UnsetType, bytes | UnsetType]:
    """As text where it is text."""
    if isinstance(value, str):
        return value, UNSET
    try:
        return value.decode(), UNSET
    except UnicodeDecodeError:
        return UNSET, value
