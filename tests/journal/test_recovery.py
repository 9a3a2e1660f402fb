"""Starting again: every fact comes back in order, the last segment is put right, damage is refused with its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.codecs.facts import BadFact, Fact
from penstock.codecs.segments import encode_footer, encode_header, seed_of
from penstock.journal import check
from penstock.journal.journal import Journal, JournalDead
from penstock.journal.recovery import recover
from penstock.journal.segment import JournalDamaged, segment_name
from tests.journal.simdisk import SimDisk
from tests.journal.story import SEGMENT_BYTES, START_US, STORE_ID, batch_of, recovered

ONE, TWO, THREE = segment_name(1), segment_name(2), segment_name(3)


def journal_with(disk: SimDisk, *bodies: bytes) -> Journal:
    _, journal, _ = recovered(disk)
    for place, body in enumerate(bodies):
        journal.append(batch_of((place, body)), START_US + place)
    return journal


def spoil(disk: SimDisk, name: str, at: int, data: bytes) -> None:
    disk.files[name].content[at : at + len(data)] = data


def test_an_empty_directory_is_a_new_journal() -> None:
    disk = SimDisk()
    facts, journal, recovery = recovered(disk)
    assert (facts, journal.segment, journal.next_fact) == ([], 1, 1)
    assert (recovery.clean, recovery.segments, recovery.facts, recovery.last_at_us) == (True, 0, 0, 0)
    assert disk.names() == [ONE]


def test_after_a_clean_stop_nothing_is_rewritten() -> None:
    disk = SimDisk()
    journal_with(disk, b"a", b"b").close(START_US)
    before = disk.contents()
    facts, journal, recovery = recovered(disk)
    assert [row[3] for row in facts] == [b"a", b"b"]
    assert (recovery.clean, recovery.segments, recovery.last_at_us) == (True, 1, START_US + 1)
    assert disk.contents()[ONE] == before[ONE]
    assert (journal.segment, journal.next_fact, journal.synced) == (2, 3, 3)


def test_after_a_kill_the_last_segment_is_written_anew_and_sealed() -> None:
    disk = SimDisk()
    journal_with(disk, b"a", b"b")
    facts, journal, recovery = recovered(disk.after_kill())
    assert (len(facts), recovery.clean, recovery.cut_bytes) == (2, False, 0)
    assert [(one.state, one.facts) for one in check.info(disk)] == [("sealed", 2), ("in use", 0)]
    assert (check.verify(disk), journal.synced) == ([], 3)


def test_a_segment_sealed_but_not_cut_may_not_have_been_synced_and_is_written_anew() -> None:
    disk = SimDisk()
    journal_with(disk, b"a").close(START_US)
    disk.files[ONE].content.extend(bytes(100))
    _, _, recovery = recovered(disk)
    assert recovery.clean
    assert f"rename fresh.journal {ONE}" in disk.operations[-10:]


def test_a_torn_tail_is_cut_and_counted() -> None:
    disk = SimDisk()
    journal = journal_with(disk, b"a", b"b" * 100)
    spoil(disk, ONE, 64 + 40 + 64 + 8 + 40 + 64, b"?")
    journal.append(batch_of((3, b"c"), (4, b"d")), START_US)
    facts, journal, recovery = recovered(disk.after_kill())
    assert [row[3] for row in facts] == [b"a"]
    assert (recovery.cut_bytes, recovery.given_up_facts, recovery.next_fact) == (40 + 64 + 104 + 40 + 128 + 2, 2, 2)
    journal.append(batch_of((5, b"e")), START_US)
    assert [fact.body for fact in check.read(disk)] == [b"a", b"e"]


def test_a_synced_batch_that_cannot_be_read_is_refused_not_cut() -> None:
    disk = SimDisk()
    journal = journal_with(disk, b"a", b"b")
    journal.sync()
    journal.append(batch_of((3, b"c")), START_US)
    spoil(disk, ONE, 64 + 50, b"?")
    before = disk.contents()
    with pytest.raises(JournalDamaged, match=f"{ONE}, byte 64, where fact 1 is expected: .*facts up to 2 were synced"):
        recovered(disk.after_kill())
    assert disk.contents() == before


def test_what_an_earlier_run_left_lying_is_removed() -> None:
    disk = SimDisk({"spare.journal": bytes(10), "fresh.journal": b"half a copy", f"{ONE}.damaged": b"kept"})
    recovered(disk)
    assert sorted(disk.names()) == [ONE, f"{ONE}.damaged"]


def test_a_segment_that_was_never_used_gives_its_number_to_the_next() -> None:
    for head in (b"", bytes(SEGMENT_BYTES), b"PENSTOCK?".ljust(SEGMENT_BYTES, b"\0")):
        disk = SimDisk()
        journal_with(disk, b"a").close(START_US)
        disk.files[TWO] = SimDisk({TWO: head}).files[TWO]
        facts, journal, recovery = recovered(disk)
        assert (len(facts), journal.segment, recovery.clean) == (1, 2, False)
        assert [operation for operation in disk.operations if operation.endswith(TWO)][1:] == [
            f"rename fresh.journal {TWO}"
        ]
        assert check.verify(disk) == []


def test_time_never_runs_backwards_in_the_headers() -> None:
    disk = SimDisk()
    journal = journal_with(disk)
    journal.append(batch_of((1, b"a")), START_US + 1_000)
    _, _, recovery = recovered(disk.after_kill())
    assert recovery.last_at_us == START_US + 1_000
    headers = [int.from_bytes(disk.contents()[name][32:40], "little") for name in (ONE, TWO)]
    assert headers == [START_US, START_US + 1_000]


def test_a_fact_that_cannot_follow_is_damage_with_its_place() -> None:
    def refuse(fact: Fact) -> None:
        if fact.seq == 2:
            raise BadFact("message 7 was never published")

    disk = SimDisk()
    journal_with(disk, b"a", b"b").close(START_US)
    with pytest.raises(
        JournalDamaged, match=f"{ONE}, byte {64 + 40 + 64 + 8}, where fact 2 is expected: message 7 was never published"
    ):
        recover(disk, STORE_ID, refuse, START_US, SEGMENT_BYTES)


def three_segments() -> SimDisk:
    disk = SimDisk()
    journal = journal_with(disk, b"a")
    journal.rotate(START_US)
    journal.append(batch_of((2, b"b")), START_US)
    journal.rotate(START_US)
    journal.append(batch_of((3, b"c")), START_US)
    journal.close(START_US)
    return disk


def remove_first(disk: SimDisk) -> None:
    disk.remove(ONE)


def remove_middle(disk: SimDisk) -> None:
    disk.remove(TWO)


def double_middle(disk: SimDisk) -> None:
    disk.files[THREE].content[:] = disk.contents()[TWO]


def unseal_middle(disk: SimDisk) -> None:
    del disk.files[TWO].content[-56:]


def replace_middle(disk: SimDisk) -> None:
    footer = encode_footer(seed_of(STORE_ID), 2, START_US, 2, 0, 64)
    disk.files[TWO].content[:] = encode_header(2, 2, START_US, STORE_ID) + footer


def foreign_last(disk: SimDisk) -> None:
    disk.files[THREE].content[:64] = encode_header(3, 3, START_US, bytes(16))


@pytest.mark.parametrize(
    ("spoiled", "words"),
    [
        (remove_first, f"{ONE}, byte 0, where fact 1 is expected: the segment is missing"),
        (remove_middle, f"{TWO}, byte 0, where fact 2 is expected: the segment is missing"),
        (double_middle, f"{THREE}, byte 0, where fact 3 is expected: its header says that it is segment 2"),
        (unseal_middle, f"{TWO}, byte 176, where fact 3 is expected: the segment ends without a footer"),
        (replace_middle, f"{THREE}, byte 0, where fact 2 is expected: it begins with fact 3"),
        (foreign_last, f"{THREE}, byte 0, where fact 3 is expected: it is of another store, {bytes(16).hex()}"),
    ],
)
def test_damage_is_refused_with_its_place_and_nothing_is_changed(spoiled: object, words: str) -> None:
    disk = three_segments()
    assert callable(spoiled)
    spoiled(disk)
    before = disk.contents()
    with pytest.raises(JournalDamaged) as refused:
        recovered(disk)
    assert str(refused.value) == words
    assert disk.contents() == before


def test_a_journal_of_another_store_is_refused() -> None:
    disk = three_segments()
    with pytest.raises(JournalDamaged, match=f"it is of another store, {STORE_ID.hex()}"):
        recover(disk, bytes(16), lambda fact: None, START_US)


def test_a_disk_that_cannot_be_read_is_no_journal() -> None:
    disk = three_segments()
    disk.fail_at = len(disk.operations) + 4
    with pytest.raises(JournalDead, match=r"could not read the journal back: .*Input/output error"):
        recovered(disk)


BODIES = st.lists(st.binary(max_size=300), min_size=1, max_size=4)
TURNS = st.lists(
    st.tuples(BODIES, st.sampled_from(["", "sync", "rotate", "spare", "start again", "kill"])), max_size=12
)


@given(TURNS, st.integers(0, 1500))
def test_whatever_was_appended_comes_back_in_order(turns: list[tuple[list[bytes], str]], segment_bytes: int) -> None:
    disk = SimDisk()
    journal, _ = recover(disk, STORE_ID, lambda fact: None, START_US, segment_bytes)
    appended: list[bytes] = []
    for bodies, then in turns:
        journal.append(batch_of(*enumerate(bodies)), START_US)
        appended += bodies
        if then == "sync":
            journal.sync()
        elif then == "rotate":
            journal.rotate(START_US)
        elif then == "spare":
            journal.prepare_spare()
        elif then:
            if then == "start again":
                journal.close(START_US)
            found: list[Fact] = []
            journal, recovery = recover(disk.after_kill(), STORE_ID, found.append, START_US, segment_bytes)
            assert ([fact.body for fact in found], recovery.clean) == (appended, then == "start again")
    assert [(fact.seq, fact.body) for fact in check.read(disk)] == list(enumerate(appended, 1))
    assert check.verify(disk) == []


class Held(bytes):
    """Bytes of a segment that somebody still holds."""

    live = 0

    def __new__(cls, content: bytes) -> Held:
        cls.live += 1
        return super().__new__(cls, content)

    def __del__(self) -> None:
        Held.live -= 1


class HoldingDisk(SimDisk):
    def read(self, name: str) -> bytes:
        assert Held.live == 0
        return Held(super().read(name))


def test_one_segment_is_held_in_memory_at_a_time() -> None:
    assert len(recovered(HoldingDisk(three_segments().contents()))[0]) == 3
    assert Held.live == 0
