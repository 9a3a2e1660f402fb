"""`penstock doctor`: all checks together, with a server and without one."""

from __future__ import annotations

from penstock.cli.machine import FAIL, OK, WARN
from tests.cli.conftest import Shell
from tests.cli.journals import flip, three_segments


def verdicts(shell: Shell, *words: str) -> dict[str, str]:
    return {check["name"]: check["verdict"] for check in shell.json("doctor", *words)["checks"]}


def test_on_an_empty_place_only_the_server_is_missing(away: Shell) -> None:
    found = verdicts(away)
    assert found["server"] == WARN
    assert FAIL not in found.values()
    assert not away.data.exists()


def test_a_running_server_is_recognised(shell: Shell) -> None:
    rows = {check["name"]: check for check in shell.json("doctor")["checks"]}
    assert [rows[name]["verdict"] for name in ("data directory", "lock", "journal", "server")] == [OK] * 4
    assert rows["lock"]["found"] in rows["server"]["found"].replace("process", "held by process")


def test_the_table_has_a_row_for_each_check(shell: Shell) -> None:
    lines = shell.text("doctor").splitlines()
    assert lines[0].split() == ["check", "found", "advice"]
    assert len(lines) == len(shell.json("doctor")["checks"]) + 1


def test_a_failed_check_makes_exit_code_1_and_gives_advice(away: Shell) -> None:
    written = three_segments(away.data)
    flip(written.segment(2), 120)
    result = away("doctor")
    assert result.exit_code == 1
    row = next(line for line in result.stdout.splitlines() if line.startswith("journal"))
    assert row.split()[1] == FAIL
    assert "penstock journal verify" in row
