"""What stands in a transcript's places: the same for ever, and one message in all its forms."""

from __future__ import annotations

import pytest

from penstock.codecs.ids import Ids
from tests.dialects import tokens
from tests.dialects.notations import Token
from tests.dialects.tokens import Pair, Tokens, WrongToken

IDS = Ids(b"tokens")
FIRST, SECOND = IDS.show(7), IDS.show(8)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Tokens:
    """Of a dialect that shows number n as shard n // 10, sequence n % 10."""
    pair = Pair(lambda ids, shard, sequence: shard * 10 + sequence, lambda ids, seq: divmod(seq, 10))
    monkeypatch.setattr(tokens, "PAIRS", {"pairs": pair})
    return Tokens("pairs", IDS)


def test_the_first_time_any_then_the_same(known: Tokens) -> None:
    assert known.read(Token("id", "a"), FIRST + b" and more") == 10
    assert known.said(Token("id", "a")) == FIRST
    with pytest.raises(WrongToken):
        known.read(Token("id", "a"), SECOND)


def test_ids_of_different_names_differ_and_so_do_clients(known: Tokens) -> None:
    known.read(Token("id", "a"), FIRST)
    known.read(Token("client", "a"), b"12,")
    with pytest.raises(WrongToken):
        known.read(Token("id", "b"), FIRST)
    with pytest.raises(WrongToken):
        known.read(Token("client", "b"), b"12,")


@pytest.mark.parametrize("heard", [b"", b"short", b"ten chars?", b"-1"])
def test_what_is_no_token(known: Tokens, heard: bytes) -> None:
    for kind in ("id", "client"):
        with pytest.raises(WrongToken):
            known.read(Token(kind, "a"), heard)


def test_what_nobody_has_said_cannot_be_sent(known: Tokens) -> None:
    with pytest.raises(WrongToken):
        known.said(Token("client", "a"))


def test_as_bytes_a_token_is_little_endian(known: Tokens) -> None:
    assert known.read(Token("client", "a", binary=True), bytes([5, 1, 0, 0, 0, 0, 0, 0, 9])) == 8
    assert known.said(Token("client", "a")) == b"261"
    assert known.read(Token("shard", "a", binary=True), b"\2\0\0\0") == 4
    assert known.said(Token("shard", "a", binary=True)) == b"\2\0\0\0"
    with pytest.raises(WrongToken):
        known.read(Token("sequence", "b", binary=True), b"\2\0\0\0")


def test_a_pair_and_an_id_of_one_message_are_one(known: Tokens) -> None:
    known.read(Token("shard", "a"), b"0")
    known.read(Token("sequence", "a"), b"7")
    assert known.said(Token("id", "a")) == FIRST
    known.read(Token("id", "b"), SECOND)
    assert (known.said(Token("shard", "b")), known.said(Token("sequence", "b"))) == (b"0", b"8")
    with pytest.raises(WrongToken):
        known.read(Token("sequence", "b"), b"7")


def test_the_shard_of_another_message_may_be_the_same(known: Tokens) -> None:
    assert known.read(Token("shard", "a"), b"3") == known.read(Token("shard", "b"), b"3") == 1
