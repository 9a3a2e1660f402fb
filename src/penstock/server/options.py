"""Every option of the server, in one table: the program, `penstock config` and docs/configuration.md are made from it.

An option is said by a flag, an environment variable or the file; this module only says which options there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from penstock.dialects import settings
from penstock.dialects.settings import Setting
from penstock.dialects.table import DIALECTS
from penstock.model import limits
from penstock.model.stages import CONFIRMS
from penstock.server.kinds import (
    ADDRESS,
    ANY_TEXT,
    FLAG,
    NAME_LIST,
    SECONDS,
    TEXT,
    Address,
    Kind,
    choice,
    seconds,
    whole,
)
from penstock.server.log import LEVELS

T = TypeVar("T")

ENVIRONMENT_PREFIX: Final = "PENSTOCK_"
LISTEN: Final = "listen"


@dataclass(frozen=True)
class Option(Generic[T]):
    """One row. `key` is its place in the file; the flag and the variable follow from it."""

    key: str
    kind: Kind[T]
    default: T
    about: str
    reloads: bool = False  # a change takes effect at SIGHUP

    @property
    def environment(self) -> str:
        return ENVIRONMENT_PREFIX + self.key.upper().replace(".", "_")

    @property
    def flag(self) -> str:
        table, _, name = self.key.partition(".")
        if table == LISTEN:
            return f"--{LISTEN} {name}=HOST:PORT"
        return "--" + self.key.replace(".", "-").replace("_", "-")


DATA: Final = Option(
    "data", TEXT, "penstock-data", "The data directory: journal, identity and socket. Made if missing."
)
CONFIRM: Final = Option(
    "confirm",
    choice(*CONFIRMS),
    "sync",
    "How durable an answer is in dialects that cannot ask: accepted in memory (`ready`), handed to the operating "
    "system (`write`: survives kill -9), or synced to the disk (`sync`: survives a power cut).",
)
BROKER: Final = Option("broker", choice("embedded"), "embedded", "What keeps the messages.")
INSECURE: Final = Option(
    "insecure",
    FLAG,
    False,
    "Allow listeners that other machines can reach. There is neither TLS nor authentication in this version.",
)
SYNC_INTERVAL_MS: Final = Option(
    "sync_interval_ms",
    whole(1, 60_000),
    50,
    "How soon the journal is synced in the background where no answer waits for it: `confirm` is `ready` or `write`.",
)
SPIN_US: Final = Option(
    "spin_us",
    whole(0, 10_000),
    limits.SPIN_US,
    "How long the server looks for the next request before it sleeps, where the last ones came that quickly; 0: never, "
    "nor does it wait a moment for the next piece of what a client sends piece by piece before it answers. "
    "Being woken takes longer than most requests, and less than a sync: after one it does not look. A machine with one "
    "processor is never kept from its clients.",
)
CONNECTIONS: Final = Option(
    "limits.connections",
    whole(1, 1_000_000),
    limits.CONNECTIONS_MAX,
    "Connections the server holds at once, over all listeners; more are closed as they come.",
)
OUTPUT_CAP_BYTES: Final = Option(
    "limits.output_cap_bytes",
    whole(64 << 10, 1 << 31),
    limits.OUTPUT_CAP_BYTES,
    "Unsent bytes at which a client that does not read is cut off.",
)
SEGMENT_BYTES: Final = Option(
    "limits.segment_bytes",
    whole(64 << 10, 1 << 31),
    limits.SEGMENT_BYTES,
    "Size of one file of the journal. The directory holds at least two.",
)
DISK_FREE_BYTES: Final = Option(
    "limits.disk_free_bytes",
    whole(0, 1 << 60),
    0,
    "Bytes of the disk that stay free for others. Publishing is refused while less is free than these, two files of "
    "the journal, a snapshot and what the messages that live need to end; everything else goes on.",
)
MEMORY_BYTES: Final = Option(
    "limits.memory_bytes",
    whole(0, 1 << 60),
    0,
    "Publishing is refused while the process takes more memory than this, and messages at least half of it; 0: four "
    "fifths of what the machine has, or the control group of the process.",
)
ARCHIVE_ENABLED: Final = Option(
    "archive.enabled",
    FLAG,
    True,
    "Write what happened as Parquet files into `archive` in the data directory, by a process beside the server.",
)
ARCHIVE_SEAL_S: Final = Option(
    "archive.seal_s",
    seconds(int(limits.DAY_US)),
    30 * int(limits.SECOND_US),
    "The journal's file in use is ended once its first fact is this old, so that it can be archived; 0: only when it "
    "is full.",
)
ARCHIVE_WITHOUT_BODIES: Final = Option(
    "archive.without_bodies",
    NAME_LIST,
    (),
    "Queues, by name or by a prefix with a trailing `*`, whose bodies stay out of the archive. On the command line and "
    "in the environment with commas between them.",
)
ARCHIVE_KEEP_DAYS: Final = Option(
    "archive.keep_days",
    whole(0, 36_500),
    0,
    "Days of the archive (in UTC) that are older than so many are removed, a whole day at once; 0: none ever.",
)
JOURNAL_SNAPSHOT_BYTES: Final = Option(
    "journal.snapshot_bytes",
    whole(64 << 10, 1 << 50),
    limits.SNAPSHOT_BYTES,
    "A snapshot of what lives is made when so many bytes of the journal have been sealed since the last, or as many as "
    "live, if that is more; then what it replaces is removed.",
)
JOURNAL_KEEP_BYTES: Final = Option(
    "journal.keep_bytes",
    whole(0, 1 << 60),
    0,
    "So many bytes of the journal's files that a snapshot has replaced are kept all the same, the newest of them: for "
    "`penstock journal dump`, and to start from if the newest snapshot is damaged.",
)
LOG_FORMAT: Final = Option(
    "log.format",
    choice("auto", "human", "json"),
    "auto",
    "How the log on stderr is written; `auto` is `human` on a terminal and `json` otherwise.",
    reloads=True,
)
LOG_LEVEL: Final = Option(
    "log.level", choice(*LEVELS), "info", "The least important level that is logged.", reloads=True
)

_KINDS: Final[Mapping[str, Callable[[Setting], Kind[Any]]]] = {
    settings.TEXT: lambda setting: TEXT,
    settings.ANY_TEXT: lambda setting: ANY_TEXT,
    settings.SECONDS: lambda setting: SECONDS,
    settings.COUNT: lambda setting: whole(0, setting.largest),
    settings.FLAG: lambda setting: FLAG,
}

LISTENERS: Final[Mapping[str, Option[Any]]] = {
    dialect.name: Option(
        f"{LISTEN}.{dialect.name}",
        ADDRESS,
        Address("127.0.0.1", dialect.port),
        f"Where the dialect `{dialect.name}` listens. If any listener is named anywhere, only named ones open.",
    )
    for dialect in DIALECTS
}

DIALECT_OPTIONS: Final[tuple[Option[Any], ...]] = tuple(
    Option(
        f"dialect.{dialect.name}.{setting.name}",
        _KINDS[setting.kind](setting),
        setting.default,
        setting.about,
        setting.reloads,
    )
    for dialect in DIALECTS
    for setting in dialect.settings
)

_ROWS: Final[tuple[Option[Any], ...]] = (
    DATA,
    CONFIRM,
    BROKER,
    INSECURE,
    SYNC_INTERVAL_MS,
    SPIN_US,
    *LISTENERS.values(),
    *DIALECT_OPTIONS,
    CONNECTIONS,
    OUTPUT_CAP_BYTES,
    SEGMENT_BYTES,
    DISK_FREE_BYTES,
    MEMORY_BYTES,
    ARCHIVE_ENABLED,
    ARCHIVE_SEAL_S,
    ARCHIVE_WITHOUT_BODIES,
    ARCHIVE_KEEP_DAYS,
    JOURNAL_SNAPSHOT_BYTES,
    JOURNAL_KEEP_BYTES,
    LOG_FORMAT,
    LOG_LEVEL,
)

OPTIONS: Final[Mapping[str, Option[Any]]] = {option.key: option for option in _ROWS}
