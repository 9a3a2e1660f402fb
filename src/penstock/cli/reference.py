"""docs/commands.md, made from the commands themselves. A test compares the page with what this gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

import click

from penstock.cli.durations import EXAMPLES
from penstock.cli.main import main
from penstock.cli.program import EXIT_CODES, WithExamples
from penstock.cli.samples import SAMPLES
from penstock.cli.serve import serve
from penstock.cli.surveying import list_queues

_HEAD: Final = f"""\
# Commands

This page is made from the commands in `src/penstock/cli`; change them there, then `make docs`.

A noun, then a verb. `penstock serve` runs the server. The commands for queues and messages reach it through a socket in
its data directory, so they need no port and obey the directory's permissions. The commands for the journal read its
files and need no server.

- `--data DIR` says which server is meant; else `PENSTOCK_DATA`, the configuration file or the default does.
- `--output table` is for people, `--output json` for programs: its fields stay as they are shown here, others may be
  added. A time is given twice, in ISO 8601 (`at`) and in microseconds (`at_us`), null if it never comes. Bytes that are
  not UTF-8 are given as base64 under another name (`body64` in the place of `body`).
- Durations are written {EXAMPLES}.
- A queue's name may be any bytes; what is not printable is written `%XX`, as `penstock queue list` shows it.
- Errors go to stderr, in words.

| exit code | what it means |
|---:|---|
"""


def commands_markdown() -> str:
    exits = "".join(f"| {code} | {about} |\n" for code, about in EXIT_CODES.items())
    return _HEAD + exits + "".join(_sections(main, click.Context(main, info_name=main.name)))


def _sections(group: click.Group, ctx: click.Context) -> Iterator[str]:
    for command in group.commands.values():
        inner = click.Context(command, info_name=command.name, parent=ctx)
        yield _section(command, inner)
        if isinstance(command, click.Group):
            yield from _sections(command, inner)


def _section(command: click.Command, ctx: click.Context) -> str:
    path = ctx.command_path
    level = "##" if ctx.parent and ctx.parent.parent is None else "###"
    parts = [f"{level} {path}", _words(command), f"```text\n{_usage(command, ctx)}\n```", *_options(command, ctx)]
    if isinstance(command, WithExamples):
        parts.append("```sh\n" + "\n".join(command.examples) + "\n```")
    sample = SAMPLES.get(path.removeprefix(f"{main.name} "))
    if sample is not None:
        parts.append("As JSON:\n\n```json\n" + json.dumps(sample, indent=2) + "\n```")
    return "\n" + "\n\n".join(parts) + "\n"


def _words(command: click.Command) -> str:
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in (command.help or "").split("\n\n"))


def _usage(command: click.Command, ctx: click.Context) -> str:
    return " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])


def _options(command: click.Command, ctx: click.Context) -> Iterator[str]:
    """What the head of the page tells is not told again, nor the server's flags where another command has them."""
    told = _records(list_queues, ctx)
    records = [row for row in _records(command, ctx) if row not in told]
    own = [row for row in records if command is serve or row not in _records(serve, ctx)]
    if own:
        yield "| option | what it is |\n|---|---|\n" + "\n".join(f"| `{flag}` | {about} |" for flag, about in own)
    if len(own) < len(records):
        yield "And every flag of [penstock serve](#penstock-serve)."


def _records(command: click.Command, ctx: click.Context) -> list[tuple[str, str]]:
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    found = [option.get_help_record(ctx) for option in options]
    return [(flag.replace("|", "\\|"), about.replace("|", "\\|")) for flag, about in filter(None, found)]
