"""How a value of the configuration is read from a file or from text, checked, and shown again.

A kind knows nothing of where a value stands; it raises BadValue with words, and the caller adds the place.
"""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from penstock.codecs import names
from penstock.model.limits import DELAY_MAX_US, QUEUE_NAME_MAX, SECOND_US

T = TypeVar("T")


class BadValue(ValueError):
    """What is wrong with a value, in words."""


@dataclass(frozen=True)
class Kind(Generic[T]):
    """`read` takes what TOML gave; `from_text` makes of a flag or variable what TOML would have given."""

    words: str
    read: Callable[[object], T]
    from_text: Callable[[str], object]
    show: Callable[[T], str]


@dataclass(frozen=True)
class Address:
    """Where to listen."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def is_loopback(self) -> bool:
        """A name other than localhost may lead anywhere, and counts as the world."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def quoted(value: object) -> str:
    """Text as TOML writes it."""
    escaped = "".join([_escaped(character) for character in str(value)])
    return f'"{escaped}"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isprintable() else f"\\U{ord(character):08X}"


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise BadValue(f"must be text, not {_told(value)}")
    return value


def _full_text(value: object) -> str:
    if not _text(value):
        raise BadValue("must not be empty")
    return _text(value)


def _name(value: object) -> bytes:
    name = names.parse(_text(value))
    if len(name) > QUEUE_NAME_MAX:
        raise BadValue(f"is longer than {QUEUE_NAME_MAX} bytes")
    return name


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise BadValue(f"must be true or false, not {_told(value)}")
    return value


def _number(value: object) -> float | int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadValue(f"must be a number, not {_told(value)}")
    return value


def _address(value: object) -> Address:
    host, colon, port = _text(value).rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise BadValue(f"must be HOST:PORT, such as 127.0.0.1:12000 (port 0 picks one), not {_told(value)}")
    if host.startswith("[") and host.endswith("]"):
        return Address(host[1:-1], int(port))
    if ":" in host:
        raise BadValue(f"must have an IPv6 address in brackets, such as [::1]:12000, not {_told(value)}")
    return Address(host, int(port))


def _told(value: object) -> str:
    """A value as its writer would know it again."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "a list"
    return "a table" if isinstance(value, dict) else quoted(value) if isinstance(value, str) else str(value)


def _text_to_flag(text: str) -> object:
    return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(text.lower(), text)


def _text_to_number(text: str) -> object:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _show_seconds(us: int) -> str:
    return str(us // SECOND_US) if us % SECOND_US == 0 else str(us / SECOND_US)


def _show_flag(value: bool) -> str:
    return "true" if value else "false"


def whole(lowest: int, highest: int) -> Kind[int]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise BadValue(f"must be a whole number, not {_told(value)}")
        if not lowest <= value <= highest:
            raise BadValue(f"must be between {lowest:,} and {highest:,}, not {value:,}")
        return value

    return Kind("whole number", read, _text_to_number, str)


def seconds(highest_us: int) -> Kind[int]:
    """Said in seconds, whole or not; held in microseconds."""

    def read(value: object) -> int:
        us = round(_number(value) * int(SECOND_US))
        if not 0 <= us <= highest_us:
            raise BadValue(f"must be between 0 and {highest_us // SECOND_US:,} seconds, not {_told(value)}")
        return us

    return Kind("seconds", read, _text_to_number, _show_seconds)


def choice(*allowed: str) -> Kind[str]:
    def read(value: object) -> str:
        if value not in allowed:
            raise BadValue(f"must be {_one_of(allowed)}, not {_told(value)}")
        return str(value)

    return Kind(_one_of(allowed), read, str, quoted)


def _one_of(allowed: tuple[str, ...]) -> str:
    return " or ".join([", ".join(map(quoted, allowed[:-1])), quoted(allowed[-1])]) if allowed[1:] else quoted(*allowed)


def _seconds_list(value: object) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise BadValue(f"must be a list of seconds, such as [1, 5, 30], not {_told(value)}")
    return tuple([SECONDS.read(item) for item in value])


def _show_seconds_list(values: tuple[int, ...]) -> str:
    return "[" + ", ".join(map(_show_seconds, values)) + "]"


def _show_name(name: bytes) -> str:
    return quoted(names.show(name))


def _name_list(value: object) -> tuple[bytes, ...]:
    if not isinstance(value, list):
        raise BadValue(f'must be a list of names, such as ["secret*"], not {_told(value)}')
    return tuple([_name(_full_text(item)) for item in value])


def _text_to_list(text: str) -> object:
    return [item.strip() for item in text.split(",") if item.strip()]


def _show_name_list(values: tuple[bytes, ...]) -> str:
    return "[" + ", ".join(map(_show_name, values)) + "]"


TEXT: Final = Kind("text", _full_text, str, quoted)
ANY_TEXT: Final = Kind("text", _text, str, quoted)
NAME: Final = Kind("queue name", _name, str, _show_name)
NAME_LIST: Final = Kind("list of queue names", _name_list, _text_to_list, _show_name_list)
FLAG: Final = Kind("true or false", _flag, _text_to_flag, _show_flag)
SECONDS: Final = seconds(DELAY_MAX_US)
SECONDS_LIST: Final = Kind("list of seconds", _seconds_list, str, _show_seconds_list)
ADDRESS: Final = Kind("HOST:PORT", _address, str, quoted)
