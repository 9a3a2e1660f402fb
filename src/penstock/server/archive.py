"""The archivist, as the server sees to it: segments are sealed once their facts are old enough; it is started, told
which are sealed and how much lives, listened to, and started again when it ends. The loop never waits for it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from penstock.codecs import names
from penstock.dialects.table import NAMES
from penstock.journal.journal import Journal
from penstock.model.limits import SECOND_US, SNAPSHOT_BYTES
from penstock.server import exits
from penstock.server.config import Config
from penstock.server.helper import Helper
from penstock.server.log import LEVELS, Log
from penstock.server.options import (
    ARCHIVE_ENABLED,
    ARCHIVE_KEEP_DAYS,
    ARCHIVE_SEAL_S,
    ARCHIVE_WITHOUT_BODIES,
    DATA,
    JOURNAL_KEEP_BYTES,
    JOURNAL_SNAPSHOT_BYTES,
)
from penstock.server.store import policy_rows

# What an earlier server left is not urgent: many servers live no longer than this.
LEFTOVERS_US: Final = 5 * int(SECOND_US)
AGAIN_US: Final = int(SECOND_US)  # until it is started again; doubled each time, until something was archived
AGAIN_MAX_US: Final = 60 * int(SECOND_US)
AGAIN_PRESSED_US: Final = 4 * int(SECOND_US)  # at most, where the disk lacks room: it is who makes some
PRESSED_SEAL_US: Final = 2 * int(SECOND_US)
_LAST_S: Final = 2.0  # at a clean stop, for the last segment

# What the archivist says: how far the archive reaches, that it reaches further, that there is a new snapshot, how much
# there is of the journal, why it does not go on.
_OPENED: Final = "archive opened"
_ARCHIVED: Final = "segment archived"
_FOLDED: Final = "snapshot written"
_KEPT: Final = "journal kept"
_STOPPED: Final = "archive stopped"


class Archiving(NamedTuple):
    """What the configuration wants."""

    enabled: bool  # else there are snapshots only
    seal_us: int  # 0: segments are sealed when they are full
    command: list[str]
    snapshot_bytes: int = SNAPSHOT_BYTES


class Archive:
    """Driven by the heart's beat."""

    def __init__(
        self, wanted: Archiving, journal: Journal, live_bytes: Callable[[], int], log: Log, now_us: int
    ) -> None:
        self._wanted = wanted
        self._journal = journal
        self._live_bytes = live_bytes
        self._log = log
        self._helper: Helper | None = None
        self._now_us = now_us
        self._told: int = 0  # the segment that it was last told of
        self._first_segment: int = journal.segment
        self._start_us = now_us + LEFTOVERS_US
        self._again_us = AGAIN_US
        self._reach: dict[str, Any] = {}  # what it last said of how far the archive reaches
        self._kept: dict[str, Any] = {}  # and of what there is of the journal
        self._stopped = ""  # why, until the next start of the server
        self._pressed = False
        self._hurries = False  # since it is pressed, nothing could be sealed yet
        self._relieved = False  # it was ended here, and is no failure

    def beat(self, now_us: int, pressed: bool = False) -> None:
        """`pressed`: the disk has no room, and whatever the archivist can free is wanted. Raises JournalDead."""
        self._now_us = now_us
        begins, self._pressed = pressed and not self._pressed, pressed
        self._hurries = pressed and (begins or self._hurries)
        if self._is_to_be_sealed(now_us):
            self._journal.rotate(now_us)
            self._hurries = False
        if self._helper is not None and self._helper.exit_code() is not None:
            self._ended(self._helper, now_us)
        if self._helper is None and self._is_time(now_us):
            self._start(now_us)
        if self._helper is not None and (self._told != self._journal.segment or begins):
            self._tell(self._helper)

    def snapshot_status(self) -> dict[str, object]:
        """What the archivist has not said yet is null."""
        kept = self._kept
        return {
            "segment": kept.get("snapshot"),
            "bytes": kept.get("snapshot_bytes"),
            "sealed_bytes": kept.get("bytes"),
        }

    def status(self, now_us: int) -> dict[str, object]:
        """What the archivist has not said yet is null."""
        reach = self._reach
        behind = int(self._journal.next_fact) - 1 - reach["last"] if reach else None
        return {
            "enabled": self._wanted.enabled,
            "pid": None if self._helper is None else self._helper.pid,
            "segment": reach.get("segment"),
            "last_fact": reach.get("last"),
            "behind_facts": behind,
            "behind_s": _seconds(now_us - reach["last_at_us"] if behind and reach["last"] else 0) if reach else None,
            "stopped": self._stopped,
        }

    def reload(self, wanted: Archiving) -> None:
        """An archivist that works by the old rules is relieved by one that knows the new."""
        self._relieved = wanted != self._wanted and self._helper is not None
        self._wanted = wanted
        if self._relieved and self._helper is not None:
            self._helper.kill()

    async def end(self, sealed: bool) -> None:
        """An archivist that runs may finish, if all is sealed, but not for long."""
        helper, self._helper = self._helper, None
        if helper is None:
            return
        if sealed:
            self._tell(helper)
            await helper.finish(_LAST_S)
        helper.end()

    # -- its life

    def _is_to_be_sealed(self, now_us: int) -> bool:
        """What is archived is wanted soon; a snapshot only where there is far more than lives, or no room."""
        if self._pressed:
            return self._journal.is_ripe(now_us, 0 if self._hurries else PRESSED_SEAL_US)
        if not self._wanted.seal_us or not self._journal.is_ripe(now_us, self._wanted.seal_us):
            return False
        if self._wanted.enabled:
            return True
        return bool(self._kept) and self._kept["bytes"] > 3 * self._live_bytes() + self._wanted.snapshot_bytes

    def _is_time(self, now_us: int) -> bool:
        """At once when the first segment of this server is sealed."""
        first = self._journal.segment > self._first_segment and not self._reach and self._again_us == AGAIN_US
        return self._journal.segment > 1 and not self._stopped and (first or now_us >= self._start_us)

    def _start(self, now_us: int) -> None:
        self._told = 0
        try:
            self._helper = Helper(self._wanted.command, self._hear)
        except OSError as error:
            self._log.error("archivist not started", why=error)
            self._back_off(now_us)

    def _ended(self, helper: Helper, now_us: int) -> None:
        code = helper.exit_code()
        helper.end()
        self._helper = None
        if self._relieved:
            self._relieved, self._start_us = False, now_us
            return
        if code == exits.DAMAGED:
            self._stopped = self._stopped or "the archivist has not said why"
            return
        self._log.warning("archivist ended", exit_code=code, again_s=_seconds(self._again_us))
        self._back_off(now_us)

    def _back_off(self, now_us: int) -> None:
        self._start_us = now_us + self._again_us
        self._again_us = min(2 * self._again_us, AGAIN_PRESSED_US if self._pressed else AGAIN_MAX_US)

    # -- what is said

    def _tell(self, helper: Helper) -> None:
        """Where it is not listening, the next number says all that this one would have."""
        journal = self._journal
        told = (journal.segment, self._live_bytes(), journal.ahead_bytes(), self._pressed, self._now_us)
        if helper.tell(b"%d %d %d %d %d" % told):
            self._told = journal.segment

    def _hear(self, line: bytes) -> None:
        try:
            fields = msgspec.json.decode(line, type=dict[str, Any])
            level, event = fields.pop("level"), fields.pop("event")
        except (msgspec.DecodeError, KeyError):
            self._log.error("archivist failed", line=line.decode(errors="replace"))
            return
        if event in (_OPENED, _ARCHIVED):
            self._reach = fields
        if event == _KEPT:
            self._kept = fields
        if event in (_ARCHIVED, _FOLDED):
            self._again_us = AGAIN_US
        if event == _STOPPED:
            self._stopped = fields["why"]
        self._log.say(level if level in LEVELS else "error", event, fields)


