"""Waiting for the archivist: what one load has left it to do must not burden what is measured next."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from harness.server import Server
from penstock.model.limits import SNAPSHOT_BYTES

PATIENCE_S: Final = 900.0
_LOOK_S: Final = 0.2


def is_settled(server: Server) -> bool:
    """All that is sealed is archived, and folded as far as it has to be."""
    status = server.get("/api/v1/status")
    sealed = status["journal"]["segment"] - 1
    if not sealed:
        return True
    kept, live = status["snapshot"]["sealed_bytes"], live_bytes(server)
    return status["archive"]["segment"] == sealed and kept is not None and kept - live < max(live, SNAPSHOT_BYTES)


def await_that(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("the archivist did not keep up")
        time.sleep(_LOOK_S)


def counted(server: Server, places: tuple[str, ...]) -> int:
    counts = server.get("/api/v1/status")["counts"]
    return int(sum(counts[place] for place in places))


def live_bytes(server: Server) -> int:
    """What lives, as a snapshot has it; where there is none yet, its bodies."""
    return server.get("/api/v1/status")["snapshot"]["bytes"] or counted(server, ("body_bytes",))
