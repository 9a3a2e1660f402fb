"""`penstock config`: right or wrong, and where each value came from."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from penstock.cli.flags import config_flags
from penstock.cli.main import main
from penstock.server.options import LISTEN, OPTIONS
from tests.cli.conftest import Shell

FILE = """\
confirm = "write"
[limits]
connections = 7
[[policy]]
match = "orders*"
lease_s = 1.5
backoff_s = [1, 5]
dead_letter = "orders.dead"
"""


def run(*words: str, **environment: str) -> Result:
    return CliRunner().invoke(main, words, env=environment)


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "penstock.toml"
    path.write_text(FILE)
    return str(path)


def test_every_option_of_the_server_has_a_flag() -> None:
    @click.command
    @config_flags
    def command() -> None:
        pass

    flags = {flag for parameter in command.params for flag in parameter.opts}
    wanted = {option.flag for key, option in OPTIONS.items() if not key.startswith(f"{LISTEN}.")}
    assert flags == {*wanted, "--listen", "--config"}


def test_a_right_configuration_is_called_right(file: str) -> None:
    result = run("config", "check", "--config", file)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"The configuration is right: 2 of {len(OPTIONS)} options differ from their default.\n"


def test_every_problem_is_told_at_once_and_the_exit_code_is_2() -> None:
    result = run("config", "check", "--confirm", "synk", "--listen", "redis=1:2", PENSTOCK_LIMITS_CONNECTIONS="many")
    assert (result.exit_code, result.stdout) == (2, "")
    head, *problems = result.stderr.splitlines()
    assert head == "Error: the configuration is wrong."
    assert len(problems) == 3
    for place in ("confirm (flag)", "--listen redis=1:2", "environment PENSTOCK_LIMITS_CONNECTIONS"):
        assert any(place in problem for problem in problems)


def test_a_missing_file_is_a_problem() -> None:
    result = run("config", "show", "--config", "nowhere.toml")
    assert result.exit_code == 2
    assert "nowhere.toml: cannot be read: No such file or directory" in result.stderr


def test_show_tells_flag_environment_file_and_default(file: str) -> None:
    result = run("config", "show", "--config", file, "--data", "here", PENSTOCK_LOG_LEVEL="debug")
    rows = {line.split()[0]: line.split(maxsplit=2)[1:] for line in result.stdout.splitlines()}
    assert rows["data"] == ['"here"', "flag"]
    assert rows["log.level"] == ['"debug"', "environment PENSTOCK_LOG_LEVEL"]
    assert rows["confirm"] == ['"write"', f"file {file}"]
    assert rows["broker"] == ['"embedded"', "default"]


def test_show_tells_the_policies(file: str) -> None:
    lines = run("config", "show", "--config", file).stdout.splitlines()
    assert [" ".join(line.split()) for line in lines if line.startswith("policy")] == [
        f'policy "orders*" lease_s 1.5 file {file}',
        f'policy "orders*" backoff_s [1, 5] file {file}',
        f'policy "orders*" dead_letter "orders.dead" file {file}',
    ]


def test_json_has_values_as_toml_gives_them(file: str, away: Shell) -> None:
    shown = away.json("config", "show", "--config", file, "--insecure")
    values = {row["option"]: row["value"] for row in shown["options"]}
    assert (values["confirm"], values["limits.connections"], values["insecure"]) == ("write", 7, True)
    assert values["data"] == str(away.data)
    assert shown["policies"] == [
        {"match": "orders*", "lease_s": 1.5, "backoff_s": [1, 5], "dead_letter": "orders.dead"}
    ]


def test_a_variable_that_is_nearly_one_of_ours_is_warned_about() -> None:
    result = run("config", "check", PENSTOCK_CONFRM="write")
    assert result.exit_code == 0
    assert result.stderr == "Warning: environment PENSTOCK_CONFRM: is not read; did you mean `PENSTOCK_CONFIRM`?\n"


def test_other_commands_find_the_data_directory_in_the_file_too(tmp_path: Path) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text('data = "over/there"\n')
    result = run("queue", "list", PENSTOCK_CONFIG=str(file))
    assert "no server is running on over/there" in result.stderr
