"""RSMQ's names: every key means one thing, scores are milliseconds rounded up, scripts are known by their hashes."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.codecs import rsmq_keys
from penstock.codecs.rsmq_keys import HASH, NO_KEY, NO_SCRIPT, POP, QUEUES, RECEIVE, VISIBILITY, ZSET, Keys
from penstock.model.limits import NEVER_US

KEYS = Keys(b"rsmq")


@given(st.binary(max_size=20))
def test_a_queue_has_keys_of_its_own_or_none(queue: bytes) -> None:
    if rsmq_keys.has_keys(queue):
        zset, hash = KEYS.read(KEYS.zset(queue)), KEYS.read(KEYS.hash(queue))
        assert (zset.kind, zset.queue) == (ZSET, queue)
        assert (hash.kind, hash.queue) == (HASH, queue)
    assert KEYS.channel_queue(KEYS.channel(queue)) == queue


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (b"rsmq:QUEUES", QUEUES),
        (b"rsmq:QUEUES:Q", NO_KEY),
        (b"rsmq:rt:q", NO_KEY),
        (b"rsmq:a:b:Q", NO_KEY),
        (b"rsmq", NO_KEY),
        (b"other:q", NO_KEY),
        (b"rsmq:Q", ZSET),
        (b"rsmq:Q:Q", HASH),
        (b"rsmq:", ZSET),
    ],
)
def test_what_a_key_is(name: bytes, kind: int) -> None:
    assert KEYS.read(name).kind == kind


def test_many_names_are_not_remembered_for_ever() -> None:
    keys = Keys(b"rsmq")
    for number in range(3_000):
        assert keys.read(b"rsmq:%d" % number).queue == b"%d" % number
    assert len(keys._known) <= 1_024


@pytest.mark.parametrize(
    ("name", "may"),
    [(b"a-Z_9", True), (b"a" * 256, True), (b"a" * 257, False), (b"", False), (b"a.b \xc3", True), (b"a:b", False)],
)
def test_which_queues_may_be_made(name: bytes, may: bool) -> None:
    assert rsmq_keys.may_create(name) == may


@given(st.integers(0, 9_999_999_999_998))
def test_a_score_is_a_time_and_back(score: int) -> None:
    assert rsmq_keys.due_us(b"%d" % score) == score * 1_000
    assert rsmq_keys.score_ms(score * 1_000) == score
    assert rsmq_keys.score_ms(score * 1_000 + 1) == score + 1


@pytest.mark.parametrize(
    ("text", "us"),
    [
        (b"1.5", 2_000),
        (b"1e3", 1_000_000),
        (b"-7", 0),
        (b"-inf", 0),
        (b"+inf", NEVER_US),
        (b"9999999999999", NEVER_US),
        (b"99999999999999", NEVER_US),
        (b"x", rsmq_keys.NO_SCORE),
        (b"", rsmq_keys.NO_SCORE),
        (b"nan", rsmq_keys.NO_SCORE),
    ],
)
def test_scores_are_read_leniently(text: bytes, us: int) -> None:
    assert rsmq_keys.due_us(text) == us


def test_what_never_comes_has_the_last_score() -> None:
    assert rsmq_keys.score_ms(NEVER_US) == 9_999_999_999_999


def test_four_clients_have_three_scripts_each() -> None:
    kinds = list(rsmq_keys.SCRIPTS.values())
    assert {kind: kinds.count(kind) for kind in kinds} == {RECEIVE: 4, POP: 4, VISIBILITY: 4}
    assert rsmq_keys.script(b"937BB26841B123886255EF3956A57C83E829AB3E") == RECEIVE
    assert rsmq_keys.script(b"f" * 40) == NO_SCRIPT


def test_a_script_is_known_by_its_words_and_then_by_its_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"return  1\n"
    assert rsmq_keys.load(text) == NO_SCRIPT
    assert rsmq_keys.script(hashlib.sha1(text).hexdigest().encode()) == NO_SCRIPT
    assert rsmq_keys.sha1(b" ".join(text.split())) == hashlib.sha1(b"return 1").hexdigest().encode()
