"""What every command has in common: examples in its help, errors in words, exit codes, a quiet end.

Nothing here knows what a command does.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import IO, Any, Final

import click

from penstock.server import exits

FAILED: Final = 1
INTERRUPTED: Final = 128 + signal.SIGINT
PIPE_CLOSED: Final = 128 + signal.SIGPIPE

# Exit codes of commands other than `serve`, whose own are in the server's table.
EXIT_CODES: Final = {
    exits.CLEAN: "done",
    FAILED: "it could not be done; the error says why",
    exits.BAD_USAGE: "the command or the configuration is wrong; nothing was done",
    exits.IN_USE: "a server has the data directory, and the command needs it alone",
    exits.DAMAGED: "the journal is damaged",
    INTERRUPTED: "interrupted from the keyboard",
    PIPE_CLOSED: "whoever read the output closed it",
}


class Failure(click.ClickException):
    """What went wrong and what to do about it, in words; a command that raises it has no traceback."""

    exit_code = FAILED

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice

    def show(self, file: IO[Any] | None = None) -> None:
        super().show(file)
        if self.advice:
            click.echo(self.advice, file=file or sys.stderr)


class BadUsage(Failure):
    exit_code = exits.BAD_USAGE


class InUse(Failure):
    exit_code = exits.IN_USE


class Damaged(Failure):
    exit_code = exits.DAMAGED


class WithExamples(click.Command):
    """A command whose help ends with examples."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **rest: Any) -> None:
        super().__init__(*args, **rest)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


class Program(WithExamples, click.Group):
    """A group: its commands in the order they were added, and, as the root, the one place where errors become words."""

    command_class = WithExamples
    group_class = type

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """A closed pipe is met here, before click takes it for a failure."""
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _forget_stdout()
            return PIPE_CLOSED
        return code

    def main(self, args: Sequence[str] | None = None, *, standalone_mode: bool = True, **rest: Any) -> Any:  # type: ignore[override]
        """A command gives its exit code, or None for 0."""
        if not standalone_mode:
            return super().main(args, standalone_mode=False, **rest)
        sys.exit(self._run(args, {"prog_name": self.name} | rest))

    def _run(self, args: Sequence[str] | None, rest: dict[str, Any]) -> int:
        try:
            code = super().main(args, standalone_mode=False, **rest)
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except click.Abort:
            return INTERRUPTED
        except OSError as error:
            Failure(told(error)).show()
            return FAILED
        return code or exits.CLEAN


def told(error: OSError) -> str:
    """An error of the operating system, without its number."""
    words = error.strerror or str(error)
    return f"{os.fsdecode(error.filename)}: {words}" if isinstance(error.filename, str | bytes) else words


def _forget_stdout() -> None:
    """What is left in the buffer has no reader; the interpreter must not complain about it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
