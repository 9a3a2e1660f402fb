"""What the server on a data directory counts, as of a fact that the archive has: asked for by each run."""

from __future__ import annotations

import time
from typing import Any, Final

from penstock.cli.program import Failure
from penstock.cli.remote import Remote
from penstock.pipeline.quality import Ledger

_PATIENCE_S: Final = 15.0  # an archivist may just be starting
_AGAIN_S: Final = 0.1


def counted(data: str, taken: int) -> Ledger | None:
    """The server ends its segment, and this waits until that is archived. None: there is no server, nothing new since
    the fact `taken`, or an archive that does not come on."""
    remote = Remote(data)
    try:
        status = remote.get("/status")
        if not status["archive"]["enabled"] or status["journal"]["next_fact"] - 1 <= taken:
            return None
        told = remote.post("/journal/seal", {})
        return Ledger(told["last_fact"], told["queues"]) if _is_archived(remote, told["last_fact"]) else None
    except Failure:
        return None


def _is_archived(remote: Remote, last_fact: int) -> bool:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        archive: dict[str, Any] = remote.get("/status")["archive"]
        if (archive["last_fact"] or 0) >= last_fact:
            return True
        if archive["stopped"]:
            return False
        time.sleep(_AGAIN_S)
    return False
