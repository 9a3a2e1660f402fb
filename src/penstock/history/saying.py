"""How the archivist says what it did, and the one reason to stop that is its own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

import msgspec

# An event and its fields.
Say = Callable[[str, dict[str, object]], None]


_LEVELS: Final = {"snapshot written": "info", "facts never archived": "warning"}


class OtherVersion(Exception):
    """A file of an archive that this version does not know how to go on from, and must not replace."""


def say(level: str, event: str, fields: dict[str, object]) -> None:
    line = msgspec.json.encode({"level": level, "event": event, **fields})
    sys.stdout.write(line.decode() + "\n")
    sys.stdout.flush()


def tell(event: str, fields: dict[str, object]) -> None:
    say(_LEVELS.get(event, "debug"), event, fields)
