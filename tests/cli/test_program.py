"""What every command has in common: help, errors, exit codes, a quiet end."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner, Result

from penstock import __version__
from penstock.cli.main import main
from penstock.cli.program import BadUsage, Damaged, Failure, InUse, Program, WithExamples
from tests.cli.conftest import program


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


ALL = dict(commands(main))


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def ending_in(error: BaseException | None = None, code: int | None = None) -> Result:
    """A program whose one command ends so."""

    @click.group("trial", cls=Program)
    def trial() -> None:
        pass

    @trial.command()
    def end() -> int | None:
        if error is not None:
            raise error
        return code

    return CliRunner().invoke(trial, ["end"])


def test_there_are_the_nouns_and_their_verbs() -> None:
    assert [" ".join(path) for path, command in ALL.items() if not isinstance(command, click.Group)] == [
        "serve",
        "config check",
        "config show",
        "queue list",
        "queue show",
        "queue create",
        "queue set",
        "queue pause",
        "queue resume",
        "queue purge",
        "queue delete",
        "message publish",
        "message peek",
        "message reserve",
        "message finish",
        "message release",
        "message show",
        "dead list",
        "dead redrive",
        "dead purge",
        "journal info",
        "journal verify",
        "journal dump",
        "journal repair",
        "archive status",
        "pipeline run",
        "pipeline sql",
        "pipeline report",
        "pipeline replay",
        "pipeline status",
        "export",
        "import etzel",
        "import rsmq",
        "rsmq queue list",
        "rsmq queue create",
        "rsmq queue describe",
        "rsmq queue delete",
        "rsmq message send",
        "rsmq message receive",
        "rsmq message pop",
        "rsmq message delete",
        "rsmq message visibility",
        "doctor",
    ]


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_has_help_with_an_example_of_itself(path: tuple[str, ...]) -> None:
    result = run(*path, "--help")
    assert result.exit_code == 0
    assert "Examples:\n" in result.stdout
    command = ALL[path]
    assert isinstance(command, WithExamples)
    assert command.help
    assert all(f"penstock {' '.join(path)}" in example for example in command.examples)
    assert all(example in result.stdout for example in command.examples)


def test_the_version_is_told() -> None:
    assert run("--version").stdout == f"penstock {__version__}\n"


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        (("srve",), "Did you mean 'serve'?"),
        (("queue", "shwo"), "Did you mean 'show'?"),
        (("message", "publich", "q"), "Did you mean 'publish'?"),
        (("queue", "list", "--ouput", "json"), "Did you mean '--output'?"),
    ],
)
def test_what_is_nearly_a_command_is_suggested(words: tuple[str, ...], suggestion: str) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert suggestion in result.stderr


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (Failure("it broke.", "Mend it."), 1, "Error: it broke.\nMend it.\n"),
        (BadUsage("so not."), 2, "Error: so not.\n"),
        (InUse("taken."), 3, "Error: taken.\n"),
        (Damaged("holes."), 4, "Error: holes.\n"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "x"), 1, "Error: x: No such file or directory\n"),
        (OSError("odd"), 1, "Error: odd\n"),
    ],
)
def test_an_error_is_words_and_an_exit_code(error: Exception, code: int, words: str) -> None:
    result = ending_in(error)
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", words)


@pytest.mark.parametrize(("given", "code"), [(None, 0), (0, 0), (4, 4)])
def test_a_command_gives_its_exit_code(given: int | None, code: int) -> None:
    assert ending_in(code=given).exit_code == code


def test_an_error_of_the_program_itself_is_not_hidden() -> None:
    assert isinstance(ending_in(ZeroDivisionError()).exception, ZeroDivisionError)


def test_ctrl_c_is_quiet() -> None:
    result = ending_in(KeyboardInterrupt())
    assert (result.exit_code, result.output.strip()) == (130, "")


def test_a_closed_pipe_is_quiet() -> None:
    pipe = subprocess.PIPE
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = subprocess.Popen(program("config", "show"), stdout=pipe, stderr=pipe, env=buffered)
    assert process.stdout is not None
    process.stdout.close()
    _, said = process.communicate(timeout=20)
    assert (process.returncode, said) == (141, b"")


def test_help_does_not_load_what_it_does_not_need() -> None:
    watch = (
        "import atexit, sys; from penstock.cli.main import main;"
        "heavy = {'aiohttp', 'asyncio', 'http.client', 'rich', 'uvloop'};"
        "atexit.register(lambda: print(sorted(heavy & set(sys.modules))));"
        "main(['--help'])"
    )
    said = subprocess.run([*program()[:1], "-c", watch], capture_output=True, text=True, check=True).stdout
    assert said.endswith("[]\n")
