"""Answers of the dialect `glovebox` that hold lists, as JSON: what was published, what is given out, what was done."""

from __future__ import annotations

from typing import Final

import msgspec

from penstock.codecs.glovebox_shapes import Given
from penstock.codecs.ids import Ids, high, low
from penstock.model import codes
from penstock.model.message import Lease

_TRUE_FALSE: Final = (b"false", b"true")


def published(label: int, ids: Ids, outcomes: list[tuple[int, int]]) -> bytes:
    """Of each a code and a number; of a row that its mark has passed, where the mark has come to."""
    shown: list[bytes] = []
    for code, number in outcomes:
        if code == codes.ALREADY:
            shown.append(f'{{"already":{number}}}'.encode())
            continue
        pair = ids.pair(number)
        place = f'{{"shard":{high(pair)},"sequence":{low(pair)},"duplicate":'
        shown.append(place.encode() + _TRUE_FALSE[code == codes.DUPLICATE] + b"}")
    return _answer(b"published", label, b",".join(shown))


def reserved(label: int, ids: Ids, leases: list[Lease]) -> bytes:
    return _answer(b"reserved", label, b",".join([_given(lease, ids) for lease in leases]))


def whether(kind: bytes, label: int, outcomes: list[tuple[int, int]]) -> bytes:
    return _answer(kind, label, b",".join([_TRUE_FALSE[code == codes.OK] for code, _ in outcomes]))


def _answer(kind: bytes, label: int, messages: bytes) -> bytes:
    return b'{"type":"' + kind + b'","label":' + str(label).encode() + b',"messages":[' + messages + b"]}"


def _given(lease: Lease, ids: Ids) -> bytes:
    message = lease.message
    pair = ids.pair(message.order)
    given = Given(
        shard=high(pair),
        sequence=low(pair),
        priority=message.priority,
        deliveries=lease.deliveries,
        failures=lease.failures,
        published_us=message.published_us,
    )
    body = _text(message.body)
    if body is None:
        given.body64 = message.body
    else:
        given.body = body
    if message.key is not None:
        key = _text(message.key)
        if key is None:
            given.key64 = message.key
        else:
            given.key = key
    return msgspec.json.encode(given)


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
