"""What a JSON decoder lets pass and we do not: a key said twice, too deep a nesting, bytes that are no UTF-8.

It judges text that has been decoded already, so it looks closely only where a quick glance leaves a doubt.
"""

from __future__ import annotations

import json
import re
from typing import Final

from mypy_extensions import i64

from penstock.model.limits import JSON_DEPTH_MAX

_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"')
_BRACKETS: Final = re.compile(rb"[][{}]")
_OPENING: Final = b"[{"
_SPACE: Final = 0x20  # all white space is no greater
_QUOTE: Final = 0x22
_BACKSLASH: Final = 0x5C
_COLONS_MAX: Final = 1_000  # looked at one by one; beyond, a second reading is quicker


def is_sound(payload: bytes, fields: i64) -> bool:
    """`fields`: how many members of the object were decoded, of those that its type knows.

    Every member has a colon, so as many colons as members leave no room for a second one of the same name.
    """
    if not payload.isascii() and not _is_text(payload):
        return False
    if _has_room(payload, fields) and not _is_distinct(payload):
        return False
    return payload.count(b"[") + payload.count(b"{") <= JSON_DEPTH_MAX or depth(payload) <= JSON_DEPTH_MAX


def _has_room(payload: bytes, fields: i64) -> bool:
    """There may be more members than these. A colon that ends a key stands behind its quote, or behind white space; a
    quote in a text stands behind a backslash, unless that is one of two."""
    colons: i64 = payload.count(b":")
    if colons <= fields or colons > _COLONS_MAX:
        return colons > fields
    at: i64 = payload.find(b":")
    while at >= 3:
        before: i64 = payload[at - 1]
        quoted = payload[at - 2] == _BACKSLASH and payload[at - 3] != _BACKSLASH
        if before <= _SPACE or (before == _QUOTE and not quoted):
            fields -= 1
        at = payload.find(b":", at + 1)
    return fields < 0


def depth(payload: bytes) -> int:
    """The deepest nesting of a text that is JSON."""
    deepest = here = 0
    for bracket in _BRACKETS.findall(_STRING.sub(b"", payload)):
        here += 1 if bracket in _OPENING else -1
        deepest = max(deepest, here)
    return deepest


def _is_text(payload: bytes) -> bool:
    try:
        payload.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_distinct(payload: bytes) -> bool:
    try:
        json.loads(payload, object_pairs_hook=_distinct)
    except (ValueError, RecursionError):
        return False
    return True


def _distinct(pairs: list[tuple[str, object]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a key said twice")
