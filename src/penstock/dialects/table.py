"""The table of dialects. Adding one is one module, one row here, one page in docs, one folder of transcripts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from penstock.dialects import deferred, etzel, glovebox, pinpriq, rsmq
from penstock.dialects.context import Context
from penstock.dialects.settings import Setting
from penstock.model.contract import Session
from penstock.model.policy import Policy


class Dialect(NamedTuple):
    """One row. `number` is in the journal for ever; `defaults` hold for queues the dialect creates by use."""

    name: str
    number: int
    transport: str
    port: int
    make: Callable[[Context], Session]
    defaults: Policy
    settings: tuple[Setting, ...]
    policies: Callable[[Mapping[str, object]], list[tuple[bytes, Policy]]]  # what the settings say of queues


def no_policies(options: Mapping[str, object]) -> list[tuple[bytes, Policy]]:
    return []


DIALECTS: Final = (
    Dialect("etzel", int(etzel.NUMBER), "websocket", 8_080, etzel.EtzelSession, etzel.DEFAULTS, (), no_policies),
    Dialect("pinpriq", int(pinpriq.NUMBER), "tcp", 7_070, pinpriq.PinpriqSession, Policy(), (), no_policies),
    Dialect(
        "deferred",
        int(deferred.NUMBER),
        "tcp",
        12_000,
        deferred.DeferredSession,
        Policy(),
        deferred.SETTINGS,
        deferred.watcher,
    ),
    Dialect(
        "glovebox",
        int(glovebox.NUMBER),
        "websocket",
        8_081,
        glovebox.GloveboxSession,
        glovebox.DEFAULTS,
        glovebox.SETTINGS,
        no_policies,
    ),
    Dialect("rsmq", int(rsmq.NUMBER), "tcp", 6_380, rsmq.RsmqSession, rsmq.DEFAULTS, rsmq.SETTINGS, no_policies),
)

# Numbers in the journal that are no wire dialect's: the server itself, and people through the admin API.
SERVER: Final = 0
ADMIN: Final = 100
NAMES: Final = {SERVER: "server", ADMIN: "admin"} | {dialect.number: dialect.name for dialect in DIALECTS}