def _seconds(us: int) -> float:
    return round(us / int(SECOND_US), 3)


def archiving(config: Config) -> Archiving:
    """The archivist ends with the process that asks here."""
    command = [sys.executable, "-P", "-m", "penstock.history", "--data", config[DATA], "--parent", str(os.getpid())]
    command += ["--keep-days", str(config[ARCHIVE_KEEP_DAYS])]
    command += ["--snapshot-bytes", str(config[JOURNAL_SNAPSHOT_BYTES])]
    command += ["--keep-bytes", str(config[JOURNAL_KEEP_BYTES])]
    command += [] if config[ARCHIVE_ENABLED] else ["--no-archive"]
    for number, name in NAMES.items():
        command += ["--dialect", f"{number}={name}"]
    for pattern in config[ARCHIVE_WITHOUT_BODIES]:
        command += ["--without-bodies", names.show(pattern)]
    command += _dedup_flags(config)
    return Archiving(config[ARCHIVE_ENABLED], config[ARCHIVE_SEAL_S], command, config[JOURNAL_SNAPSHOT_BYTES])


def _dedup_flags(config: Config) -> list[str]:
    """How long dedup ids are remembered: the only policy that decides what a snapshot holds."""
    patterns, defaults = policy_rows(config)
    flags: list[str] = []
    for pattern, policy in patterns:
        flags += [] if policy.dedup_us is None else ["--dedup", f"{names.show(pattern)}={policy.dedup_us}"]
    for number, policy in defaults.items():
        flags += [] if policy.dedup_us is None else ["--dialect-dedup", f"{number}={policy.dedup_us}"]
    return flags
