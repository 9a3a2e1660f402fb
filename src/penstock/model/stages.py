"""How far a message has come, as told to whoever asked: three stages of durability, then the turns of its life."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

READY: Final[i64] = 0  # accepted in memory
WRITE: Final[i64] = 1  # handed to the operating system: survives kill -9
SYNC: Final[i64] = 2  # fsynced: survives a power cut
ASSIGN: Final[i64] = 3
FINISH: Final[i64] = 4
RETRY: Final[i64] = 5
DROP: Final[i64] = 6

STAGES: Final = ("ready", "write", "sync", "assign", "finish", "retry", "drop")
CONFIRMS: Final = {"ready": READY, "write": WRITE, "sync": SYNC}
