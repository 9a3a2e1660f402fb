"""The dedup ids of a queue: found while they are remembered, forgotten in the order of their publishing, bounded."""

from __future__ import annotations

from penstock.engine.dedup import Dedup
from penstock.model.limits import DEDUP_IDS_MAX


def test_an_id_is_known_until_it_is_forgotten() -> None:
    dedup = Dedup()
    dedup.remember(b"a", 1, 10)
    dedup.remember(b"b", 2, 20)
    assert (dedup.number(b"a"), dedup.number(b"b"), dedup.number(b"c")) == (1, 2, 0)
    dedup.forget(10)
    assert (dedup.number(b"a"), dedup.number(b"b"), len(dedup)) == (0, 2, 1)


def test_an_id_that_was_used_again_is_the_newer_messages() -> None:
    dedup = Dedup()
    dedup.remember(b"a", 1, 10)
    dedup.remember(b"b", 2, 15)
    dedup.remember(b"a", 3, 20)
    dedup.forget(15)
    assert (dedup.number(b"a"), dedup.number(b"b")) == (3, 0)
    dedup.forget(20)
    assert len(dedup) == 0


def test_of_too_many_the_oldest_go() -> None:
    dedup = Dedup()
    for number in range(1, DEDUP_IDS_MAX + 3):
        dedup.remember(b"%d" % number, number, 10)
    assert len(dedup) == DEDUP_IDS_MAX
    assert (dedup.number(b"2"), dedup.number(b"3")) == (0, 3)
