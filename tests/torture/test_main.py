"""Which campaign is run, and how long, follows from the words behind `python -m torture`."""

from __future__ import annotations

import pytest

from torture.__main__ import parsed


def test_without_a_name_it_is_the_kills() -> None:
    asked = parsed([])
    assert (asked.campaign, asked.cycles, asked.confirm) == ("kill", 500, "write")
    assert parsed(["--cycles", "3", "--confirm", "sync"]).cycles == 3


def test_fuzz_takes_all_dialects_or_those_it_is_told() -> None:
    assert parsed(["fuzz"]).dialect is None
    asked = parsed(["fuzz", "--dialect", "pinpriq", "--live", "--count", "10", "--seed", "7"])
    assert (asked.campaign, asked.dialect, asked.live, asked.count, asked.seed) == ("fuzz", ["pinpriq"], True, 10, 7)


def test_races_are_as_many_as_it_is_told() -> None:
    assert parsed(["races"]).count == 100_000
    asked = parsed(["races", "--count", "10", "--seed", "7"])
    assert (asked.campaign, asked.count, asked.seed) == ("races", 10, 7)


@pytest.mark.parametrize(
    "words", [["races", "--live"], ["fuzz", "--cycles", "3"], ["kill", "--live"], ["fuzz", "--dialect", "smoke"], ["x"]]
)
def test_what_a_campaign_does_not_know_is_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit):
        parsed(words)


def test_every_run_has_another_seed_unless_it_is_told_one() -> None:
    assert parsed(["kill"]).seed != parsed(["kill"]).seed
