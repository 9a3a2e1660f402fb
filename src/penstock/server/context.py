"""What the sessions of one listener know of the server."""

from __future__ import annotations

import os
from typing import Any, Final

from penstock.dialects.context import Context
from penstock.server.config import Config
from penstock.server.listener import Listener
from penstock.server.options import OPTIONS

_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


class ListenerContext(Context):
    """Completed by its listener, once that is made."""

    listener: Listener

    def connections(self) -> int:
        return len(self.listener.connections)

    def resident_bytes(self) -> int:
        return resident_bytes()


def resident_bytes() -> int:
    with open("/proc/self/statm", "rb") as statm:
        return int(statm.read().split()[1]) * _PAGE_BYTES


def dialect_options(config: Config, dialect: str) -> dict[str, Any]:
    """The options of [dialect.NAME], by name. Durations are microseconds, and their names say so."""
    table = f"dialect.{dialect}."
    found: dict[str, Any] = {}
    for key, option in OPTIONS.items():
        if key.startswith(table):
            name = key.removeprefix(table)
            found[f"{name.removesuffix('_s')}_us" if name.endswith("_s") else name] = config[option]
    return found
