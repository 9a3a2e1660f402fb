"""Which campaign is run, and how long, follows from the words behind `python -m torture`."""

from __future__ import annotations

import pytest

from torture.__main__ import ALL, CAMPAIGNS, parsed


def test_without_a_name_it_is_all_of_them_at_full_length() -> None:
    assert parsed([]).campaign == "all"
    assert parsed(["--seed", "7"]).seed == 7
    assert {words[0] for words in ALL} == set(CAMPAIGNS)
    assert [parsed(words).campaign for words in ALL] == [words[0] for words in ALL]


def test_kills_are_a_thousand_with_tables_unless_it_is_told_otherwise() -> None:
    asked = parsed(["kill"])
    assert (asked.cycles, asked.confirm, asked.tables) == (1_000, "write", True)
    asked = parsed(["kill", "--cycles", "3", "--confirm", "sync", "--no-tables"])
    assert (asked.cycles, asked.confirm, asked.tables) == (3, "sync", False)


def test_drivers_are_killed_as_often_as_it_is_told() -> None:
    assert parsed(["driver"]).kills == 40
    assert parsed(["driver", "--kills", "3"]).kills == 3


def test_fuzz_takes_all_dialects_or_those_it_is_told() -> None:
    assert parsed(["fuzz"]).dialect is None
    asked = parsed(["fuzz", "--dialect", "pinpriq", "--live", "--count", "10", "--seed", "7"])
    assert (asked.campaign, asked.dialect, asked.live, asked.count, asked.seed) == ("fuzz", ["pinpriq"], True, 10, 7)


def test_races_are_as_many_as_it_is_told() -> None:
    assert parsed(["races"]).count == 1_000_000
    asked = parsed(["races", "--count", "10", "--seed", "7"])
    assert (asked.campaign, asked.count, asked.seed) == ("races", 10, 7)


def test_power_is_cut_under_load_and_on_peers_where_it_is_told_so() -> None:
    asked = parsed(["power"])
    assert (asked.cuts, asked.confirm, asked.peers, asked.markdown) == (200, "sync", None, None)
    asked = parsed(["power", "--cuts", "0", "--peers", "4", "--markdown", "page.md"])
    assert (asked.cuts, asked.peers, str(asked.markdown)) == (0, 4, "page.md")


def test_a_soak_is_an_hour_and_a_standstill_is_long_unless_it_is_told_otherwise() -> None:
    asked = parsed(["soak"])
    assert (asked.minutes, asked.tables) == (60.0, True)
    asked = parsed(["soak", "--minutes", "0.5", "--rate", "10", "--no-tables"])
    assert (asked.minutes, asked.rate, asked.tables) == (0.5, 10.0, False)
    assert (parsed(["time"]).seconds, parsed(["time", "--seconds", "5"]).seconds) == (150.0, 5.0)


@pytest.mark.parametrize(
    "words",
    [
        ["races", "--live"],
        ["fuzz", "--cycles", "3"],
        ["kill", "--live"],
        ["fuzz", "--dialect", "smoke"],
        ["x"],
        ["--cycles", "3"],
    ],
)
def test_what_a_campaign_does_not_know_is_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit):
        parsed(words)


def test_every_run_has_another_seed_unless_it_is_told_one() -> None:
    assert parsed(["kill"]).seed != parsed(["kill"]).seed
