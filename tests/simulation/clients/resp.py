"""RESP as a client hears it: bytes, which may not be all there, to answers."""

from __future__ import annotations

from typing import Any

from tests.dialects.redis_model import Error


class Incomplete(Exception):
    """The rest of the answer is yet to come."""


def answer(data: bytes, at: int) -> tuple[Any, int]:
    """The one that begins there, and where it ends. Raises Incomplete."""
    end = data.find(b"\r\n", at)
    if end < 0:
        raise Incomplete
    kind, said, at = data[at : at + 1], data[at + 1 : end], end + 2
    if kind in b"+-":
        return (Error if kind == b"-" else str)(said.decode("latin-1")), at
    if kind == b":":
        return int(said), at
    length = int(said)
    if length < 0:
        return None, at
    return _bulk(data, at, length) if kind == b"$" else _array(data, at, length)


def _bulk(data: bytes, at: int, length: int) -> tuple[bytes, int]:
    if len(data) < at + length + 2:
        raise Incomplete
    return data[at : at + length], at + length + 2


def _array(data: bytes, at: int, length: int) -> tuple[list[Any], int]:
    found = []
    for _ in range(length):
        one, at = answer(data, at)
        found.append(one)
    return found, at
