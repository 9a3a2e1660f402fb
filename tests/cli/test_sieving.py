"""Which dead letters are meant."""

from __future__ import annotations

import os
import re
from typing import Any

import click
import pytest

from penstock.cli.sieving import Letter, Pattern, Sieve

NOW_US = 1_000_000_000
MINUTE_US = 60_000_000


def letter(**said: Any) -> Letter:
    return Letter({"id": "x", "died_us": NOW_US - MINUTE_US, "dead_from": "orders", "body": "id=42 failed", **said})


@pytest.mark.parametrize(
    ("sieve", "kept"),
    [
        (Sieve(), True),
        (Sieve(contains="42 f"), True),
        (Sieve(contains="43"), False),
        (Sieve(contains="ID"), False),
        (Sieve(matches=re.compile(r"id=\d+ ")), True),
        (Sieve(matches=re.compile(r"^failed")), False),
        (Sieve(dead_from=b"orders"), True),
        (Sieve(dead_from=b"orders.new"), False),
        (Sieve(older_than=MINUTE_US - 1), True),
        (Sieve(older_than=MINUTE_US), False),
        (Sieve(newer_than=MINUTE_US), True),
        (Sieve(newer_than=MINUTE_US - 1), False),
        (Sieve(contains="42", dead_from=b"orders", newer_than=MINUTE_US), True),
        (Sieve(contains="42", dead_from=b"other", newer_than=MINUTE_US), False),
    ],
)
def test_every_condition_has_to_hold(sieve: Sieve, kept: bool) -> None:
    assert sieve.keeps(letter(), NOW_US) is kept


def test_a_body_that_is_not_text_is_looked_through_as_well() -> None:
    binary = Letter({"id": "x", "died_us": 0, "dead_from": None, "body64": "/wBoaQ=="})
    assert binary.body == b"\xff\x00hi"
    assert Sieve(contains=os.fsdecode(b"\xff\x00")).keeps(binary, NOW_US)
    assert Sieve(matches=re.compile("hi$")).keeps(binary, NOW_US)
    assert not Sieve(dead_from=b"orders").keeps(binary, NOW_US)


def test_a_queue_of_any_bytes_is_known_again() -> None:
    assert Sieve(dead_from=b"a\xff%").keeps(letter(dead_from="a%FF%25"), NOW_US)


def test_what_is_no_regular_expression_is_told() -> None:
    with pytest.raises(click.BadParameter, match="is no regular expression: "):
        Pattern().convert("(", None, None)
