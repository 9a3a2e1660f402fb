"""[[policy]] tables become policies, in the units of the engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.model.policy import POLICY_FIELDS
from penstock.server.config import load
from penstock.server.policies import POLICY_KEYS, read_said
from penstock.server.problems import ConfigError, Problem


def policies(tmp_path: Path, text: str) -> dict[bytes, dict[str, object]]:
    file = tmp_path / "penstock.toml"
    file.write_text(text)
    return {
        match: {field: getattr(policy, field) for field in POLICY_FIELDS if getattr(policy, field) is not None}
        for match, policy in load({}, {}, file).policies
    }


def problems(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        policies(tmp_path, text)
    return [problem.words for problem in caught.value.problems]


def test_every_field_of_a_policy_can_be_said() -> None:
    assert {field for field, _, _ in POLICY_KEYS.values()} == set(POLICY_FIELDS)


def test_seconds_become_microseconds_and_names_bytes(tmp_path: Path) -> None:
    text = """
        [[policy]]
        match = "orders*"
        lease_s = 30
        delay_s = 0.25
        ttl_s = 3600
        attempts = 5
        backoff_s = [1, 5, 0.5]
        dead_letter = "orders%FF"
        max_length = 10
        max_bytes = 20
        max_body = 30
        dedup_s = 60
    """
    assert policies(tmp_path, text) == {
        b"orders*": {
            "lease_us": 30_000_000,
            "delay_us": 250_000,
            "ttl_us": 3_600_000_000,
            "attempts": 5,
            "backoff_us": (1_000_000, 5_000_000, 500_000),
            "dead_letter": b"orders\xff",
            "max_length": 10,
            "max_bytes": 20,
            "max_body": 30,
            "dedup_us": 60_000_000,
        }
    }


def test_what_is_not_said_stays_unsaid(tmp_path: Path) -> None:
    assert policies(tmp_path, '[[policy]]\nmatch = "a"\n[[policy]]\nmatch = "b"\nlease_s = 0') == {
        b"a": {},
        b"b": {"lease_us": 0},
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('policy = "x"', "must be tables, each beginning with [[policy]]"),
        ("policy = [1]", "must be tables, each beginning with [[policy]]"),
        ("[[policy]]\nmatch = 1\nlease_s = 1", "must be text, not 1"),
        ('[[policy]]\nmatch = "a"\n[[policy]]\nmatch = "a"', "has a policy above already"),
        ('[[policy]]\nmatch = "a"\ndead_letter = "a"', "a queue cannot be its own dead-letter queue"),
        ('[[policy]]\nmatch = "a"\nbackoff_s = 1', "must be a list of seconds, such as [1, 5, 30], not 1"),
        ('[[policy]]\nmatch = "a"\nbackoff_s = ["x"]', 'must be a number, not "x"'),
        ('[[policy]]\nmatch = "a"\nattempts = 1.5', "must be a whole number, not 1.5"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, words: str) -> None:
    assert words in problems(tmp_path, text)


# -- said of one queue, through the API


def test_what_is_null_is_unsaid_and_the_rest_is_read() -> None:
    wrong: list[Problem] = []
    said = read_said({"lease_s": 1.5, "ttl_s": None, "dead_letter": "d%FF"}, b"q", wrong)
    assert (said.policy.lease_us, said.policy.dead_letter, said.unsaid) == (1_500_000, b"d\xff", ("ttl_us",))
    assert wrong == []


def test_the_queue_without_a_name_may_have_no_dead_letters() -> None:
    wrong: list[Problem] = []
    assert read_said({"dead_letter": ""}, b"", wrong).policy.dead_letter == b""
    assert wrong == []


def test_a_pattern_cannot_be_said_of_one_queue() -> None:
    wrong: list[Problem] = []
    read_said({"match": "q*", "nonsense": None}, b"q", wrong)
    assert [str(problem) for problem in wrong] == ["match: no such key", "nonsense: no such key"]
