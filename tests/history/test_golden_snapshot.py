"""The golden snapshot: bytes that were written once and must be readable for ever."""

from __future__ import annotations

from pathlib import Path

from crc32c import crc32c

from penstock.engine.replay import Silence
from penstock.engine.rules import PolicyBook
from penstock.engine.snapshots import restore
from penstock.engine.state import State
from penstock.journal.disk import OsDisk
from penstock.journal.recovery import restore_snapshot
from penstock.journal.snapshot import SnapshotReader
from penstock.model.message import LEASED, READY
from tests.engine.test_snapshots import assert_same
from tests.history.make_golden_snapshot import JUMP, NAME, START_US, STORE_ID, golden, golden_state

FOLDER = Path(__file__).parent / "golden" / "snapshot-v1"


def restored() -> State:
    state = State(PolicyBook(), Silence())
    reader = SnapshotReader(OsDisk(str(FOLDER)), 7, STORE_ID)
    restore_snapshot(reader, lambda kind, rows, payload: restore(state, kind, rows, payload))
    assert (reader.next_fact, reader.at_us) == (21, START_US + 20)
    return state


def number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")


def test_version_1_is_read_to_the_values_it_was_written_with() -> None:
    state = restored()
    assert (state.now_us, state.next_seq, state.next_queue_id) == (START_US + 20, JUMP + 5, 3)
    assert {queue.name: (queue.published, queue.paused) for queue in state.by_id.values()} == {
        b"orders": (3, False),
        b"\xff other": (1, True),
    }
    plain, full, leased = (state.messages[JUMP + place] for place in (1, 2, 3))
    assert (plain.body, plain.place, plain.failures, plain.deliveries) == (b"plain", READY, 1, 1)
    assert (full.key, full.body, full.priority, full.parked) == (b"", bytes(range(256)), -5, True)
    assert (full.ready_us, full.expires_us, full.lease_us) == (START_US + 5_000_000, START_US + 60_000_000, 30_000_000)
    assert (leased.place, leased.holder, leased.until_us, leased.old_place) == (LEASED, 12, START_US + 9_000_000, True)
    assert full.origin is not None
    assert (full.origin.foreign_id, full.origin.label, full.origin.row) == (b"f-1", 1 << 63, 9)
    assert state.by_id[1].by_foreign_id == {b"f-1": full}
    assert state.by_id[1].policy.dead_letter == b"dead"
    assert state.marks.rows() == {b"list": 9}


def test_version_1_holds_all_that_was_true() -> None:
    assert_same(restored(), golden_state())


def test_the_writer_of_today_makes_the_same_bytes() -> None:
    assert golden() == (FOLDER / NAME).read_bytes()


def test_the_bytes_stand_where_the_documentation_draws_them() -> None:
    data = (FOLDER / NAME).read_bytes()
    assert (data[:8], number(data, 8, 4), number(data, 12, 4)) == (b"PENSNAPS", 1, 0)
    assert [number(data, at, 8) for at in (16, 24, 32)] == [7, 21, START_US + 20]
    assert (data[40:56], number(data, 60, 4)) == (STORE_ID, crc32c(data[:60]))
    seed = crc32c(data[:64])
    at = 64
    kinds: list[int] = []
    rows: list[int] = []
    while data[at : at + 4] == b"PSNB":
        size = number(data, at + 16, 8)
        end = at + 32 + (size + 7) // 8 * 8
        assert number(data, at + 4, 4) == crc32c(data[at + 8 : end], seed)
        assert number(data, at + 24, 8) == len(kinds)
        kinds.append(number(data, at + 8, 4))
        rows.append(number(data, at + 12, 4))
        at = end
    assert (kinds, rows) == ([1, 2, 3, 4, 5], [1, 2, 3, 3, 1])
    assert (data[at : at + 4], number(data, at + 4, 4)) == (b"PSNE", crc32c(data[at + 8 :], seed))
    live_bytes = 3 * 104 + len(b"plain") + 256
    assert [number(data, at + place, 8) for place in range(8, 48, 8)] == [5, 3, 2, live_bytes, at]
    assert len(data) == at + 48
