"""What the exit code of a server means. One table; the documentation shows it."""

from __future__ import annotations

from typing import Final

CLEAN: Final = 0
DISK_DIED: Final = 1
BAD_USAGE: Final = 2
IN_USE: Final = 3
DAMAGED: Final = 4

EXIT_CODES: Final = {
    CLEAN: "stopped as asked; everything is on the disk",
    DISK_DIED: "the journal could not be written or synced, or the server failed; nothing was answered after that",
    BAD_USAGE: "the configuration is wrong, or an address cannot be listened on; nothing was started",
    IN_USE: "another server has the data directory",
    DAMAGED: "the data directory is damaged; the log says where, and nothing was changed",
}
