"""The golden journals: bytes that were written once and must be readable for ever."""

from __future__ import annotations

import shutil
from pathlib import Path

from crc32c import crc32c

from penstock.codecs.facts import Fact, decode_origin
from penstock.journal import check
from penstock.journal.disk import OsDisk
from penstock.journal.recovery import recover
from penstock.model.facts import FACT_NAMES
from tests.journal.make_golden import START_US, STORE_ID, make

V1 = Path(__file__).parent / "golden" / "v1"
NEVER_US = 1 << 61
JUMP = 1 << 32

# number, µs after the start, kind, flags, dialect, reason, queue, message, due_us, expires_us, lease_us, number, holder
EXPECTED = [
    (1, 0, "started", 0, 0, 0, 0, JUMP, 0, 0, 0, 0, 0),
    (2, 1, "declared", 0, 4, 0, 1, 0, 0, 0, 0, 0, 0),
    (3, 1, "declared", 0, 0, 0, 2, 0, 0, 0, 0, 0, 0),
    (4, 1, "set", 0, 0, 0, 1, 0, 0, 0, 0, 0, 0),
    (5, 1, "paused", 0, 0, 0, 1, 0, 0, 0, 0, 0, 0),
    (6, 1, "resumed", 0, 0, 0, 1, 0, 0, 0, 0, 0, 0),
    (7, 2, "published", 0, 4, 0, 1, JUMP + 1, START_US + 2, NEVER_US, -1, 0, 0),
    (8, 2, "published", 3, 2, 0, 1, JUMP + 2, START_US + 1_000_002, START_US + 60_000_000, 30_000_000, -5, 0),
    (9, 2, "published", 2, 0, 0, 2, JUMP + 3, START_US + 2, NEVER_US, -1, 4_294_967_295, 0),
    (10, 2, "published", 0, 0, 0, 1, JUMP + 4, START_US + 2, NEVER_US, -1, 0, 0),
    (11, 3, "leased", 4, 4, 0, 1, JUMP + 1, START_US + 9_000_000, 0, 9_000_000, 1, 12),
    (12, 3, "leased", 0, 4, 0, 1, JUMP + 4, START_US + 9_000_000, 0, 9_000_000, 1, 0),
    (13, 3, "extended", 0, 4, 0, 1, JUMP + 1, START_US + 19_000_000, 0, 10_000_000, 1, 0),
    (14, 4, "released", 8, 0, 4, 1, JUMP + 1, START_US + 4, 0, 0, 1, 0),
    (15, 4, "dropped", 8, 4, 5, 1, JUMP + 4, 0, 0, 0, 1, 0),
    (16, 5, "finished", 0, 4, 2, 1, JUMP + 1, 0, 0, 0, 2, 12),
    (17, 5, "expired", 0, 0, 0, 1, JUMP + 2, 0, 0, 0, 0, 0),
    (18, 5, "deleted", 0, 5, 7, 2, JUMP + 3, 0, 0, 0, 0, 0),
    (19, 6, "woken", 0, 0, 0, 0, JUMP + 5, 0, 0, 0, 0, 0),
    (20, 6, "removed", 0, 5, 0, 1, 0, 0, 0, 0, 0, 0),
]

# fact: key, body; the others have neither
CONTENT: dict[int, tuple[bytes | None, bytes]] = {
    1: (None, b'{"clean":true}'),
    2: (b"orders", b"{}"),
    3: (b"other", b"{}"),
    4: (b"orders", b'{"lease_us":2000000}'),
    5: (b"orders", b""),
    6: (b"orders", b""),
    7: (None, b"plain"),
    8: (b"", bytes(range(256))),
    9: (b"a key", b""),
    10: (None, b"poison"),
    20: (b"orders", b""),
}


def columns(fact: Fact) -> tuple[object, ...]:
    return (
        fact.seq,
        fact.at_us - START_US,
        FACT_NAMES[fact.kind],
        fact.flags,
        fact.dialect,
        fact.reason,
        fact.queue_id,
        fact.message,
        fact.due_us,
        fact.expires_us,
        fact.lease_us,
        fact.number,
        fact.holder,
    )


def number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")


def test_version_1_is_read_to_the_values_it_was_written_with() -> None:
    facts = list(check.read(OsDisk(str(V1))))
    assert [columns(fact) for fact in facts] == EXPECTED
    for fact in facts:
        assert (fact.key, fact.body) == CONTENT.get(fact.seq, (None, b"")), fact.seq
    assert {fact.seq for fact in facts if fact.extra} == {8}
    origin = decode_origin(facts[7].extra)
    assert origin is not None
    assert (origin.dedup_id, origin.foreign_id) == (b"once", b"foreign")
    assert (origin.trace, origin.principal) == (b"trace", b"anna")
    assert (origin.poster, origin.label, origin.notify, origin.dead_of) == (77, 1 << 63, 0b1000101, 41)


def test_version_1_is_sound_and_its_server_may_go_on(tmp_path: Path) -> None:
    assert check.verify(OsDisk(str(V1))) == []
    shutil.copytree(V1, tmp_path / "copy")
    facts: list[Fact] = []
    journal, recovery = recover(OsDisk(str(tmp_path / "copy")), STORE_ID, facts.append, START_US + 100)
    journal.close(START_US + 100)
    assert (len(facts), recovery.next_fact, recovery.clean, recovery.cut_bytes) == (20, 21, False, 0)
    assert (recovery.segments, recovery.last_at_us) == (4, START_US + 6)


def test_the_golden_journal_has_every_kind_of_fact() -> None:
    assert {row[2] for row in EXPECTED} == set(FACT_NAMES.values())


def test_the_writer_of_today_makes_the_same_bytes(tmp_path: Path) -> None:
    made = tmp_path / "made"
    make(str(made))
    assert {path.name: path.read_bytes() for path in made.iterdir()} == {
        path.name: path.read_bytes() for path in V1.iterdir()
    }


def test_the_bytes_stand_where_the_documentation_draws_them() -> None:
    data = (V1 / "00000000000000000002.journal").read_bytes()
    seed = crc32c(b"golden store: v1")
    assert (data[:8], number(data, 8, 4), number(data, 12, 4)) == (b"PENSTOCK", 1, 0)
    assert (number(data, 16, 8), number(data, 24, 8), number(data, 32, 8)) == (2, 7, START_US + 2)
    assert (data[40:56], number(data, 56, 4), number(data, 60, 4)) == (b"golden store: v1", 0, crc32c(data[:60]))
    batch = data[64:]
    count, heap = number(batch, 32, 4), number(batch, 36, 4)
    end = 40 + 64 * count + (heap + 7) // 8 * 8
    assert (number(batch, 0, 4), number(batch, 4, 4)) == (0x54414250, crc32c(batch[8:end], seed))
    assert (number(batch, 8, 8), number(batch, 16, 8), number(batch, 24, 8), count) == (7, START_US + 2, 7, 4)
    footer = data[-56:]
    assert (number(footer, 0, 4), number(footer, 4, 4)) == (0x444E4550, crc32c(footer[8:], seed))
    assert [number(footer, at, 8) for at in range(8, 56, 8)] == [14, START_US + 4, 14, 7, len(data) - 56, 0]
