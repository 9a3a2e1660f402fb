"""`penstock serve`: reads the configuration and hands over to the server. It decides nothing itself."""

from __future__ import annotations

from typing import Any

import click

from penstock.cli.flags import config_flags, effective
from penstock.cli.program import WithExamples


@click.command(
    cls=WithExamples,
    examples=[
        "penstock serve",
        "penstock serve --data /var/lib/penstock --listen deferred=127.0.0.1:12000",
        "penstock serve --config penstock.toml --confirm write",
    ],
)
@config_flags
def serve(**flags: Any) -> int:
    """Run the server until SIGTERM or Ctrl-C.

    A line `listening NAME HOST:PORT` tells of each listener once it accepts, then a line `ready`. SIGHUP reads the
    configuration again. A flag overrules the environment, which overrules the file, which overrules the default.
    """
    config = effective(flags)

    from penstock.server import app

    return app.serve(config)
