"""Makes the golden snapshot: every kind of row, every field said. Run it only for a new version.

python -m tests.history.make_golden_snapshot tests/history/golden/snapshot-v1
"""

from __future__ import annotations

import sys
from pathlib import Path

from penstock.codecs.segments import Header
from penstock.engine.replay import Silence
from penstock.engine.rules import PolicyBook
from penstock.engine.snapshots import blocks_of
from penstock.engine.state import State
from penstock.journal.snapshot import write_snapshot
from penstock.model.message import Message, Origin
from penstock.model.policy import Policy
from tests.journal.simdisk import SimDisk

STORE_ID = b"golden store: v1"
START_US = 1_700_000_000_000_000
JUMP = 1 << 32
NAME = "00000000000000000007.snapshot"


def origin(dedup_id: bytes, foreign_id: bytes = b"") -> Origin:
    made = Origin()
    made.dedup_id, made.foreign_id = dedup_id, foreign_id
    made.trace, made.principal = b"trace", b"anna"
    made.poster, made.label, made.notify, made.dead_of = 77, 1 << 63, 0b1000101, 41
    made.mark, made.row = b"list", 9
    return made


def message(number: int, queue_id: int, body: bytes, came_from: Origin | None = None) -> Message:
    made = Message(JUMP + number, queue_id, body, START_US + number, START_US + number)
    made.dialect = 4
    made.origin = came_from
    return made


def golden_state() -> State:
    state = State(PolicyBook(), Silence())
    state.now_us = START_US
    state.started(JUMP, b"")
    orders = state.declared(1, b"orders", 4, Policy(lease_us=2_000_000, dead_letter=b"dead", dedup_us=60_000_000))
    other = state.declared(2, b"\xff other", 0, Policy())
    state.now_us = START_US + 10
    plain, full, leased = (
        message(1, 1, b"plain", origin(b"first")),
        message(2, 1, bytes(range(256)), origin(b"once", b"f-1")),
        message(3, 2, b""),
    )
    full.key, full.priority, full.parked = b"", -5, True
    full.ready_us, full.expires_us, full.lease_us = START_US + 5_000_000, START_US + 60_000_000, 30_000_000
    leased.key, leased.priority = b"a key", 4_294_967_295
    for one, queue in (
        (plain, orders),
        (full, orders),
        (leased, other),
        (message(4, 1, b"gone", origin(b"once")), orders),
    ):
        state.published(one, queue)
    state.leased(leased, other, 4, 12, START_US + 9_000_000, True)
    state.finished(state.messages[JUMP + 4], orders, 4, 2, 0)
    state.leased(plain, orders, 4, 0, START_US + 8_000_000, False)
    state.now_us = START_US + 20
    state.released(plain, orders, 0, 4, START_US + 20, True)
    state.paused(other, 5)
    return state


def golden() -> bytes:
    disk = SimDisk()
    state = golden_state()
    write_snapshot(disk, Header(0, 0, 7, 21, int(state.now_us), STORE_ID), 1, blocks_of(state))
    return disk.read(NAME)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NAME).write_bytes(golden())
