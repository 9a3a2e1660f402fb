"""The names of queues, as the archive remembers them from one file to the next."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.history.queues import QueueNames, decode_queues, encode_queues, matches
from penstock.model import facts


@given(st.dictionaries(st.integers(1, 1 << 32), st.binary(max_size=20)))
def test_names_of_any_bytes_come_back(live: dict[int, bytes]) -> None:
    assert decode_queues(encode_queues(live)) == live


def test_a_queue_that_is_gone_is_known_but_does_not_live() -> None:
    queues = QueueNames({1: b"old"})
    queues.tell(facts.DECLARED, 2, b"new")
    queues.tell(facts.REMOVED, 1, b"old")
    queues.tell(facts.PAUSED, 2, b"new")
    assert queues.known == {1: b"old", 2: b"new"}
    assert queues.live() == {2: b"new"}


def test_a_pattern_is_a_name_or_a_prefix_with_a_star() -> None:
    patterns = [b"secret*", b"exact"]
    assert [name for name in (b"secret", b"secrets", b"exact", b"exactly", b"a secret") if matches(name, patterns)] == [
        b"secret",
        b"secrets",
        b"exact",
    ]
    assert matches(b"anything", [b"*"])
    assert not matches(b"anything", [])
