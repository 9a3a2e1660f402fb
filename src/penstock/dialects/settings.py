"""What a dialect's listener can be told in its configuration, as data: the server reads, checks and documents it."""

from __future__ import annotations

from typing import Final, NamedTuple

# Kinds of setting. Seconds reach the dialect as microseconds, under a name that says so.
TEXT: Final = "text"
ANY_TEXT: Final = "any text"  # the empty one too
SECONDS: Final = "seconds"
COUNT: Final = "count"
FLAG: Final = "flag"


class Setting(NamedTuple):
    """One row of [dialect.NAME]."""

    name: str
    kind: str
    default: str | int
    about: str
    reloads: bool = False  # a change takes effect at SIGHUP
    largest: int = 0  # of a count
