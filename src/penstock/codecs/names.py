"""Queue names are any bytes; this is how people read and write them. `parse(show(name)) == name` for every name.

UTF-8 is shown as it is. Bytes that are not UTF-8, `%` itself and characters nobody can see are shown as `%XX`.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

_PERCENT: Final = "%"


def show(name: bytes) -> str:
    text = name.decode("utf-8", "surrogateescape")
    if text.isprintable() and _PERCENT not in text:
        return text
    return "".join([_shown(character) for character in text])


def parse(text: str) -> bytes:
    """A `%` that two hexadecimal digits do not follow stands for itself."""
    return unquote_to_bytes(text)


def in_url(name: bytes) -> str:
    """The name as one segment of a path: only what every URL may hold stays as it is."""
    return quote_from_bytes(name, safe="")


def _shown(character: str) -> str:
    if character.isprintable() and character != _PERCENT:
        return character
    return "".join([f"%{byte:02X}" for byte in character.encode("utf-8", "surrogateescape")])
