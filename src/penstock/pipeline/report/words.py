"""Numbers, durations and times for people. Everything that reaches the page passes through `text`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from html import escape
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS: Final = ((86_400_000_000, "d"), (3_600_000_000, "h"), (60_000_000, "min"), (1_000_000, "s"), (1_000, "ms"))
_BYTES: Final = ("B", "KiB", "MiB", "GiB", "TiB")
_KIB: Final = 1_024
_SIGNIFICANT: Final = 100  # from here on no digit after the point
_TEN: Final = 10
_LEAST: Final = 0.1  # percent
LONGEST: Final = 120  # characters of a name
EMPTY: Final = "(no name)"  # a queue's name may be empty


def shown(value: str) -> str:
    """With escapes for what nobody can see; of a very long name the beginning."""
    visible = "".join([one if one.isprintable() else f"\\u{ord(one):04x}" for one in value[:LONGEST]])
    return f"{visible}…" if len(value) > LONGEST else visible


def text(value: str) -> str:
    """For the page: nothing in it can be markup."""
    return escape(shown(value) or EMPTY)


def count(number: int) -> str:
    return f"{number:,}"


def share(part: int, whole: int) -> str:
    """A percentage; a dash of nothing."""
    if not whole:
        return "–"
    percent = 100 * part / whole
    if 0 < percent < _LEAST:
        return f"< {_LEAST} %"
    return f"{percent:.0f} %" if percent >= _TEN or percent == int(percent) else f"{percent:.1f} %"


def duration(us: int | None) -> str:
    """Two or three digits and a unit: 840 µs, 1.2 s, 3.5 h."""
    if us is None:
        return "–"
    if us == 0:
        return "0 s"
    for size, unit in _UNITS:
        if us >= size:
            amount = us / size
            return f"{amount:.0f} {unit}" if amount >= _TEN or amount == int(amount) else f"{amount:.1f} {unit}"
    return f"{us} µs"


def size(number: int) -> str:
    amount, place = float(number), 0
    while amount >= _KIB and place + 1 < len(_BYTES):
        amount, place = amount / _KIB, place + 1
    whole = place == 0 or amount >= _SIGNIFICANT
    return f"{amount:.0f} {_BYTES[place]}" if whole else f"{amount:.1f} {_BYTES[place]}"


def moment(us: int) -> str:
    """To the second."""
    return _at(us).strftime("%Y-%m-%d %H:%M:%S")


def minute(us: int) -> str:
    return _at(us).strftime("%Y-%m-%d %H:%M")


def _at(us: int) -> datetime:
    return _EPOCH + timedelta(microseconds=us)
