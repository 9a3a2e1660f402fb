"""What people are shown of a journal, and that looking changes nothing."""

from __future__ import annotations

import pytest

from penstock.codecs.segments import encode_batch, seed_of
from penstock.journal import check
from penstock.journal.segment import JournalDamaged, segment_name
from tests.journal.simdisk import SimDisk
from tests.journal.story import START_US, STORE_ID, batch_of, recovered

ONE, TWO, THREE = segment_name(1), segment_name(2), segment_name(3)


def three_segments() -> SimDisk:
    """Facts 1 and 2, 3 and 4, 5; the last segment in use."""
    disk = SimDisk()
    _, journal, _ = recovered(disk)
    journal.append(batch_of((1, b"a")), START_US + 1)
    journal.append(batch_of((2, b"b")), START_US + 2)
    journal.rotate(START_US + 3)
    journal.append(batch_of((3, b"c"), (4, b"d")), START_US + 4)
    journal.rotate(START_US + 5)
    journal.append(batch_of((5, b"e")), START_US + 6)
    return disk


def seen(disk: SimDisk) -> list[tuple[object, ...]]:
    return [
        (one.number, one.state, one.facts, one.first, one.last, one.first_at_us - START_US, one.last_at_us - START_US)
        for one in check.info(disk)
    ]


def test_info_shows_each_segment() -> None:
    disk = three_segments()
    assert seen(disk) == [
        (1, "sealed", 2, 1, 2, 1, 2),
        (2, "sealed", 2, 3, 4, 4, 4),
        (3, "in use", 1, 5, 5, 6, 6),
    ]
    assert [(one.name, one.bytes, one.sealed) for one in check.info(disk)] == [
        (name, len(content), name != THREE) for name, content in disk.contents().items()
    ]


def test_info_of_an_empty_directory_is_empty() -> None:
    assert check.info(SimDisk()) == []


@pytest.mark.parametrize(
    ("name", "at", "data", "states"),
    [
        (TWO, 100, b"?", ["sealed", "damaged", "in use"]),
        (TWO, 0, b"?", ["sealed", "damaged", "in use"]),
        (THREE, 100, b"?", ["sealed", "sealed", "torn"]),
        (THREE, 0, bytes(2048), ["sealed", "sealed", "unused"]),
    ],
)
def test_info_names_what_is_wrong(name: str, at: int, data: bytes, states: list[str]) -> None:
    disk = three_segments()
    disk.files[name].content[at : at + len(data)] = data
    assert [one.state for one in check.info(disk)] == states


def test_info_shows_a_gap() -> None:
    disk = three_segments()
    disk.remove(TWO)
    assert [(one.number, one.state) for one in check.info(disk)] == [(1, "sealed"), (2, "missing"), (3, "in use")]


def test_a_sound_journal_has_no_problems_be_it_in_use_or_closed() -> None:
    disk = three_segments()
    assert check.verify(disk) == []
    recovered(disk.after_kill())[1].close(START_US)
    assert check.verify(disk) == []


def test_verify_goes_on_after_damage() -> None:
    disk = three_segments()
    for name in (ONE, TWO, THREE):
        disk.files[name].content[120] ^= 1
    problems = check.verify(disk)
    assert [(one.file, one.offset, one.expected, one.torn) for one in problems] == [
        (ONE, 64, 1, False),
        (TWO, 64, 3, False),
        (THREE, 64, 5, True),
    ]
    assert problems[2].reason == "a torn tail of 105 bytes, to be cut at the next start"


def test_verify_finds_facts_that_are_none_behind_a_right_checksum() -> None:
    disk = three_segments()
    batch = batch_of((6, b"f"))
    payload = batch.payload()
    bad = encode_batch(seed_of(STORE_ID), 6, START_US, 5, 1, batch.heap_bytes(), bytes([99]) + payload[1:])
    disk.files[THREE].content[176 : 176 + len(bad)] = bad
    assert [(one.offset, one.reason) for one in check.verify(disk)] == [(176, "fact 6 is of the unknown kind 99")]
    with pytest.raises(JournalDamaged, match="unknown kind 99"):
        list(check.read(disk))


def test_facts_are_read_from_any_number_on() -> None:
    disk = three_segments()
    for first in range(1, 8):
        assert [fact.seq for fact in check.read(disk, first)] == list(range(first, 6))
    assert [fact.body for fact in check.read(disk)] == [b"a", b"b", b"c", b"d", b"e"]


def test_reading_ends_at_a_torn_tail_and_stops_at_damage() -> None:
    disk = three_segments()
    disk.files[THREE].content[120] ^= 1
    assert [fact.seq for fact in check.read(disk)] == [1, 2, 3, 4]
    disk.files[TWO].content[120] ^= 1
    reading = check.read(disk)
    assert [next(reading).seq, next(reading).seq] == [1, 2]
    with pytest.raises(JournalDamaged, match=f"{TWO}, byte 64, where fact 3 is expected"):
        next(reading)


def test_looking_changes_nothing() -> None:
    disk = three_segments()
    before = len(disk.operations)
    check.info(disk)
    check.verify(disk)
    list(check.read(disk))
    assert all(operation.startswith(("names", "read")) for operation in disk.operations[before:])


def test_a_fact_becomes_a_row_with_names() -> None:
    fact = next(check.read(three_segments()))
    row = check.fact_row(fact)
    assert (row["fact"], row["kind"], row["reason"], row["message"], row["body"]) == (1, "published", "", 1, b"a")
    fact.kind, fact.reason = 99, 77
    assert (check.fact_row(fact)["kind"], check.fact_row(fact)["reason"]) == ("99", "77")
