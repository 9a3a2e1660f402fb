"""docs/commands.md is what the commands say of themselves."""

from __future__ import annotations

from pathlib import Path

import click

from penstock.cli.main import main
from penstock.cli.program import EXIT_CODES
from penstock.cli.reference import commands_markdown
from penstock.cli.samples import SAMPLES
from tests.cli.test_program import commands

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"


def test_the_page_is_made_from_the_commands() -> None:
    assert PAGE.read_text() == commands_markdown()


def test_the_page_has_every_command_and_exit_code() -> None:
    page = commands_markdown()
    assert all(f"# penstock {' '.join(path)}\n" in page for path, _ in commands(main))
    assert all(f"| {code} | {about} |" in page for code, about in EXIT_CODES.items())


def test_every_command_that_prints_json_has_a_sample() -> None:
    printing = {" ".join(path) for path, command in commands(main) if _has_output(command)}
    assert set(SAMPLES) == printing


def _has_output(command: click.Command) -> bool:
    return any("--output" in parameter.opts for parameter in command.params)
