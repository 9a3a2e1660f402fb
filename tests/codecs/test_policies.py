"""A policy as bytes and back: every field that is said, and no other."""

from __future__ import annotations

import pytest

from penstock.codecs.facts import BadFact
from penstock.codecs.policies import decode_policy, encode_policy
from penstock.model.policy import POLICY_FIELDS, Past, Policy


def test_what_is_said_is_read_back() -> None:
    policy = Policy(lease_us=1, backoff_us=(2, 3), dead_letter=b"a\xff", past=Past(4, 5, 6, 7))
    found = decode_policy(encode_policy(policy))
    assert {field: getattr(found, field) for field in POLICY_FIELDS if getattr(found, field) is not None} == {
        "lease_us": 1,
        "backoff_us": (2, 3),
        "dead_letter": b"a\xff",
    }
    assert found.past == Past(4, 5, 6, 7)


def test_nothing_said_is_nothing_written() -> None:
    assert encode_policy(Policy()) == b""
    assert decode_policy(b"").past is None


def test_what_this_version_does_not_know_is_no_policy() -> None:
    with pytest.raises(BadFact):
        decode_policy(b'{"later":1}')
