"""The ways to play a transcript: how its steps are arranged, and how what is sent is cut into segments.

The server must not be able to tell them apart: a way moves bytes between segments, never a request before another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from tests.dialects.notations import Text
from tests.dialects.transcript import Step

Steps = tuple[Step, ...]

AHEAD_MAX = 16
FINE_MAX = 512  # of a longer piece, this much at either end is cut byte by byte
COARSE = 4_096


class Way(NamedTuple):
    """`cut_off` is the beginning of a request, in the dialect that is spoken: it must come to nothing.

    `joins`: requests that were written apart may come together.
    """

    arrange: Callable[[Steps, bytes], Steps]
    cut: Callable[[bytes], list[bytes]]
    joins: bool = False


def as_written(steps: Steps, cut_off: bytes) -> Steps:
    return steps


def pipelined(steps: Steps, cut_off: bytes) -> Steps:
    """Requests in a row are one segment; it joins the one before it, if it needs no id of the answers between them."""
    rows = _rows(steps)
    out: list[Step] = []
    for at, step in enumerate(rows):
        in_company = at + 1 < len(rows) and rows[at + 1].kind == "C"
        target = _joins(out, step) if step.kind == "C" and not in_company else -1
        if target < 0:
            out.append(step)
        else:
            out[target] = replace(out[target], text=out[target].text + step.text)
    return tuple(out)


def _rows(steps: Steps) -> list[Step]:
    out: list[Step] = []
    for step in steps:
        if out and step.kind == out[-1].kind == "C" and step.connection == out[-1].connection:
            out[-1] = replace(out[-1], text=out[-1].text + step.text)
        else:
            out.append(step)
    return out


def _joins(out: list[Step], step: Step) -> int:
    """Where the request is that this one can join across answers; -1: nowhere."""
    at = len(out) - 1
    while at >= 0 and out[at].kind == "S":
        at -= 1
    if at < 0 or out[at].kind != "C" or out[at].connection != step.connection:
        return -1
    known = {subject for before in out[:at] for subject in before.subjects()}
    return at if step.subjects() <= known else -1


def with_trailing_data(steps: Steps, cut_off: bytes) -> Steps:
    """Each request comes with the first bytes of the next one of its connection, the last with a request cut off."""
    out = list(steps)
    for at, step in enumerate(out):
        if step.kind == "C":
            follower = _next(out, at)
            ahead: Text = ()
            if follower < 0:
                ahead = (cut_off,) if step.whole else ()
            else:
                ahead, rest = _split(out[follower].text)
                out[follower] = replace(out[follower], text=rest)
            out[at] = replace(out[at], text=out[at].text + ahead)
    return tuple(out)


def _next(steps: list[Step], at: int) -> int:
    """The next request of the same connection; -1: none before it ends."""
    for later in range(at + 1, len(steps)):
        if steps[later].connection == steps[at].connection:
            if steps[later].kind == "C":
                return later
            if steps[later].kind != "S":
                return -1
    return -1


def _split(text: Text) -> tuple[Text, Text]:
    """Never the last byte: with it a request would be whole before its turn."""
    first = text[0]
    if not isinstance(first, bytes):
        return (), text
    ahead = first[: AHEAD_MAX if len(text) > 1 else min(AHEAD_MAX, len(first) - 1)]
    return (ahead,), (first[len(ahead) :], *text[1:])


def whole(data: bytes) -> list[bytes]:
    return [data]


def byte_by_byte(data: bytes) -> list[bytes]:
    if len(data) <= 2 * FINE_MAX:
        return [data[at : at + 1] for at in range(len(data))]
    middle = data[FINE_MAX:-FINE_MAX]
    pieces = [middle[at : at + COARSE] for at in range(0, len(middle), COARSE)]
    return byte_by_byte(data[:FINE_MAX]) + pieces + byte_by_byte(data[-FINE_MAX:])


WAYS = {
    "whole": Way(as_written, whole),
    "byte by byte": Way(as_written, byte_by_byte),
    "pipelined": Way(pipelined, whole, joins=True),
    "with trailing data": Way(with_trailing_data, whole),
}
