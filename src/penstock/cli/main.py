"""The program `penstock`: a noun, then a verb. The table of its commands; what they do is in their modules."""

from __future__ import annotations

import click

from penstock import __version__
from penstock.cli.archive import archive
from penstock.cli.config import config
from penstock.cli.dead import dead
from penstock.cli.doctor import doctor
from penstock.cli.exporting import export
from penstock.cli.importing import import_messages
from penstock.cli.journal import journal
from penstock.cli.messages import message
from penstock.cli.pipeline import pipeline
from penstock.cli.program import Program
from penstock.cli.queues import queue
from penstock.cli.rsmq import rsmq
from penstock.cli.serve import serve


@click.group(
    "penstock",
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"]},
    examples=["penstock serve", "penstock message publish orders 'hello'", "penstock queue list", "penstock doctor"],
)
@click.version_option(__version__, prog_name="penstock", message="%(prog)s %(version)s")
def main() -> None:
    """A durable work queue that speaks the languages of several small queues.

    Start a server with `penstock serve`; the other commands look into it and speak to it through a socket in its data
    directory.
    """


for command in (serve, config, queue, message, dead, journal, archive, pipeline, export, import_messages, rsmq, doctor):
    main.add_command(command)

if __name__ == "__main__":
    main()
