"""`penstock import`: messages of another format or store into a running server. The table of what can be brought."""

from __future__ import annotations

from typing import Final

import click

from penstock.cli.import_etzel import import_etzel
from penstock.cli.import_rsmq import import_rsmq
from penstock.cli.program import Program

_FORMAT: Final = "--format"


class Formats(Program):
    """`import --format NAME …`, as `export` has it, is `import NAME …`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = [part for word in args for part in _split(word)]
        if _FORMAT in words[:-1]:
            at = words.index(_FORMAT)
            words = [words[at + 1], *words[:at], *words[at + 2 :]]
        return super().parse_args(ctx, words)


def _split(word: str) -> list[str]:
    return word.split("=", 1) if word.startswith(f"{_FORMAT}=") else [word]


@click.group(
    "import",
    cls=Formats,
    examples=["penstock import etzel orders.etzel", "penstock import rsmq redis://localhost:6379 --dry-run"],
)
def import_messages() -> None:
    """Bring messages from elsewhere into a running server, each once, however often it is run."""


for command in (import_etzel, import_rsmq):
    import_messages.add_command(command)
