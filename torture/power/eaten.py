"""penstock on a machine that lies: every sync is answered at once, and nothing is synced. For controls only."""

from __future__ import annotations

import os

PROGRAM = ("-m", "torture.power.eaten")


def eat(handle: int) -> None:
    """What a sync would have made sure of stays in memory."""


def main() -> None:
    os.fsync = eat  # type: ignore[assignment]
    os.fdatasync = eat  # type: ignore[assignment]
    from penstock.cli.main import main as penstock

    penstock()


if __name__ == "__main__":
    main()
