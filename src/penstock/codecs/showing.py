"""A text or a body as JSON shows it. Both dialects that speak JSON show a message's body in this way."""

from __future__ import annotations

from typing import Final

import msgspec

from penstock.codecs.plain import is_plain

_ENCODE: Final = msgspec.json.Encoder().encode


def quoted(text: str) -> bytes:
    return _ENCODE(text)


def shown(body: bytes) -> bytes:
    """A string where the bytes are UTF-8, else a list of them."""
    if is_plain(body):
        return b'"' + body + b'"'
    try:
        return _ENCODE(body.decode())
    except UnicodeDecodeError:
        return _ENCODE(list(body))
