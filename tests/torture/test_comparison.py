"""Counting what came of a power cut, for the table beside the peers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torture.power.comparison import Count, Ledger, laws, table
from torture.power.peers import PEERS, Peer

READY, WRITE, SYNC, BEANSTALKD, *_ = PEERS


def ledger(*rows: tuple[bytes, float, float]) -> Ledger:
    """A cut at 10 seconds; of each publish when it was sent and when it was acknowledged."""
    made = Ledger(cut_s=(10.0, 10.1))
    for body, sent_s, told_s in rows:
        made.sent_s[body], made.told_s[body] = sent_s, told_s
    return made


def counted(told: Ledger, there: set[bytes]) -> Count:
    count = Count()
    count.add(told, there)
    return count


def test_what_is_acknowledged_and_not_there_is_lost() -> None:
    count = counted(ledger((b"kept", 1, 2), (b"lost", 3, 4)), {b"kept"})
    assert (count.cuts, count.told, count.lost, count.holes, count.late) == (1, 2, 1, 0, 0)


def test_what_was_acknowledged_while_the_power_was_cut_is_counted_apart() -> None:
    count = counted(ledger((b"kept", 9.9, 10.05), (b"lost", 9.9, 10.05)), {b"kept"})
    assert (count.told, count.lost, count.amid, count.late) == (0, 0, 1, 0)


def test_what_was_asked_for_after_the_cut_and_acknowledged_was_never_there() -> None:
    count = counted(ledger((b"late", 10.2, 10.3)), set())
    assert (count.told, count.lost, count.amid, count.late) == (0, 0, 0, 1)


def test_what_is_there_though_something_before_it_is_lost_is_a_hole() -> None:
    rows = ledger((b"lost", 1, 2), (b"at the same time", 1.5, 3), (b"after it", 2.5, 3))
    assert counted(rows, {b"at the same time"}).holes == 0
    assert counted(rows, {b"at the same time", b"after it"}).holes == 1


def broken(peer: Peer, **counts: Any) -> list[str]:
    """The names of the laws."""
    whole = Count(cuts=3, ended=3)
    return [line.partition(":")[0] for line in laws([(peer, replace(whole, **counts))])]


def test_each_stage_is_held_to_its_promise() -> None:
    assert broken(SYNC) == []
    assert broken(SYNC, lost=1) == broken(SYNC, amid=1) == ["lost"]
    assert broken(WRITE, lost=1) == broken(READY, lost=1) == []
    assert broken(WRITE, late=1) == ["answered after the disk had died"]
    assert broken(READY, late=1) == []
    assert broken(READY, holes=1) == ["holes"]
    assert broken(READY, ended=2, unstarted=1) == ["did not end by itself", "did not start again"]


def test_of_peers_nothing_is_asked() -> None:
    assert broken(BEANSTALKD, lost=9, holes=9, late=9, ended=0, unstarted=3) == []


def test_the_table_has_a_row_for_each() -> None:
    count = Count(cuts=40, told=12_345, lost=678, late=9, ended=40)
    made = table([(SYNC, count), (BEANSTALKD, replace(count, ended=0, unstarted=2))])
    assert made.rows[0] == ["penstock", "`sync`", "40", "12,345", "678", "9", "ends"]
    assert made.rows[1][-1] == "runs on; did not start again: 2"
